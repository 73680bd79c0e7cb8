#pragma once
// One GPU as the runtime knows it, and the check that every call goes through.
#include <cuda_runtime_api.h>

#include <atomic>
#include <string>

#include "compute/gpu/gpu_failures.h"

namespace lab::cuda {

// "cudaErrorInvalidValue (invalid argument)".
std::string describe(cudaError_t status);

// Errors after which every later call on the context fails too.
bool ends_context(cudaError_t status);

class CudaContext {
 public:
  // `ordinal`: CUDA's own number, which counts the GPUs that the lab refuses too.
  CudaContext(const GpuProperties& facts, int ordinal);

  Device device() const { return device_; }
  int ordinal() const { return ordinal_; }
  const GpuHealth& health() const { return health_; }

  // Makes this GPU the calling thread's, throws Error(DeviceLost) for a lost one.
  void use() const;

  // Throws for anything but success, naming `call`: Error(DeviceLost) for errors that end the
  // context, Error(OutOfMemory), Error(Unsupported) where the build has no code for the GPU, else
  // Error(Cuda).
  void check(cudaError_t status, const char* call) const;

  // For destructors: notes a loss and throws nothing.
  void note(cudaError_t status, const char* call) const noexcept;

  // Page-locked main memory that the GPU has handed out, in bytes. From any thread.
  std::int64_t pinned_bytes() const noexcept { return pinned_bytes_; }
  void count_pinned(std::int64_t more_bytes) const noexcept { pinned_bytes_ += more_bytes; }

 private:
  const Device device_;
  const int ordinal_;
  const int compute_major_, compute_minor_;
  mutable GpuHealth health_;
  mutable std::atomic<std::int64_t> pinned_bytes_ = 0;
};

}  // namespace lab::cuda
