#include "compute/machine/nvidia_probe.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "compute/machine/nvidia_gpus.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> device_nodes(const std::string& root) {
  std::vector<std::string> nodes;
  for (const std::string& name : list_directory(root + "/dev")) {
    const bool numbered = name.size() > 6 && name.rfind("nvidia", 0) == 0 &&
                          name.find_first_not_of("0123456789", 6) == std::string::npos;
    if (numbered) nodes.push_back(fmt::format("{}/dev/{}", root, name));
  }
  return nodes;
}

std::string shown(const std::string& root, const std::string& path) {
  return root == "/" ? path.substr(1) : path.substr(root.size());
}

// The first obstacle that files can tell, before libcuda is loaded.
std::optional<std::string> obstacle_in_files(const NvidiaProbe& probe) {
  const std::string& root = probe.root;
  std::error_code failed;
  const bool windows_bridge = fs::exists(root + "/dev/dxg", failed);
  if (!windows_bridge) {
    if (!fs::exists(root + "/proc/driver/nvidia", failed)) {
      return "no NVIDIA driver is loaded (/proc/driver/nvidia is missing); install the driver, "
             "then "
             "restart the machine";
    }
    const auto nodes = device_nodes(root);
    if (nodes.empty() || !fs::exists(root + "/dev/nvidiactl", failed)) {
      return "the driver is loaded but /dev/nvidia0 or /dev/nvidiactl is missing; give the "
             "container the GPU (--gpus all) or run nvidia-modprobe";
    }
    for (const std::string& node : nodes) {
      if (::access(node.c_str(), R_OK | W_OK) == 0) continue;
      return fmt::format("{} cannot be opened ({}); ask for permission, often group 'video'",
                         shown(root, node), std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
    }
  }
  if (probe.visible_devices && (probe.visible_devices->empty() || *probe.visible_devices == "-1")) {
    return fmt::format("CUDA_VISIBLE_DEVICES=\"{}\" hides every GPU; unset it",
                       *probe.visible_devices);
  }
  return std::nullopt;
}

struct LibraryEnd {
  void operator()(void* library) const { dlclose(library); }
};

}  // namespace

Maybe<CudaDriverAnswer> ask_cuda_driver() {
  // The lab never includes cuda.h here, so that it starts and explains itself on any machine.
  using Init = int (*)(unsigned);
  using Count = int (*)(int*);
  using Get = int (*)(int*, int);
  using Name = int (*)(char*, int, int);
  using ErrorName = int (*)(int, const char**);
  // NODELETE: the driver may keep threads of its own, which unloading would pull the rug from.
  const std::unique_ptr<void, LibraryEnd> library(
      dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
  if (!library) {
    const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe)
    return Maybe<CudaDriverAnswer>::missing(why ? why : "libcuda.so.1 cannot be loaded");
  }
  const auto init = reinterpret_cast<Init>(dlsym(library.get(), "cuInit"));
  const auto count = reinterpret_cast<Count>(dlsym(library.get(), "cuDeviceGetCount"));
  const auto get = reinterpret_cast<Get>(dlsym(library.get(), "cuDeviceGet"));
  const auto name = reinterpret_cast<Name>(dlsym(library.get(), "cuDeviceGetName"));
  const auto bus_id = reinterpret_cast<Name>(dlsym(library.get(), "cuDeviceGetPCIBusId"));
  const auto error_name = reinterpret_cast<ErrorName>(dlsym(library.get(), "cuGetErrorName"));
  if (!init || !count || !get || !name) {
    return Maybe<CudaDriverAnswer>::missing("libcuda.so.1 lacks cuInit or cuDeviceGetName");
  }
  CudaDriverAnswer answer;
  answer.init_code = init(0);
  const char* text = nullptr;
  if (answer.init_code != 0 && error_name && error_name(answer.init_code, &text) == 0 && text) {
    answer.init_error = text;
  }
  int gpus = 0;
  if (answer.init_code != 0 || count(&gpus) != 0) return answer;
  for (int i = 0; i < gpus; ++i) {
    int handle = 0;
    char buffer[256] = {};
    const bool named = get(&handle, i) == 0 && name(buffer, sizeof buffer, handle) == 0;
    answer.names.emplace_back(named ? buffer : "NVIDIA GPU");
    const bool placed = named && bus_id && bus_id(buffer, sizeof buffer, handle) == 0;
    answer.pci_bus_ids.push_back(placed ? pci_address(buffer) : std::string());
  }
  return answer;
}

namespace {

// Whether the driver would run kernels; then `GPUs` become those it offers. Else the reason.
std::optional<std::string> obstacle_in_driver(const NvidiaProbe& probe,
                                              std::vector<NvidiaGpu>& gpus) {
  const Maybe<CudaDriverAnswer> driver = probe.ask();
  if (!driver) {
    return fmt::format(
        "the CUDA driver library cannot be loaded ({}); install libcuda1 of the driver's version",
        driver.reason());
  }
  if (driver->init_code != 0) {
    return fmt::format("the CUDA driver does not start: cuInit returned {}{}", driver->init_code,
                       driver->init_error.empty() ? "" : " (" + driver->init_error + ")");
  }
  if (driver->names.empty()) return "the CUDA driver starts but offers no device";
  gpus.clear();
  for (std::size_t i = 0; i < driver->names.size(); ++i) {
    const bool placed = i < driver->pci_bus_ids.size();
    gpus.push_back({placed ? driver->pci_bus_ids[i] : "", driver->names[i]});
  }
  return std::nullopt;
}

// Of a GPU that does not sleep itself, or does.
std::string waiting(bool asleep) {
  return fmt::format(
      "{}; ask for a GPU by name (--devices cuda:0), or with 'Use this GPU' on the Devices page",
      asleep ? "it is asleep to save power, and the lab does not wake a GPU by looking"
             : "it is awake, but another GPU is asleep to save power, and starting CUDA would wake "
               "that one too");
}

}  // namespace

std::vector<AbsentDevice> find_unusable_gpus(const NvidiaProbe& probe) {
  const std::string& root = probe.root;
  std::vector<NvidiaGpu> gpus = find_nvidia_gpus(root);
  std::error_code failed;
  if (!probe.driver_refused && gpus.empty() && device_nodes(root).empty() &&
      !fs::exists(root + "/dev/dxg", failed) && !fs::exists(root + "/proc/driver/nvidia", failed)) {
    const bool bus = fs::exists(root + "/sys/bus/pci/devices", failed);
    return {{"NVIDIA GPU", bus ? "no NVIDIA device on the PCI bus"
                               : "/sys/bus/pci is missing, so no PCI device can be seen here"}};
  }
  std::optional<std::string> reason;
  bool waits = false;
  if (!probe.driver_refused) {
    reason = obstacle_in_files(probe);
    waits = !reason && !probe.may_wake && a_gpu_sleeps(root);
    if (!reason && !waits) reason = obstacle_in_driver(probe, gpus);
  }
  if (gpus.empty()) gpus.push_back({"", "NVIDIA GPU"});
  std::vector<AbsentDevice> absent;
  absent.reserve(gpus.size());
  for (const NvidiaGpu& gpu : gpus) {
    absent.push_back(
        {gpu.name,
         waits ? waiting(is_asleep(root, gpu.pci_bus_id)) : reason.value_or(probe.refusal),
         gpu.pci_bus_id, waits});
  }
  return absent;
}

}  // namespace lab
