#include "compute/machine/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/events/core_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/gpu/emulator/device/emulated_gpus.h"
#include "compute/machine/core_division.h"
#include "compute/machine/cpu_topology.h"
#include "compute/machine/nvidia_gpus.h"
#include "compute/machine/resource_limits.h"
#include "compute/machine/sensors.h"
#include "compute/machine/simd_level.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

constexpr int kMaxCpuDevices = 4096;
// The remaining free memory is left to the system and the lab's window.
constexpr double kUsableShare = 0.9;

std::string system_name() {
  if (const auto text = read_text("/etc/os-release")) {
    const auto at = text->find("PRETTY_NAME=\"");
    if (at != std::string::npos) {
      const auto begin = at + 13;
      return text->substr(begin, text->find('"', begin) - begin);
    }
  }
  return "Linux";
}

Maybe<double> max_clock_mhz(const std::vector<int>& cores) {
  std::int64_t best_khz = 0;
  for (const int core : cores) {
    const std::string file =
        fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/cpuinfo_max_freq", core);
    best_khz = std::max(best_khz, read_number(file).value_or(0));
  }
  if (best_khz > 0) return static_cast<double>(best_khz) / 1000;
  return Maybe<double>::missing(
      tr("the kernel reports no maximum clock (no cpufreq; usual in virtual machines)"));
}

std::string hardware_threads(const std::vector<CpuCore>& cores) {
  std::size_t threads = 0;
  for (const CpuCore& core : cores) threads += core.hardware_threads.size();
  return threads == cores.size() ? trf("{}, one per core", threads)
                                 : trf("{}; the lab uses one per core, {}", threads, cores.size());
}

std::string processor_quota(double quota, std::size_t used, std::size_t all) {
  return all == 1
             ? trf("{:.3g} CPUs, set by the cgroup; the lab uses {} of 1 core", quota, used)
             : trf("{:.3g} CPUs, set by the cgroup; the lab uses {} of {} cores", quota, used, all);
}

// The limit of one of `devices` and why it is what it is.
std::string memory_limit(const MemoryInfo& memory, std::int64_t bytes, int devices, int processes) {
  std::string limit = memory.limited_by.empty()
                          ? trf("{}: 90 % of what was available at start", format_bytes(bytes))
                          : trf("{}: 90 % of what was available within the {}", format_bytes(bytes),
                                memory.limited_by);
  if (processes > 1) limit = trf("{}, divided between {} processes", limit, processes);
  return devices > 1 ? trf("{}, divided between {} devices", limit, devices) : limit;
}

std::vector<DeviceInfo> describe_cpus(int devices, int processes) {
  CpuTopology topology = read_topology();
  const std::size_t all_cores = topology.cores.size();
  std::optional<double> quota = read_cpu_quota();
  if (quota) *quota /= processes;
  if (quota) topology.cores = cores_within(std::move(topology.cores), *quota);
  const MemoryInfo memory = read_memory();
  const SimdLevel simd = simd_level();
  const bool virtual_machine = is_virtual_machine();
  const auto usable =
      static_cast<std::int64_t>(kUsableShare * static_cast<double>(memory.available_bytes)) /
      processes;
  std::vector<DeviceInfo> infos;
  infos.reserve(static_cast<std::size_t>(devices));
  for (int i = 0; i < devices; ++i) {
    const std::vector<CpuCore> cores = split_cores(topology.cores, i, devices);
    DeviceInfo info = describe_cores(topology, cores);
    info.device = cpu(i);
    info.simd = simd.name;
    info.simd_detail = simd.detail;
    info.simd_cap = simd.cap;
    info.clock_max_mhz = max_clock_mhz(info.cores);
    info.virtual_machine = virtual_machine;
    info.memory_total_bytes = memory.total_bytes;
    info.memory_limit_bytes = usable / devices;
    info.details.emplace_back(LAB_TEXT("Hardware threads"), hardware_threads(cores));
    if (virtual_machine) {
      info.details.emplace_back(LAB_TEXT("Virtual machine"),
                                LAB_TEXT("yes: cores and clocks may be shared"));
    }
    if (quota) {
      info.details.emplace_back(LAB_TEXT("Processor quota"),
                                processor_quota(*quota, topology.cores.size(), all_cores));
    }
    info.details.emplace_back(LAB_TEXT("Memory limit"),
                              memory_limit(memory, info.memory_limit_bytes, devices, processes));
    infos.push_back(std::move(info));
  }
  return infos;
}

