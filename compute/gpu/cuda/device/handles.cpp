#include "compute/gpu/cuda/device/handles.h"

namespace lab::cuda {

CudaStream::CudaStream(const CudaContext& gpu) : gpu_(gpu) {
  gpu_.use();
  gpu_.check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() {
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
  const cudaError_t status = cudaFreeHost(data_);
  gpu_.note(status, "cudaFreeHost");
  if (status == cudaSuccess) gpu_.count_pinned(-bytes_);
}

}  // namespace lab::cuda
