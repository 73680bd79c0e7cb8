#include "compute/machine/nvidia_gpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/gpu/dynamic_library.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& root, const std::string& pci_bus_id) {
  return fmt::format("{}/sys/bus/pci/devices/{}", root, pci_bus_id);
}

// Matches display controllers with NVIDIA's vendor id, but not the GPUs' audio functions or NVIDIA
// switches.
bool is_nvidia_gpu(const std::string& folder) {
  return read_text(folder + "/vendor") == "0x10de" &&
         read_text(folder + "/class").value_or("").rfind("0x03", 0) == 0;
}

std::string name_without_driver(const std::string& folder, const std::string& address) {
  const std::string number = read_text(folder + "/device").value_or(tr("unknown model"));
  return fmt::format("NVIDIA GPU (PCI 10de:{} at {})",
                     number.rfind("0x", 0) == 0 ? number.substr(2) : number, address);
}

std::vector<std::string> device_nodes(const std::string& root) {
  std::vector<std::string> nodes;
  for (const std::string& name : list_directory(root + "/dev")) {
    const bool numbered = name.size() > 6 && name.rfind("nvidia", 0) == 0 &&
                          name.find_first_not_of("0123456789", 6) == std::string::npos;
    if (numbered) nodes.push_back(fmt::format("{}/dev/{}", root, name));
  }
  return nodes;
}

// Whether there may be a GPU without a PCI device and without the driver's files: that of Windows
// behind its bridge, or that of a Jetson's processor.
bool may_have_gpu_without_files(const std::string& root) {
  std::error_code failed;
  return fs::exists(root + "/dev/dxg", failed) ||
         read_text(root + "/proc/device-tree/compatible").value_or("").find("nvidia,tegra") !=
             std::string::npos;
}

std::string display_path(const std::string& root, const std::string& path) {
  return root == "/" ? path.substr(1) : path.substr(root.size());
}

// Returns the first obstacle that files reveal, without loading libcuda.
std::optional<std::string> check_system_files(const NvidiaProbe& probe) {
  const std::string& root = probe.root;
  std::error_code failed;
  if (!may_have_gpu_without_files(root)) {
    if (!fs::exists(root + "/proc/driver/nvidia", failed)) {
      return tr(
          "no NVIDIA driver is loaded (/proc/driver/nvidia is missing); install the driver, "
          "then "
          "restart the machine");
    }
    const auto nodes = device_nodes(root);
    if (nodes.empty() || !fs::exists(root + "/dev/nvidiactl", failed)) {
      return tr(
          "the driver is loaded but /dev/nvidia0 or /dev/nvidiactl is missing; pass the "
          "GPU to the container (--gpus all) or run nvidia-modprobe");
    }
    for (const std::string& node : nodes) {
      if (::access(node.c_str(), R_OK | W_OK) == 0) continue;
      return trf(
          "{} cannot be opened ({}); request access, usually through the group "
          "'video'",
          display_path(root, node), std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
    }
  }
  if (probe.visible_devices && (probe.visible_devices->empty() || *probe.visible_devices == "-1")) {
    return trf("CUDA_VISIBLE_DEVICES=\"{}\" hides every GPU; unset it", *probe.visible_devices);
  }
  return std::nullopt;
}

// Returns why the driver cannot run kernels; if it can, returns nothing and replaces `gpus` with
// the GPUs it offers.
std::optional<std::string> check_driver(const NvidiaProbe& probe, std::vector<NvidiaGpu>& gpus) {
  const Maybe<CudaDriverInfo> driver = probe.ask();
  if (!driver) {
    return trf(
        "the CUDA driver library cannot be loaded ({}); install the libcuda1 matching the driver",
        driver.reason());
  }
  if (driver->init_code != 0) {
    return trf("the CUDA driver failed to start: cuInit returned {}{}", driver->init_code,
               driver->init_error.empty() ? "" : " (" + driver->init_error + ")");
  }
  if (driver->names.empty()) return tr("the CUDA driver starts but reports no device");
  gpus.clear();
  for (std::size_t i = 0; i < driver->names.size(); ++i) {
    const bool has_address = i < driver->pci_bus_ids.size();
    gpus.push_back({has_address ? driver->pci_bus_ids[i] : "", driver->names[i]});
  }
  return std::nullopt;
}

// Message for an unused GPU that is asleep, or awake while another GPU is asleep.
std::string sleep_message(bool asleep) {
  return trf(
      "{}; select a GPU by name (--devices cuda:0) or with 'Use this GPU' on the Devices page",
      asleep
          ? tr("it is asleep to save power, and the lab does not wake a GPU to query it")
          : tr("it is awake, but another GPU is asleep to save power, and starting CUDA would wake "
               "that one too"));
}

template <typename T>
void fill_in(Maybe<T>& field, T value) {
  if (!field) field = std::move(value);
}

Maybe<PeerAccess> query_access(const GpuDevice& from, const GpuDevice& to) {
  try {
    return from.can_access(to) ? PeerAccess{true, ""}
                               : PeerAccess{false, tr("the CUDA runtime reports no peer access")};
  } catch (const Error& error) {
    return Maybe<PeerAccess>::missing(error.what());
  }
}

void fill_in_peers(GpuFacts& to, const GpuDevice& gpu, const std::vector<GpuDevice*>& all) {
  for (const GpuDevice* other : all) {
    const std::string& address = other->facts().pci_bus_id;
    const bool known = std::any_of(to.peers.begin(), to.peers.end(),
                                   [&](const GpuPeer& p) { return p.pci_bus_id == address; });
    if (known || other == &gpu) continue;
    GpuPeer& peer = to.peers.emplace_back();
    peer.pci_bus_id = address;
    peer.read = peer.write = query_access(gpu, *other);
    peer.nvlink = Maybe<PeerAccess>::missing(tr("neither the CUDA runtime nor NVML reports it"));
  }
}

void complete(GpuFacts& to, const GpuDevice& gpu, GpuBackend& backend) {
  const GpuProperties& properties = gpu.facts();
  fill_in(to.compute_capability,
          fmt::format("{}.{}", properties.compute_major, properties.compute_minor));
  fill_in(to.sms, properties.multiprocessors);
  fill_in(to.memory_total_bytes, properties.memory_bytes);
  if (properties.clock_max_mhz > 0) fill_in(to.sm_clock_max_mhz, properties.clock_max_mhz);
  fill_in(to.cuda_version, backend.driver_version());
  to.runtime_version = backend.runtime_version();
  fill_in_peers(to, gpu, backend.devices());
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
    if (is_nvidia_gpu(folder)) gpus.push_back({address, name_without_driver(folder, address)});
  }
  return gpus;
}

