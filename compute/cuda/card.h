#pragma once
// One card as the runtime knows it, and the check that every call goes through.
#include <cuda_runtime_api.h>

#include <string>

#include "compute/gpu/gpu_failures.h"

namespace lab::cuda {

// "cudaErrorInvalidValue (invalid argument)".
std::string describe(cudaError_t status);

// Errors after which every later call on the context fails too.
bool ends_context(cudaError_t status);

class Card {
 public:
  Card(int ordinal, int compute_major, int compute_minor);

  Device device() const { return device_; }
  const GpuHealth& health() const { return health_; }

  // Makes this card the calling thread's, throws Error(DeviceLost) for a lost one.
  void use() const;

  // Throws for anything but success, naming `call`: Error(DeviceLost) for errors that end the
  // context, Error(OutOfMemory), Error(Unsupported) where the build has no code for the card, else
  // Error(Cuda).
  void check(cudaError_t status, const char* call) const;

  // For destructors: notes a loss and throws nothing.
  void note(cudaError_t status, const char* call) const noexcept;

 private:
  const Device device_;
  const int compute_major_, compute_minor_;
  mutable GpuHealth health_;
};

}  // namespace lab::cuda
