#pragma once
// Messages for GPU failures: errors, a lost context, and builds without code for a GPU.
#include <mutex>
#include <string>
#include <string_view>

#include "compute/core/error.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

// Error(OutOfMemory) with the requested size, the memory that the GPU reports and this process's
// share of it.
Error gpu_out_of_memory(Device device, std::int64_t asked_bytes, const GpuMemory& memory);

// Error(OutOfMemory) for page-locked host memory.
Error pinned_out_of_memory(std::int64_t asked_bytes, const std::string& why);

// Error(Cuda): "cuda:0: fill failed: cudaErrorInvalidValue (invalid argument)".
Error gpu_failure(Device device, const std::string& operation, const std::string& why);

// Records whether a GPU is usable. Thread-safe.
class GpuHealth {
 public:
  explicit GpuHealth(Device device) : device_(device) {}
  // Throws Error(DeviceLost) with the message of the first loss.
  void require_usable() const;
  // Records a loss and returns its Error(DeviceLost). Only the first loss is recorded.
  Error lose(const std::string& operation, const std::string& why);
  // The message of the first loss; empty while the GPU works.
  std::string lost() const;

 private:
  const Device device_;
  mutable std::mutex mutex_;
  std::string lost_;
};

// Whether a build for `architectures` contains code that a GPU of compute capability
// `major`.`minor` can run. `architectures` is a comma-separated list of CMAKE_CUDA_ARCHITECTURES
// entries: "80-real" is machine code, "90-virtual" is PTX, "80" is both. The suffix a or f
// restricts an entry to that GPU or that family. An entry of any other form, such as "native", is
// assumed to match.
// Source   CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility"
bool has_gpu_code(std::string_view architectures, int major, int minor);

// The lowest major compute capability that the kernels support: they use cp.async and bf16.
inline constexpr int kOldestGpuCode = 8;

// "this build has no code for compute capability 8.6; build it with -DLAB_CUDA_ARCHITECTURES=86",
// or, for a GPU that is too old, that no build supports it.
std::string no_gpu_code(int major, int minor);

}  // namespace lab
