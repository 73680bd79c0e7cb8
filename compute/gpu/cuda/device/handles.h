#pragma once
// CUDA's streams, events and page-locked memory behind the seam's classes.
#include <cuda_runtime_api.h>

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

}  // namespace lab::cuda
