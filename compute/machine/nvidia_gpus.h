#pragma once
// Finds NVIDIA GPUs through kernel files and CUDA, and determines why one cannot be used. Reading
// the files does not wake a sleeping GPU.
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
  std::string name;        // "NVIDIA H200", or its PCI id if no driver is loaded
};

// Returns the GPUs in the order of their addresses. `root` replaces "/" in tests, here and below.
std::vector<NvidiaGpu> find_nvidia_gpus(const std::string& root);

// Returns whether the kernel has powered the GPU down (runtime power management).
bool is_asleep(const std::string& root, const std::string& pci_bus_id);

// Returns whether any GPU is asleep. The CUDA driver accesses all of them when it starts.
bool any_gpu_asleep(const std::string& root);

// Return the NUMA node nearest to the GPU and the OS numbers of its cores, "0-15".
Maybe<int> read_numa_node(const std::string& root, const std::string& pci_bus_id);
Maybe<std::string> read_local_cpus(const std::string& root, const std::string& pci_bus_id);

// Converts a CUDA or NVML bus id to the spelling of /sys: "00000000:3B:00.0" to "0000:3b:00.0".
std::string pci_address(std::string_view bus_id);

// Result of querying libcuda.so.1. The query loads the library, so it comes last and only if a GPU
// is visible.
struct CudaDriverInfo {
  int init_code = 0;                          // from cuInit; 0 is success
  std::string init_error;                     // name of init_code, "CUDA_ERROR_NO_DEVICE"
  std::vector<std::string> names;             // of the GPUs CUDA offers, in CUDA's order
  std::vector<std::string> pci_bus_ids = {};  // their addresses as in /sys; empty if unknown
};

// Missing, with the loader's reason, if the library cannot be used.
Maybe<CudaDriverInfo> query_cuda_driver();

// Inputs of find_unusable_gpus().
struct NvidiaProbe {
  std::string root = "/";                   // replaces "/" in tests
  Maybe<std::string> visible_devices = {};  // CUDA_VISIBLE_DEVICES; missing if unset
  // Reason given by the lab's CUDA backend. It is reported if a driver caused it, or if there is no
  // other obstacle.
  std::string refusal = {};
  bool driver_refused = false;
  bool may_wake = false;  // query the driver even if a GPU is asleep
  std::function<Maybe<CudaDriverInfo>()> ask = query_cuda_driver;
};

// Returns why no NVIDIA GPU can be used: the first obstacle between the GPU and running a kernel.
// One entry per GPU found, or a single entry if there is none.
std::vector<AbsentDevice> find_unusable_gpus(const NvidiaProbe& probe);

// Describes a GPU as a device of the lab.
DeviceInfo describe_gpu(const GpuProperties& facts, const GpuBackend& backend);

// Fills in the fields that NVML left missing for the GPUs of `backend`, and the runtime's version.
// A null `backend` means that the lab computes on no GPU. Never throws.
void complete_facts(std::vector<GpuFacts>& gpus, GpuBackend* backend);

}  // namespace lab
