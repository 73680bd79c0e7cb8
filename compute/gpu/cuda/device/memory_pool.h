#pragma once
// A GPU's memory for this process: stream-ordered from a pool of our own, or by cudaMalloc where
// the GPU has no pools.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/gpu_backend.h"

namespace lab::cuda {

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
