#pragma once
// CUDA's streams, events, page-locked memory and memory pools behind the seam's classes.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/gpu_backend.h"

namespace lab::cuda {

class CudaStream final : public GpuStream {
 public:
  // Does not wait for the default stream. `GPU` must outlive it.
  explicit CudaStream(const CudaContext& gpu);
  ~CudaStream() override;
  void synchronise() override;
  void wait(const GpuEvent& event) override;
  cudaStream_t get() const { return stream_; }

 private:
  const CudaContext& gpu_;
  cudaStream_t stream_ = nullptr;
};

class CudaEvent final : public GpuEvent {
 public:
  explicit CudaEvent(const CudaContext& gpu);
  ~CudaEvent() override;
  void record(GpuStream& stream) override;
  bool done() const override;
  void synchronise() const override;
  double seconds_since(const GpuEvent& earlier) const override;
  cudaEvent_t get() const { return event_; }

 private:
  const CudaContext& gpu_;
  cudaEvent_t event_ = nullptr;
};

class CudaPinned final : public PinnedMemory {
 public:
  CudaPinned(const CudaContext& gpu, std::int64_t bytes);
  ~CudaPinned() override;
  std::byte* data() override { return data_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  const CudaContext& gpu_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// Streams and events of this back end are all made by it.
inline cudaStream_t raw(GpuStream& stream) {
  return static_cast<CudaStream&>(stream).get();
}
inline cudaEvent_t raw(const GpuEvent& event) {
  return static_cast<const CudaEvent&>(event).get();
}

// A GPU's memory for this process: stream-ordered from a pool of our own, or by cudaMalloc where
// the GPU has no pools.
class MemoryPool {
 public:
  // `GPU` must outlive it.
  MemoryPool(const CudaContext& gpu, bool has_pools);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Gives back what the pool keeps unused and tries again before it throws Error(OutOfMemory).
  std::byte* allocate(std::int64_t bytes, cudaStream_t stream);
  void release(std::byte* memory, cudaStream_t stream) noexcept;
  void trim();
  GpuMemory read() const;
  // What the pool holds of the GPU, as GpuDevice::holdings() has it.
  std::int64_t reserved_bytes() const noexcept;
  // Whether the GPU of that number may read and write what comes from the pool.
  void set_access(int ordinal, bool on);

 private:
  cudaError_t try_allocate(void** memory, std::int64_t bytes, cudaStream_t stream) const;
  std::int64_t attribute(cudaMemPoolAttr name) const;

  const CudaContext& gpu_;
  cudaMemPool_t pool_ = nullptr;
  mutable std::atomic<std::int64_t> reserved_bytes_ = 0;
};

}  // namespace lab::cuda
