#pragma once
// The devices of this machine, as the lab uses them. Made once in main and passed by reference.
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/events/device_info.h"
#include "compute/core/events/roofline.h"
#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/gpu_staging.h"
#include "compute/machine/memory_account.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// One device: its facts, its memory account and what computes there. The threads of a CPU device
// start on first use; a GPU is reached through the seam of compute/gpu.
class DeviceContext {
 public:
  explicit DeviceContext(DeviceInfo info);
  // `GPU` must outlive the context.
  DeviceContext(DeviceInfo info, GpuDevice& gpu);
  Device device() const { return info_.device; }
  const DeviceInfo& info() const { return info_; }
  // Of a CPU device; throws Error(Unsupported) for a GPU, which has none.
  ThreadPool& threads();
  // Null for a CPU device.
  GpuDevice* gpu() const { return gpu_; }
  // Pinned memory for copies between a GPU and ordinary memory, taken with the first of them.
  // Throws Error(Unsupported) for a CPU device.
  GpuStaging& staging();
  MemoryAccount& memory() { return memory_; }
  // Read bandwidths measured on this device, kept so that later jobs need not measure them again;
  // empty until then. For the thread of the running job.
  std::optional<MeasuredBandwidths>& bandwidths() { return bandwidths_; }

 private:
  const DeviceInfo info_;
  GpuDevice* const gpu_ = nullptr;
  MemoryAccount memory_;
  std::optional<MeasuredBandwidths> bandwidths_;
  std::unique_ptr<ThreadPool> threads_;
  std::once_flag threads_once_;
  const std::unique_ptr<GpuStaging> staging_;  // of a GPU
};

struct MachineOptions {
  // How many devices to make of the cores, 1..4096. More devices than cores share cores. Each gets
  // its own threads and an equal share of the memory limit.
  int cpu_devices = 1;
  // Processes of the lab on this host: memory and processor quota are divided evenly among them.
  int processes = 1;
  // Where GPUs come from. Called once. Empty: the machine has CPU devices alone.
  std::function<GpuOffer()> open_gpus = nullptr;
  // A GPU was asked for: `open_gpus` is called even while a GPU sleeps, and starting the driver
  // wakes it.
  bool wake_gpus = false;
  std::string root = "/";  // stands for "/" in tests, where GPUs are looked for
};

class Machine {
 public:
  // Looks at the machine with hwloc, /proc and /sys. Never throws for something it cannot read: the
  // field says why. Throws Error(Usage) for options out of range.
  explicit Machine(const MachineOptions& options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const MachineInfo& info() const;

  // Every usable device, cpus first.
  std::vector<Device> devices() const;

  // Throws Error(NotFound) naming the device, the reason and what is there instead:
  // "cuda:0 cannot be used: no NVIDIA driver (libcuda.so.1 is not installed); use cpu:0".
  DeviceContext& at(Device device);
  bool has(Device device) const;

  int num_cpus() const;
  int num_gpus() const;
  // Null where there is no usable GPU.
  GpuBackend* gpus() const { return gpus_.get(); }

  // gpu(i) when it is usable, else cpu(0).
  Device try_gpu(int i = 0) const;
  // All usable GPUs, or {cpu(0)}.
  std::vector<Device> try_all_gpus() const;

 private:
  void add_gpus(const MachineOptions& options);
  std::string why_no_cpu(int index) const;
  std::string why_no_gpu(int index) const;

  MachineInfo info_;
  std::shared_ptr<GpuBackend> gpus_;                      // outlives the contexts
  std::vector<std::unique_ptr<DeviceContext>> contexts_;  // cpus first
  int num_cpus_ = 0;
};

}  // namespace lab