DeviceInfo describe_emulated_gpu(const GpuProperties& facts) {
  DeviceInfo info;
  info.device = facts.device;
  info.name = facts.name;
  info.memory_total_bytes = facts.memory_bytes;
  info.memory_limit_bytes = facts.memory_bytes;
  info.clock_max_mhz = Maybe<double>::missing(tr(kNeverTimed));
  auto& details = info.details;
  details.emplace_back(LAB_TEXT("Emulated"), LAB_TEXT("correct results; never timed"));
  details.emplace_back(LAB_TEXT("Memory"), LAB_TEXT("main memory, taken as it is used"));
  details.emplace_back(LAB_TEXT("Shared memory"),
                       trf("{} per block", format_bytes(facts.shared_bytes_per_block)));
  return info;
}

NvidiaProbe nvidia_probe(const MachineOptions& options, const GpuBackendResult& offer) {
  NvidiaProbe probe;
  probe.root = options.root;
  probe.may_wake = options.wake_gpus;
  probe.refusal = offer.reason;
  probe.driver_refused = offer.driver_answered;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {  // NOLINT(concurrency-mt-unsafe)
    probe.visible_devices = std::string(visible);
  }
  return probe;
}

}  // namespace

DeviceContext::DeviceContext(DeviceInfo info)
    : info_(std::move(info)), memory_(info_.device, info_.memory_limit_bytes, [] {
        return read_memory().available_bytes;
      }) {}

DeviceContext::DeviceContext(DeviceInfo info, GpuDevice& gpu)
    : info_(std::move(info)),
      gpu_(&gpu),
      memory_(info_.device, info_.memory_limit_bytes),
      staging_(std::make_unique<GpuStaging>(gpu)) {}

std::int64_t DeviceContext::free_bytes() {
  const std::int64_t free_bytes = memory_.free_bytes();
  if (gpu_ == nullptr) return free_bytes;
  const GpuMemory gpu = gpu_->memory();
  return std::min(free_bytes, gpu.free_bytes + gpu.pool_reserved_bytes - gpu.pool_used_bytes);
}

GpuStaging& DeviceContext::staging() {
  if (!staging_) {
    throw Error(Errc::Unsupported,
                trf("{} is not a GPU and needs no staging memory", to_string(info_.device)));
  }
  return *staging_;
}

ThreadPool& DeviceContext::threads() {
  if (gpu_ != nullptr) {
    throw Error(Errc::Unsupported, trf("{} is a GPU and has no CPU threads; choose cpu:0 for this",
                                       to_string(device())));
  }
  std::call_once(threads_once_, [this] { threads_ = std::make_unique<ThreadPool>(info_.cores); });
  return *threads_;
}

Machine::Machine(const MachineOptions& options) {
  if (options.cpu_devices < 1 || options.cpu_devices > kMaxCpuDevices) {
    throw Error(Errc::Usage, trf("--cpu-devices {}: choose between 1 and {}", options.cpu_devices,
                                 kMaxCpuDevices));
  }
  if (options.emulated_gpus < 0 || options.emulated_gpus > kMaxEmulatedGpus) {
    throw Error(Errc::Usage, trf("--emulated-gpus {}: choose between 1 and {}",
                                 options.emulated_gpus, kMaxEmulatedGpus));
  }
  utsname names{};
  const bool named = uname(&names) == 0;
  info_.host = named ? names.nodename : tr("unknown host");
  info_.system = system_name();
  info_.kernel = named ? names.release : "";
  info_.devices = describe_cpus(options.cpu_devices, std::max(1, options.processes));
  for (const DeviceInfo& info : info_.devices) {
    contexts_.push_back(std::make_unique<DeviceContext>(info));
  }
  num_cpus_ = static_cast<int>(contexts_.size());
  add_gpus(options);
  add_emulated_gpus(options);
}

