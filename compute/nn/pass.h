#pragma once
// One forward or backward pass: what every operation needs beside its own values.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "compute/device/thread_pool.h"
#include "compute/matmul/gemm.h"

namespace lab::nn {

// Work memory of the operation that runs; its content is lost with the next operation.
struct Scratch {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

// Splits scratch memory into 64-byte aligned arrays. The same sequence of takes on a null Scratch
// measures what an operation needs.
class ScratchCursor {
 public:
  explicit ScratchCursor(Scratch scratch) : data_(scratch.data) {}
  template <typename T>
  T* take(std::int64_t n) {
    std::byte* at = data_ == nullptr ? nullptr : data_ + used_;
    used_ += (n * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T*>(at);
  }
  std::int64_t used_bytes() const { return used_; }

 private:
  std::byte* data_;
  std::int64_t used_ = 0;
};

struct Pass {
  ThreadPool& pool;
  std::int64_t batch = 0;  // images in this pass, at most the network's largest batch
  bool training = true;    // batch statistics, or the running ones
  GemmLibrary library = GemmLibrary::Lab;
  Scratch scratch;
  std::stop_token stop;  // long operations look at it and return early
};

// Part `index` of `parts` of [0, n): contiguous, depends on its arguments alone.
struct Slice {
  std::int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};
inline Slice slice_of(std::int64_t n, std::int64_t parts, std::int64_t index) {
  const std::int64_t each = (n + parts - 1) / parts;
  return {std::min(n, each * index), std::min(n, each * (index + 1))};
}

}  // namespace lab::nn