bool is_asleep(const std::string& root, const std::string& pci_bus_id) {
  const auto status = read_text(folder_of(root, pci_bus_id) + "/power/runtime_status");
  return status == "suspended" || status == "suspending";
}

bool any_gpu_asleep(const std::string& root) {
  const std::vector<NvidiaGpu> gpus = find_nvidia_gpus(root);
  return std::any_of(gpus.begin(), gpus.end(),
                     [&](const NvidiaGpu& gpu) { return is_asleep(root, gpu.pci_bus_id); });
}

Maybe<int> read_numa_node(const std::string& root, const std::string& pci_bus_id) {
  const auto node = read_number(folder_of(root, pci_bus_id) + "/numa_node");
  if (!node) return Maybe<int>::missing(tr("the kernel does not report it"));
  if (*node < 0) return Maybe<int>::missing(tr("the machine's firmware does not report it"));
  return static_cast<int>(*node);
}

Maybe<std::string> read_local_cpus(const std::string& root, const std::string& pci_bus_id) {
  auto list = read_text(folder_of(root, pci_bus_id) + "/local_cpulist");
  if (!list || list->empty())
    return Maybe<std::string>::missing(tr("the kernel does not report them"));
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

Maybe<CudaDriverInfo> query_cuda_driver() {
  // cuda.h is not included here, so that the lab starts and reports the reason on any machine.
  using Text = int (*)(char*, int, int);
  const Maybe<DynamicLibrary> library = DynamicLibrary::open({"libcuda.so.1"});
  if (!library) return Maybe<CudaDriverInfo>::missing(library.reason());
  const auto init = library->function<int (*)(unsigned)>("cuInit");
  const auto count = library->function<int (*)(int*)>("cuDeviceGetCount");
  const auto get = library->function<int (*)(int*, int)>("cuDeviceGet");
  const auto name = library->function<Text>("cuDeviceGetName");
  const auto bus_id = library->function<Text>("cuDeviceGetPCIBusId");
  const auto error_name = library->function<int (*)(int, const char**)>("cuGetErrorName");
  if (!init || !count || !get || !name) {
    return Maybe<CudaDriverInfo>::missing(tr("libcuda.so.1 lacks cuInit or cuDeviceGetName"));
  }
  CudaDriverInfo answer;
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
    const bool has_address = named && bus_id && bus_id(buffer, sizeof buffer, handle) == 0;
    answer.pci_bus_ids.push_back(has_address ? pci_address(buffer) : std::string());
  }
  return answer;
}

