#pragma once
// The sentences of what goes wrong on a GPU, and the memory of a lost one.
#include <mutex>
#include <string>

#include "compute/core/error.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

// Error(OutOfMemory): what was asked for, what the GPU reports, what this process holds.
Error gpu_out_of_memory(Device device, std::int64_t asked_bytes, const GpuMemory& memory);

// Error(OutOfMemory) for page-locked host memory.
Error pinned_out_of_memory(std::int64_t asked_bytes, const std::string& why);

// Error(Cuda): "cuda:0: fill failed: cudaErrorInvalidValue (invalid argument)".
Error gpu_failure(Device device, const std::string& operation, const std::string& why);

// Whether a GPU still works. Safe from any thread.
class GpuHealth {
 public:
  explicit GpuHealth(Device device) : device_(device) {}
  // Throws Error(DeviceLost) with the sentence of the first loss.
  void require_usable() const;
  // The first loss stays; returns its Error(DeviceLost).
  Error lose(const std::string& operation, const std::string& why);
  // Empty while it works.
  std::string lost() const;

 private:
  const Device device_;
  mutable std::mutex mutex_;
  std::string lost_;
};

}  // namespace lab
