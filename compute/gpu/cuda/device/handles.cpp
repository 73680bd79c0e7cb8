#include "compute/gpu/cuda/device/handles.h"

namespace lab::cuda {

CudaStream::CudaStream(const Card& card) : card_(card) {
  card_.use();
  card_.check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
              "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() {
  card_.note(cudaStreamDestroy(stream_), "cudaStreamDestroy");
}

void CudaStream::synchronise() {
  card_.use();
  card_.check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void CudaStream::wait(const GpuEvent& event) {
  card_.use();
  card_.check(cudaStreamWaitEvent(stream_, raw(event), 0), "cudaStreamWaitEvent");
}

CudaEvent::CudaEvent(const Card& card) : card_(card) {
  card_.use();
  card_.check(cudaEventCreate(&event_), "cudaEventCreate");
}

CudaEvent::~CudaEvent() {
  card_.note(cudaEventDestroy(event_), "cudaEventDestroy");
}

void CudaEvent::record(GpuStream& stream) {
  card_.use();
  card_.check(cudaEventRecord(event_, raw(stream)), "cudaEventRecord");
}

bool CudaEvent::done() const {
  card_.use();
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  card_.check(status, "cudaEventQuery");
  return true;
}

void CudaEvent::synchronise() const {
  card_.use();
  card_.check(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

double CudaEvent::seconds_since(const GpuEvent& earlier) const {
  card_.use();
  float milliseconds = 0;
  card_.check(cudaEventElapsedTime(&milliseconds, raw(earlier), event_), "cudaEventElapsedTime");
  return double{milliseconds} * 1e-3;
}

CudaPinned::CudaPinned(const Card& card, std::int64_t bytes) : card_(card), bytes_(bytes) {
  card_.use();
  void* memory = nullptr;
  const cudaError_t status =
      cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw pinned_out_of_memory(bytes, describe(status));
  }
  card_.check(status, "cudaHostAlloc");
  data_ = static_cast<std::byte*>(memory);
  card_.count_pinned(bytes_);
}

CudaPinned::~CudaPinned() {
  const cudaError_t status = cudaFreeHost(data_);
  card_.note(status, "cudaFreeHost");
  if (status == cudaSuccess) card_.count_pinned(-bytes_);
}

}  // namespace lab::cuda
