#include "compute/machine/nvidia_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compute/machine/system_files.h"

namespace lab {
namespace {

std::string folder_of(const std::string& root, const std::string& pci_bus_id) {
  return fmt::format("{}/sys/bus/pci/devices/{}", root, pci_bus_id);
}

// Display controllers with NVIDIA's vendor number; their sound functions and switches do not count.
bool is_nvidia_gpu(const std::string& folder) {
  return read_text(folder + "/vendor") == "0x10de" &&
         read_text(folder + "/class").value_or("").rfind("0x03", 0) == 0;
}

std::string describe_gpu(const std::string& folder, const std::string& address) {
  const std::string number = read_text(folder + "/device").value_or("unknown model");
  return fmt::format("NVIDIA GPU (PCI 10de:{} at {})",
                     number.rfind("0x", 0) == 0 ? number.substr(2) : number, address);
}

}  // namespace

std::vector<NvidiaGpu> find_nvidia_gpus(const std::string& root) {
  std::vector<NvidiaGpu> gpus;
  const std::string driver = root + "/proc/driver/nvidia/gpus";
  for (const std::string& address : list_directory(driver)) {
    const auto text = read_text(fmt::format("{}/{}/information", driver, address));
    gpus.push_back(
        {pci_address(address), find_field(text.value_or(""), "Model").value_or("NVIDIA GPU")});
  }
  if (!gpus.empty()) return gpus;
  for (const std::string& address : list_directory(root + "/sys/bus/pci/devices")) {
    const std::string folder = folder_of(root, address);
    if (is_nvidia_gpu(folder)) gpus.push_back({address, describe_gpu(folder, address)});
  }
  return gpus;
}

bool is_asleep(const std::string& root, const std::string& pci_bus_id) {
  const auto status = read_text(folder_of(root, pci_bus_id) + "/power/runtime_status");
  return status == "suspended" || status == "suspending";
}

bool a_gpu_sleeps(const std::string& root) {
  const std::vector<NvidiaGpu> gpus = find_nvidia_gpus(root);
  return std::any_of(gpus.begin(), gpus.end(),
                     [&](const NvidiaGpu& gpu) { return is_asleep(root, gpu.pci_bus_id); });
}

Maybe<int> read_numa_node(const std::string& root, const std::string& pci_bus_id) {
  const auto node = read_number(folder_of(root, pci_bus_id) + "/numa_node");
  if (!node) return Maybe<int>::missing("the kernel does not show it");
  if (*node < 0) return Maybe<int>::missing("the machine's firmware does not tell it");
  return static_cast<int>(*node);
}

Maybe<std::string> read_near_cpus(const std::string& root, const std::string& pci_bus_id) {
  auto list = read_text(folder_of(root, pci_bus_id) + "/local_cpulist");
  if (!list || list->empty()) return Maybe<std::string>::missing("the kernel does not show them");
  return *std::move(list);
}

std::string pci_address(std::string_view bus_id) {
  std::string address(bus_id);
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  while (address.find(':') > 4 && address.find(':') != std::string::npos && address[0] == '0') {
    address.erase(0, 1);
  }
  return address;
}

}  // namespace lab