void Machine::add_gpus(const MachineOptions& options) {
  GpuBackendResult offer;
  const bool may_start_driver = options.wake_gpus || !any_gpu_asleep(options.root);
  if (options.open_gpus && may_start_driver) offer = options.open_gpus();
  for (const RejectedGpu& gpu : offer.refused) {
    info_.absent.push_back({gpu.facts.name, gpu.reason, gpu.facts.pci_bus_id});
  }
  if (!offer.backend) {
    if (info_.absent.empty()) info_.absent = find_unusable_gpus(nvidia_probe(options, offer));
    return;
  }
  gpus_ = std::move(offer.backend);
  for (GpuDevice* gpu : gpus_->devices()) {
    info_.devices.push_back(describe_gpu(gpu->facts(), *gpus_));
    contexts_.push_back(std::make_unique<DeviceContext>(info_.devices.back(), *gpu));
    ++num_cuda_gpus_;
  }
}

void Machine::add_emulated_gpus(const MachineOptions& options) {
  num_emulated_gpus_ = options.emulated_gpus;
  if (num_emulated_gpus_ == 0) return;
  emulated_gpus_ =
      std::make_shared<EmulatedGpus>(EmulatedGpuOptions{.gpus = num_emulated_gpus_,
                                                        .checked = options.check_emulation,
                                                        .peer_access = options.emulated_peer_access,
                                                        .layers = options.emulated_layers,
                                                        .library = options.emulated_library});
  for (GpuDevice* gpu : emulated_gpus_->devices()) {
    info_.devices.push_back(describe_emulated_gpu(gpu->facts()));
    contexts_.push_back(std::make_unique<DeviceContext>(info_.devices.back(), *gpu));
  }
}

Machine::~Machine() = default;

const MachineInfo& Machine::info() const {
  return info_;
}

std::vector<Device> Machine::devices() const {
  std::vector<Device> all;
  for (const auto& context : contexts_) all.push_back(context->device());
  return all;
}

DeviceContext& Machine::at(Device device) {
  if (has(device)) {
    int place = device.index;
    if (is_gpu(device)) place += num_cpus_;
    if (device.kind == DeviceKind::Emulated) place += num_cuda_gpus_;
    return *contexts_.at(static_cast<std::size_t>(place));
  }
  throw Error(Errc::NotFound, trf("{} cannot be used: {}", to_string(device), why_not(device)));
}

std::string Machine::why_not(Device device) const {
  switch (device.kind) {
    case DeviceKind::Cpu: break;
    case DeviceKind::Cuda: return why_no_gpu(device.index);
    case DeviceKind::Emulated: return why_no_emulated_gpu(device.index);
  }
  return why_no_cpu(device.index);
}

std::string Machine::why_no_emulated_gpu(int index) const {
  const int wanted = std::clamp(index, 0, kMaxEmulatedGpus - 1) + 1;
  if (num_emulated_gpus_ == 0) {
    return trf("no GPU is emulated; start with --emulated-gpus {}", wanted);
  }
  return num_emulated_gpus_ == 1
             ? trf("1 GPU is emulated; use emu:0, or start with --emulated-gpus {}", wanted)
             : trf("{} GPUs are emulated; use emu:0 to emu:{}, or start with --emulated-gpus {}",
                   num_emulated_gpus_, num_emulated_gpus_ - 1, wanted);
}

