#pragma once
// A GPU of the CUDA runtime, with the error check applied to every runtime call.
#include <cuda_runtime_api.h>

#include <atomic>
#include <string>

#include "compute/gpu/gpu_failures.h"

namespace lab::cuda {

// "cudaErrorInvalidValue (invalid argument)".
std::string describe(cudaError_t status);

// Whether every later call on the context fails after this error.
bool ends_context(cudaError_t status);

class CudaContext {
 public:
  // `ordinal`: the CUDA device ordinal, which also counts the GPUs that the lab refuses.
  CudaContext(const GpuProperties& facts, int ordinal);

  Device device() const { return device_; }
  int ordinal() const { return ordinal_; }
  int compute_capability() const { return compute_major_ * 10 + compute_minor_; }  // such as 90
  const GpuHealth& health() const { return health_; }

  // Makes this GPU the calling thread's current device. Throws Error(DeviceLost) if the GPU is
  // lost.
  void use() const;
  // As use(), for destructors: returns false if the GPU is no longer usable.
  bool use_quietly() const noexcept;

  // Throws for any status except success, naming `call`: Error(DeviceLost) for errors that end the
  // context, Error(OutOfMemory), Error(Unsupported) if the build has no code for the GPU, otherwise
  // Error(Cuda).
  void check(cudaError_t status, const char* call) const;

  // Reports that a library's `call` failed with `why`: throws Error(DeviceLost) if the context has
  // ended, otherwise Error(Cuda).
  [[noreturn]] void fail(const std::string& call, const std::string& why) const;

  // For destructors: records a loss and throws nothing.
  void note(cudaError_t status, const char* call) const noexcept;

  // Sets a function that describes what ended the context beyond the runtime's status, or returns
  // nothing. Call before the first use.
  void explain_loss(std::string (*describe_more)()) { describe_more_ = describe_more; }

  // Page-locked host memory allocated through this GPU, in bytes. Callable from any thread.
  std::int64_t pinned_bytes() const noexcept { return pinned_bytes_; }
  void count_pinned(std::int64_t more_bytes) const noexcept { pinned_bytes_ += more_bytes; }

 private:
  std::string reason_of_loss(cudaError_t status) const;

  const Device device_;
  const int ordinal_;
  const int compute_major_, compute_minor_;
  std::string (*describe_more_)() = nullptr;
  mutable GpuHealth health_;
  mutable std::atomic<std::int64_t> pinned_bytes_ = 0;
};

}  // namespace lab::cuda
