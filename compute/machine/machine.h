#pragma once
// The devices of this machine as used by the lab. Created once in main() and passed by reference.
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
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

// A device: its facts, its memory account and its compute resources. The threads of a CPU device
// start on first use; a GPU is accessed through the interface in compute/gpu.
class DeviceContext {
 public:
  explicit DeviceContext(DeviceInfo info);
  // `gpu` must outlive the context.
  DeviceContext(DeviceInfo info, GpuDevice& gpu);
  Device device() const { return info_.device; }
  const DeviceInfo& info() const { return info_; }
  // Threads of a CPU device. Throws Error(Unsupported) for a GPU.
  ThreadPool& threads();
  // Null for a CPU device.
  GpuDevice* gpu() const { return gpu_; }
  // Pinned memory for copies between a GPU and pageable memory, allocated by the first copy. Throws
  // Error(Unsupported) for a CPU device.
  GpuStaging& staging();
  MemoryAccount& memory() { return memory_; }
  // What a buffer on this device can have now: by the account and, for a GPU, by its driver.
  std::int64_t free_bytes();
  // Read bandwidths measured on this device, cached for later jobs; empty until measured. For the
  // thread of the running job only.
  std::optional<MeasuredBandwidths>& bandwidths() { return bandwidths_; }

 private:
  const DeviceInfo info_;
  GpuDevice* const gpu_ = nullptr;
  MemoryAccount memory_;
  std::optional<MeasuredBandwidths> bandwidths_;
  std::unique_ptr<ThreadPool> threads_;
  std::once_flag threads_once_;
  const std::unique_ptr<GpuStaging> staging_;  // GPUs only
};

struct MachineOptions {
  // Number of CPU devices to create from the cores, 1..4096. More devices than cores share cores.
  // Each device gets its own threads and an equal share of the memory limit.
  int cpu_devices = 1;
  // Number of GPUs to emulate, 0..kMaxEmulatedGpus: emu:0, emu:1, ...
  int emulated_gpus = 0;
  // All checks of the emulator, for tests; without them kernels run faster.
  bool check_emulation = true;
  // As EmulatedGpuOptions::peer_access, layers and library, for tests.
  bool emulated_peer_access = true;
  std::function<std::unique_ptr<GpuLayers>(GpuDevice& gpu)> emulated_layers = nullptr;
  std::function<std::unique_ptr<GpuLayers>(GpuDevice& gpu, GpuLayers& own)> emulated_library =
      nullptr;
  // Number of lab processes on this host, among which memory and CPU quota are divided evenly.
  int processes = 1;
  // Opens the GPUs; called at most once. Empty: CPU devices only.
  std::function<GpuBackendResult()> open_gpus = nullptr;
  // The user requested a GPU: `open_gpus` is called even if a GPU sleeps, and starting the driver
  // wakes it.
  bool wake_gpus = false;
  std::string root = "/";  // replaces "/" in tests, for finding GPUs
};

class Machine {
 public:
  // Inspects the machine with hwloc, /proc and /sys. Does not throw for unreadable values: the
  // field holds the reason. Throws Error(Usage) for options out of range.
  explicit Machine(const MachineOptions& options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const MachineInfo& info() const;

  // Returns all usable devices: CPUs, then CUDA GPUs, then emulated GPUs.
  std::vector<Device> devices() const;

  // Throws Error(NotFound) naming the device, the reason and the alternative: "cuda:0 cannot be
  // used: no NVIDIA driver (libcuda.so.1 is not installed); use cpu:0".
  DeviceContext& at(Device device);
  bool has(Device device) const;

  int num_cpus() const;
  // Usable CUDA GPUs; without any, the emulated GPUs.
  int num_gpus() const;
  // Null if there is no usable CUDA GPU.
  GpuBackend* gpus() const { return gpus_.get(); }

  // Returns GPU i of num_gpus(), otherwise cpu(0).
  Device try_gpu(int i = 0) const;
  // Returns all num_gpus() GPUs, or {cpu(0)} if there are none.
  std::vector<Device> try_all_gpus() const;

 private:
  void add_gpus(const MachineOptions& options);
  void add_emulated_gpus(const MachineOptions& options);
  int count_of(DeviceKind kind) const;
  std::string why_no_cpu(int index) const;
  std::string why_no_gpu(int index) const;
  std::string why_no_emulated_gpu(int index) const;
  std::string why_not(Device device) const;

  MachineInfo info_;
  std::shared_ptr<GpuBackend> gpus_, emulated_gpus_;      // outlive the contexts
  std::vector<std::unique_ptr<DeviceContext>> contexts_;  // in the order of devices()
  int num_cpus_ = 0, num_cuda_gpus_ = 0, num_emulated_gpus_ = 0;
};

// Reason why a GPU that is present cannot be used at present: another process uses it exclusively,
// or its memory does not suffice for a context. Empty for CPU devices. Starts the GPU's context.
std::optional<std::string> why_unusable(DeviceContext& device);

// Number of these devices that share the busiest core; 1 if each has cores of its own.
int core_load(Machine& machine, std::span<const Device> devices);

// Returns "cpu:0 has 8 cores: 8 performance (up to 5.2 GHz); cpu:1 has 16 cores: ..." for the first
// device and the first CPU device whose cores are of other kinds; empty if there is none, so that
// one device is a measure for the others.
std::string unequal_cores(Machine& machine, std::span<const Device> devices);

}  // namespace lab
