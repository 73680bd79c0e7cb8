#pragma once
// NVIDIA GPUs as files of the kernel show them: nothing here wakes a GPU that is asleep.
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/maybe.h"

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

}  // namespace lab