std::string Machine::why_no_cpu(int index) const {
  const int wanted = std::clamp(index, 0, kMaxCpuDevices - 1) + 1;
  return num_cpus() == 1
             ? trf("the cores form 1 CPU device; use cpu:0, or start with --cpu-devices {}", wanted)
             : trf("the cores form {} CPU devices; use cpu:0, or start with --cpu-devices {}",
                   num_cpus(), wanted);
}

std::string Machine::why_no_gpu(int index) const {
  const int usable = num_cuda_gpus_;
  if (usable > 0) {
    std::string others;
    for (const AbsentDevice& gpu : info_.absent) {
      others += ' ' + trf("({} is not: {})", gpu.what, gpu.reason);
    }
    return usable == 1 ? trf("this machine has 1 usable NVIDIA GPU{}; use cuda:0", others)
                       : trf("this machine has {} usable NVIDIA GPUs{}; use cuda:0 to cuda:{}",
                             usable, others, usable - 1);
  }
  const auto gpus = info_.absent.size();
  const auto at = static_cast<std::size_t>(index);
  if (at < gpus) {
    const AbsentDevice& gpu = info_.absent[at];
    return trf("{}; use cpu:0",
               gpu.what == "NVIDIA GPU" ? gpu.reason : gpu.what + ": " + gpu.reason);
  }
  if (gpus == 1 && info_.absent.front().what == "NVIDIA GPU") {
    return trf("{}; use cpu:0", info_.absent.front().reason);
  }
  return gpus == 1 ? std::string(tr("this machine has 1 NVIDIA GPU; use cpu:0"))
                   : trf("this machine has {} NVIDIA GPUs; use cpu:0", gpus);
}

bool Machine::has(Device device) const {
  return device.index >= 0 && device.index < count_of(device.kind);
}

int Machine::count_of(DeviceKind kind) const {
  switch (kind) {
    case DeviceKind::Cpu: break;
    case DeviceKind::Cuda: return num_cuda_gpus_;
    case DeviceKind::Emulated: return num_emulated_gpus_;
  }
  return num_cpus_;
}

int Machine::num_cpus() const {
  return num_cpus_;
}

int Machine::num_gpus() const {
  return num_cuda_gpus_ > 0 ? num_cuda_gpus_ : num_emulated_gpus_;
}

Device Machine::try_gpu(int i) const {
  const Device wanted = num_cuda_gpus_ > 0 ? gpu(i) : emulated_gpu(i);
  return has(wanted) ? wanted : cpu();
}

std::vector<Device> Machine::try_all_gpus() const {
  std::vector<Device> gpus;
  gpus.reserve(static_cast<std::size_t>(std::max(1, num_gpus())));
  for (int i = 0; i < num_gpus(); ++i) gpus.push_back(try_gpu(i));
  if (gpus.empty()) gpus.push_back(cpu());
  return gpus;
}

std::optional<std::string> why_unusable(DeviceContext& device) {
  if (device.gpu() == nullptr) return std::nullopt;
  try {
    device.gpu()->main_stream().synchronise();
  } catch (const Error& error) {
    if (error.code() != Errc::Unsupported && error.code() != Errc::OutOfMemory) throw;
    return error.what();
  }
  return std::nullopt;
}

int core_load(Machine& machine, std::span<const Device> devices) {
  std::map<int, int> users;
  int most = 1;
  for (const Device device : devices) {
    for (const int core : machine.at(device).info().cores) most = std::max(most, ++users[core]);
  }
  return most;
}

std::string unequal_cores(Machine& machine, std::span<const Device> devices) {
  if (devices.empty() || devices.front().kind != DeviceKind::Cpu) return {};
  const DeviceInfo& first = machine.at(devices.front()).info();
  for (const Device device : devices) {
    const DeviceInfo& info = machine.at(device).info();
    if (device.kind != DeviceKind::Cpu || !have_unequal_cores(first, info)) continue;
    return trf("{} has {}; {} has {}", to_string(first.device), cores_text(first),
               to_string(device), cores_text(info));
  }
  return {};
}

}  // namespace lab
