#pragma once
// NVIDIA GPUs as files of the kernel and CUDA describe them, and why one cannot be used. Looking at
// files does not wake a GPU that is asleep.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/gpu_info.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

struct NvidiaGpu {
  std::string pci_bus_id;  // "0000:01:00.0"
  std::string name;        // "NVIDIA H200", or its PCI number where no driver is loaded
};

// In the order of their addresses. `root` stands for "/" in tests, here and below.
std::vector<NvidiaGpu> find_nvidia_gpus(const std::string& root);

// Whether the kernel has switched the GPU off to save power (runtime power management).
bool is_asleep(const std::string& root, const std::string& pci_bus_id);

// Whether one of the GPUs is asleep. The CUDA driver looks at all of them when it starts.
bool a_gpu_sleeps(const std::string& root);

// The node of memory and cores nearest to the GPU, and the numbers of those cores, "0-15".
Maybe<int> read_numa_node(const std::string& root, const std::string& pci_bus_id);
Maybe<std::string> read_near_cpus(const std::string& root, const std::string& pci_bus_id);

// The address as /sys writes it, from CUDA's or NVML's spelling: "0000:3b:00.0" for
// "00000000:3B:00.0".
std::string pci_address(std::string_view bus_id);

// What libcuda.so.1 answers. Asking loads it, so it is asked last and only where a GPU is visible.
struct CudaDriverAnswer {
  int init_code = 0;                          // of cuInit; 0 is success
  std::string init_error;                     // its name, "CUDA_ERROR_NO_DEVICE"
  std::vector<std::string> names;             // of the GPUs CUDA offers, in its order
  std::vector<std::string> pci_bus_ids = {};  // theirs, as /sys writes them; empty where not told
};

// Missing with the loader's reason when the library cannot be used.
Maybe<CudaDriverAnswer> ask_cuda_driver();

// What find_unusable_gpus() looks at.
struct NvidiaProbe {
  std::string root = "/";                   // stands for "/" in tests
  Maybe<std::string> visible_devices = {};  // CUDA_VISIBLE_DEVICES, missing when not set
  // What the lab's CUDA half said. It is the reason where a driver answered it, and where nothing
  // else stands in the way.
  std::string refusal = {};
  bool driver_refused = false;
  bool may_wake = false;  // a GPU that sleeps is asked all the same
  std::function<Maybe<CudaDriverAnswer>()> ask = ask_cuda_driver;
};

// Why no NVIDIA GPU can be used: the first thing that is missing on the way from GPU to kernel. One
// entry for each GPU found, or a single one when there is none.
std::vector<AbsentDevice> find_unusable_gpus(const NvidiaProbe& probe);

// A GPU as a device of the lab.
DeviceInfo describe_gpu(const GpuProperties& facts, const GpuBackend& backend);

// Fills in what NVML left open of the GPUs that `backend` offers, and the runtime's version.
// `backend` null: the lab computes on no GPU. Throws nothing.
void complete_facts(std::vector<GpuFacts>& gpus, GpuBackend* backend);

}  // namespace lab
