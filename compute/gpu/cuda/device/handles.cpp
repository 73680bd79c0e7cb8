#include "compute/gpu/cuda/device/handles.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>

#include "compute/core/units.h"

namespace lab::cuda {
namespace {

// The pool's release threshold. Unused memory up to this size is kept across synchronisations for
// the next step of a job; it is also the most that other programs lose to it. Less on a small GPU.
std::uint64_t kept_bytes(std::size_t total_bytes) {
  return std::min<std::uint64_t>(2 * static_cast<std::uint64_t>(kGiB), total_bytes / 8);
}

}  // namespace

CudaStream::CudaStream(const CudaContext& gpu) : gpu_(gpu) {
  gpu_.use();
  gpu_.check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() {
  if (!gpu_.use_quietly()) return;
  gpu_.note(cudaStreamDestroy(stream_), "cudaStreamDestroy");
}

void CudaStream::synchronise() {
  gpu_.use();
  gpu_.check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void CudaStream::wait(const GpuEvent& event) {
  gpu_.use();
  gpu_.check(cudaStreamWaitEvent(stream_, raw(event), 0), "cudaStreamWaitEvent");
}

CudaEvent::CudaEvent(const CudaContext& gpu) : gpu_(gpu) {
  gpu_.use();
  gpu_.check(cudaEventCreate(&event_), "cudaEventCreate");
}

CudaEvent::~CudaEvent() {
  if (!gpu_.use_quietly()) return;
  gpu_.note(cudaEventDestroy(event_), "cudaEventDestroy");
}

void CudaEvent::record(GpuStream& stream) {
  gpu_.use();
  gpu_.check(cudaEventRecord(event_, raw(stream)), "cudaEventRecord");
}

bool CudaEvent::done() const {
  gpu_.use();
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  gpu_.check(status, "cudaEventQuery");
  return true;
}

void CudaEvent::synchronise() const {
  gpu_.use();
  gpu_.check(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

double CudaEvent::seconds_since(const GpuEvent& earlier) const {
  gpu_.use();
  float milliseconds = 0;
  gpu_.check(cudaEventElapsedTime(&milliseconds, raw(earlier), event_), "cudaEventElapsedTime");
  return double{milliseconds} * 1e-3;
}

CudaGraph::CudaGraph(const CudaContext& gpu, cudaGraph_t graph) : gpu_(gpu) {
  const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
  gpu_.note(cudaGraphDestroy(graph), "cudaGraphDestroy");
  gpu_.check(status, "cudaGraphInstantiate");
}

CudaGraph::~CudaGraph() {
  if (!gpu_.use_quietly()) return;
  gpu_.note(cudaGraphExecDestroy(graph_), "cudaGraphExecDestroy");
}

void CudaGraph::launch(GpuStream& stream) {
  gpu_.use();
  gpu_.check(cudaGraphLaunch(graph_, raw(stream)), "cudaGraphLaunch");
}

CudaPinned::CudaPinned(const CudaContext& gpu, std::int64_t bytes) : gpu_(gpu), bytes_(bytes) {
  gpu_.use();
  void* memory = nullptr;
  const cudaError_t status =
      cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw pinned_out_of_memory(bytes, describe(status));
  }
  gpu_.check(status, "cudaHostAlloc");
  data_ = static_cast<std::byte*>(memory);
  gpu_.count_pinned(bytes_);
}

CudaPinned::~CudaPinned() {
  gpu_.use_quietly();  // the memory of a lost GPU may be freed nevertheless
  const cudaError_t status = cudaFreeHost(data_);
  gpu_.note(status, "cudaFreeHost");
  if (status == cudaSuccess) gpu_.count_pinned(-bytes_);
}

MemoryPool::MemoryPool(const CudaContext& gpu, bool has_pools) : gpu_(gpu) {
  if (!has_pools) return;
  gpu_.use();
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.location.id = gpu_.ordinal();
  gpu_.check(cudaMemPoolCreate(&pool_, &wanted), "cudaMemPoolCreate");
  std::size_t free_bytes = 0, total_bytes = 0;
  gpu_.check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  std::uint64_t kept = kept_bytes(total_bytes);
  gpu_.check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept),
             "cudaMemPoolSetAttribute");
}

MemoryPool::~MemoryPool() {
  if (pool_ == nullptr || !gpu_.use_quietly()) return;
  gpu_.note(cudaMemPoolDestroy(pool_), "cudaMemPoolDestroy");
}

cudaError_t MemoryPool::try_allocate(void** memory, std::int64_t bytes, cudaStream_t stream) const {
  const auto size = static_cast<std::size_t>(bytes);
  return pool_ != nullptr ? cudaMallocFromPoolAsync(memory, size, pool_, stream)
                          : cudaMalloc(memory, size);
}

std::byte* MemoryPool::allocate(std::int64_t bytes, cudaStream_t stream) {
  gpu_.use();
  void* memory = nullptr;
  cudaError_t status = try_allocate(&memory, bytes, stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    // Memory released on the stream becomes free once the stream has passed the release.
    gpu_.check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    trim();
    status = try_allocate(&memory, bytes, stream);
  }
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw gpu_out_of_memory(gpu_.device(), bytes, read());
  }
  gpu_.check(status, pool_ != nullptr ? "cudaMallocFromPoolAsync" : "cudaMalloc");
  return static_cast<std::byte*>(memory);
}

void MemoryPool::release(std::byte* memory, cudaStream_t stream) noexcept {
  if (pool_ != nullptr) {
    gpu_.note(cudaFreeAsync(memory, stream), "cudaFreeAsync");
  } else {
    gpu_.note(cudaFree(memory), "cudaFree");  // waits for the GPU and therefore for the stream
  }
}

void MemoryPool::trim() {
  if (pool_ == nullptr) return;
  gpu_.use();
  gpu_.check(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");
}

std::int64_t MemoryPool::attribute(cudaMemPoolAttr name) const {
  std::uint64_t value = 0;
  gpu_.check(cudaMemPoolGetAttribute(pool_, name, &value), "cudaMemPoolGetAttribute");
  return static_cast<std::int64_t>(value);
}

GpuMemory MemoryPool::read() const {
  gpu_.use();
  std::size_t free = 0, total = 0;
  gpu_.check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  GpuMemory memory;
  memory.free_bytes = static_cast<std::int64_t>(free);
  memory.total_bytes = static_cast<std::int64_t>(total);
  if (pool_ != nullptr) {
    memory.pool_reserved_bytes = attribute(cudaMemPoolAttrReservedMemCurrent);
    memory.pool_used_bytes = attribute(cudaMemPoolAttrUsedMemCurrent);
  }
  return memory;
}

std::int64_t MemoryPool::reserved_bytes() const noexcept {
  if (pool_ == nullptr) return 0;
  try {
    gpu_.use();
    reserved_bytes_ = attribute(cudaMemPoolAttrReservedMemCurrent);
  } catch (const std::exception&) {
    // For a lost GPU the last value is kept.
  }
  return reserved_bytes_;
}

void MemoryPool::set_access(int ordinal, bool on) {
  if (pool_ == nullptr) return;
  gpu_.use();
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = ordinal;
  access.flags = on ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  gpu_.check(cudaMemPoolSetAccess(pool_, &access, 1), "cudaMemPoolSetAccess");
}

}  // namespace lab::cuda
