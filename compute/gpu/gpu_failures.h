#pragma once
// What keeps a GPU from working, in sentences: errors, a loss, a build without code for it.
#include <mutex>
#include <string>
#include <string_view>

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

// Whether a GPU of compute capability `major`.`minor` runs something of a build for
// `architectures`, separated by commas and each as CMAKE_CUDA_ARCHITECTURES has it: "80-real" is
// machine code, "90-virtual" PTX, "80" both; a or f after the number keeps it to that GPU or that
// family. A word of another kind ("native") may stand for any GPU.
// Source   CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility"
bool has_gpu_code(std::string_view architectures, int major, int minor);

// The major compute capability that the kernels' instructions begin with: cp.async and bf16.
inline constexpr int kOldestGpuCode = 8;

// "this build has no code for compute capability 8.6; build it with -DLAB_CUDA_ARCHITECTURES=86",
// or that no build has any for so old a GPU.
std::string no_gpu_code(int major, int minor);

}  // namespace lab