std::vector<AbsentDevice> find_unusable_gpus(const NvidiaProbe& probe) {
  const std::string& root = probe.root;
  std::vector<NvidiaGpu> gpus = find_nvidia_gpus(root);
  std::error_code failed;
  if (!probe.driver_refused && gpus.empty() && device_nodes(root).empty() &&
      !may_have_gpu_without_files(root) && !fs::exists(root + "/proc/driver/nvidia", failed)) {
    const bool bus = fs::exists(root + "/sys/bus/pci/devices", failed);
    return {{"NVIDIA GPU", bus ? tr("no NVIDIA device on the PCI bus")
                               : tr("/sys/bus/pci is missing, so PCI devices cannot be listed")}};
  }
  std::optional<std::string> reason;
  bool blocked_by_sleep = false;
  if (!probe.driver_refused) {
    reason = check_system_files(probe);
    blocked_by_sleep = !reason && !probe.may_wake && any_gpu_asleep(root);
    if (!reason && !blocked_by_sleep) reason = check_driver(probe, gpus);
  }
  if (gpus.empty()) gpus.push_back({"", "NVIDIA GPU"});
  std::vector<AbsentDevice> absent;
  absent.reserve(gpus.size());
  for (const NvidiaGpu& gpu : gpus) {
    absent.push_back({gpu.name,
                      blocked_by_sleep ? sleep_message(is_asleep(root, gpu.pci_bus_id))
                                       : reason.value_or(probe.refusal),
                      gpu.pci_bus_id, blocked_by_sleep});
  }
  return absent;
}

void complete_facts(std::vector<GpuFacts>& gpus, GpuBackend* backend) {
  for (GpuFacts& facts : gpus) {
    facts.runtime_version = Maybe<std::string>::missing(tr("the lab does not compute on this GPU"));
    if (backend == nullptr) continue;
    for (const GpuDevice* gpu : backend->devices()) {
      if (gpu->facts().pci_bus_id == facts.pci_bus_id) complete(facts, *gpu, *backend);
    }
  }
}

DeviceInfo describe_gpu(const GpuProperties& facts, const GpuBackend& backend) {
  DeviceInfo info;
  info.device = facts.device;
  info.name = facts.name;
  info.pci_bus_id = facts.pci_bus_id;
  info.memory_total_bytes = facts.memory_bytes;
  info.memory_limit_bytes = facts.memory_bytes;
  if (facts.l2_bytes > 0) info.caches.push_back({2, facts.l2_bytes, 1, 128});
  info.clock_max_mhz = facts.clock_max_mhz > 0
                           ? Maybe<double>(facts.clock_max_mhz)
                           : Maybe<double>::missing(tr("the CUDA runtime reports no clock for this "
                                                       "GPU"));
  auto& details = info.details;
  details.emplace_back(LAB_TEXT("Compute capability"),
                       fmt::format("{}.{}", facts.compute_major, facts.compute_minor));
  details.emplace_back(LAB_TEXT("Multiprocessors"), fmt::format("{}", facts.multiprocessors));
  details.emplace_back(LAB_TEXT("Shared memory"),
                       trf("{} per block", format_bytes(facts.shared_bytes_per_block)));
  details.emplace_back(LAB_TEXT("Copy engines"), fmt::format("{}", facts.copy_engines));
  details.emplace_back(LAB_TEXT("PCI address"), facts.pci_bus_id);
  details.emplace_back(LAB_TEXT("CUDA of the driver"), backend.driver_version());
  details.emplace_back(LAB_TEXT("CUDA of the lab"), backend.runtime_version());
  if (!facts.memory_pools) {
    details.emplace_back(LAB_TEXT("Memory pools"),
                         LAB_TEXT("none: each allocation synchronises with the GPU"));
  }
  return info;
}

}  // namespace lab
