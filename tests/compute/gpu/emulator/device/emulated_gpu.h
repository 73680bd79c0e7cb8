#pragma once
// A backend of emulated GPUs with helpers that move values of float.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/gpu/emulator/device/emulated_gpus.h"
#include "tests/support/errors.h"

namespace lab::test {

inline constexpr std::int64_t kEmulatedMemory_bytes = std::int64_t{1} << 20;

struct EmulatedPair {
  explicit EmulatedPair(bool peer_access = true)
      : backend({.gpus = 2,
                 .memory_bytes = kEmulatedMemory_bytes,
                 .checked = true,
                 .peer_access = peer_access}) {}
  EmulatedGpus backend;
  GpuDevice& gpu = *backend.devices()[0];
  GpuDevice& peer = *backend.devices()[1];
  GpuStream& main = gpu.main_stream();
};

// Floats in the memory of a GPU, released on the stream on which they were allocated.
class GpuFloats {
 public:
  GpuFloats(GpuDevice& gpu, std::int64_t count) : GpuFloats(gpu, count, gpu.main_stream()) {}
  GpuFloats(GpuDevice& gpu, std::int64_t count, GpuStream& stream)
      : gpu_(gpu), stream_(stream), count_(count), memory_(gpu.allocate(count * 4, stream)) {}
  ~GpuFloats() { release(); }
  GpuFloats(const GpuFloats&) = delete;
  GpuFloats& operator=(const GpuFloats&) = delete;

  void release() {
    if (memory_ != nullptr) gpu_.release(memory_, stream_);
    memory_ = nullptr;
  }
  std::byte* bytes() const { return memory_; }
  float* data() const { return reinterpret_cast<float*>(memory_); }
  // Queued; `values` must stay until the stream has run.
  void write(std::span<const float> values, GpuStream& stream) {
    gpu_.copy(GpuCopy::HostToDevice, memory_, values.data(),
              static_cast<std::int64_t>(values.size_bytes()), stream);
  }
  void read(std::span<float> values, GpuStream& stream) const {
    gpu_.copy(GpuCopy::DeviceToHost, values.data(), memory_,
              static_cast<std::int64_t>(values.size_bytes()), stream);
  }
  std::vector<float> values(GpuStream& stream) const {
    std::vector<float> all(static_cast<std::size_t>(count_));
    read(all, stream);
    stream.synchronise();
    return all;
  }
  GpuSum plus(const GpuFloats& other) const {
    return {DType::F32, bytes(), other.bytes(), bytes(), count_};
  }

 private:
  GpuDevice& gpu_;
  GpuStream& stream_;
  const std::int64_t count_;
  std::byte* memory_;
};

}  // namespace lab::test
