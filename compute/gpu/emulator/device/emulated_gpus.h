#pragma once
// GPUs that the CPU emulates behind the interface of real ones (gpu_backend.h). Their kernels are
// those of the CUDA backend, run by the emulator in compute/gpu/emulator.
//
// Order    A stream runs its work when the host waits for it, when another stream that the host
//          waits for needs it, or when kMaxQueued operations are queued: work that the host does
//          not wait for has not happened. Pageable host memory is accessed when the work runs.
// Errors   A copy outside allocated memory is rejected with Error(Cuda). An error of a kernel, or
//          the use of memory that was released in the meantime, ends the GPU's context
//          (Error(DeviceLost)); other devices continue.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/gpu/gpu_backend.h"

namespace lab {

struct EmulatedGpuOptions {
  int gpus = 1;                                       // at most kMaxEmulatedGpus
  std::int64_t memory_bytes = std::int64_t{2} << 30;  // each, from main memory as it is used
  // Also detects races and unwritten reads in shared memory, and fills new memory with NaN. Kernels
  // with shared memory then take several times as long.
  bool checked = false;
  // Whether the GPUs can access each other's memory. Without it, kernels cannot, and copies between
  // the GPUs go through the host.
  bool peer_access = true;
  // Makes a GPU's layers, for tests; by default the portable kernels.
  std::function<std::unique_ptr<GpuLayers>(GpuDevice& gpu)> layers = nullptr;
  // Makes a GPU's layers by libraries, for tests; by default there are none. The device and its
  // layers outlive them.
  std::function<std::unique_ptr<GpuLayers>(GpuDevice& gpu, GpuLayers& own)> library = nullptr;
};

class EmulatedGpus final : public GpuBackend {
 public:
  explicit EmulatedGpus(const EmulatedGpuOptions& options);
  ~EmulatedGpus() override;
  std::vector<GpuDevice*> devices() override;
  std::string driver_version() const override { return "none"; }
  std::string runtime_version() const override { return "none"; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab
