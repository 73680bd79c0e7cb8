#pragma once
// CUDA streams, events, graphs, page-locked memory and memory pools as implementations of the
// interface in gpu_backend.h.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/gpu_backend.h"

namespace lab::cuda {

class CudaStream final : public GpuStream {
 public:
  // The stream does not synchronise with the default stream. `gpu` must outlive it.
  explicit CudaStream(const CudaContext& gpu);
  ~CudaStream() override;
  void synchronise() override;
  void wait(const GpuEvent& event) override;
  void* native() override { return stream_; }
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

class CudaGraph final : public GpuGraph {
 public:
  // Takes ownership of `graph`. `gpu` must outlive the object.
  CudaGraph(const CudaContext& gpu, cudaGraph_t graph);
  ~CudaGraph() override;
  void launch(GpuStream& stream) override;

 private:
  const CudaContext& gpu_;
  cudaGraphExec_t graph_ = nullptr;
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

// Valid because the CUDA backend creates all of its streams and events.
inline cudaStream_t raw(GpuStream& stream) {
  return static_cast<CudaStream&>(stream).get();
}
inline cudaEvent_t raw(const GpuEvent& event) {
  return static_cast<const CudaEvent&>(event).get();
}

// Allocates GPU memory: stream-ordered from a pool of its own, or by cudaMalloc if the GPU has no
// memory pools.
class MemoryPool {
 public:
  // `gpu` must outlive it.
  MemoryPool(const CudaContext& gpu, bool has_pools);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // On failure, returns the pool's unused memory to the GPU and retries once before throwing
  // Error(OutOfMemory).
  std::byte* allocate(std::int64_t bytes, cudaStream_t stream);
  void release(std::byte* memory, cudaStream_t stream) noexcept;
  void trim();
  GpuMemory read() const;
  // Bytes reserved by the pool, with the guarantees of GpuDevice::holdings().
  std::int64_t reserved_bytes() const noexcept;
  // Sets whether the GPU with this CUDA ordinal can read and write memory from the pool.
  void set_access(int ordinal, bool on);

 private:
  cudaError_t try_allocate(void** memory, std::int64_t bytes, cudaStream_t stream) const;
  std::int64_t attribute(cudaMemPoolAttr name) const;

  const CudaContext& gpu_;
  cudaMemPool_t pool_ = nullptr;
  mutable std::atomic<std::int64_t> reserved_bytes_ = 0;
};

}  // namespace lab::cuda
