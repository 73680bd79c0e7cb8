#pragma once
// Workspace owned by the caller, divided into arrays.
#include <cstddef>
#include <cstdint>

namespace lab {

// Workspace of the running operation; its contents are lost with the next operation.
struct Scratch {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

// Divides scratch memory into 64-byte aligned arrays. The same sequence of take() calls on a null
// Scratch computes the bytes that an operation needs.
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

}  // namespace lab
