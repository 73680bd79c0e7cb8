#pragma once
// Messages for GPU failures: errors, a lost context, drivers that are too old, and GPUs that cannot
// be read or for which the build has no code.
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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

// Error(Unsupported): `from` cannot access the memory of `to`.
Error no_peer_access(Device from, Device to);

// Why the driver gives no context: the GPU's compute mode excludes this process.
std::string gpu_unavailable(Device device, const std::string& why);

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
// Why the driver cannot run code that has_gpu_code() found as PTX only.
std::string unusable_ptx(int major, int minor);

// The GPUs of a driver: those that the backend can use, and the others with the reason.
struct GpuSelection {
  struct Usable {
    GpuProperties facts;  // `device` is not set
    int ordinal = 0;      // the driver's number
  };
  std::vector<Usable> usable;
  std::vector<RejectedGpu> refused;
};

// Reads `count` GPUs. `read` fills the properties of an ordinal, or throws Error after those that
// it could read: such a GPU is refused, and the others remain usable. `architectures` as above.
GpuSelection select_gpus(int count, std::string_view architectures,
                         const std::function<void(int ordinal, GpuProperties& facts)>& read);

// Reason why the driver cannot run this build. CUDA versions are numbers such as 12020 for 12.2.
// `release` is the driver's own version, "535.104.05"; empty if unknown.
std::string driver_too_old(int driver_cuda, int build_cuda, const std::string& release);

// "13.0" for 13000.
std::string cuda_version_text(int version);

}  // namespace lab
