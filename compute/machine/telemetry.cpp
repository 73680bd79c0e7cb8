#include "compute/machine/telemetry.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compute/core/language.h"
#include "compute/machine/nvidia_gpus.h"
#include "compute/machine/programs.h"
#include "compute/machine/resource_limits.h"
#include "compute/machine/sensors.h"
#include "compute/run/lab_clock.h"

namespace lab {
namespace {

using Ticks = std::map<int, CoreTicks>;

// Returns the busy share since the previous reading, 0..1; empty if the core is unknown or no tick
// has passed.
std::optional<double> busy_share(const Ticks& before, const Ticks& now, int core) {
  const auto a = before.find(core), b = now.find(core);
  if (a == before.end() || b == now.end()) return std::nullopt;
  const std::int64_t total = b->second.total - a->second.total;
  if (total <= 0) return std::nullopt;
  const auto busy = static_cast<double>(b->second.busy - a->second.busy);
  return std::clamp(busy / static_cast<double>(total), 0.0, 1.0);
}

// Fills in the GPU part of a CUDA device's telemetry.
void add_emulated_gpu(DeviceTelemetry& to, const GpuDevice& gpu) {
  to.utilisation = to.clock_mhz = to.temperature_c = Maybe<double>::missing(tr(kNeverTimed));
  to.memory_available_bytes = gpu.facts().memory_bytes - gpu.holdings().pool_reserved_bytes;
}

void add_gpu(DeviceTelemetry& to, const std::vector<GpuTelemetry>& gpus,
             const std::string& pci_bus_id) {
  const auto gpu = std::find_if(gpus.begin(), gpus.end(),
                                [&](const auto& c) { return c.pci_bus_id == pci_bus_id; });
  if (gpu == gpus.end()) {
    const std::string why = tr("NVML reports no data for this GPU");
    to.utilisation = to.clock_mhz = to.temperature_c = Maybe<double>::missing(why);
    to.memory_available_bytes = Maybe<std::int64_t>::missing(why);
    return;
  }
  to.utilisation = gpu->utilisation;
  to.clock_mhz = gpu->sm_clock_mhz;
  to.temperature_c = gpu->temperature_c;
  to.memory_available_bytes = gpu->memory_free_bytes;
}

constexpr double kShortest_s = 0.02;
// Until the second reading, which is the first with rates, and the least before one on request.
constexpr double kFirst_s = 0.25;
// Between readings of all processes; a little less, since telemetry comes at whole seconds.
constexpr double kPrograms_s = 1.9;

bool same(const TensorInfo& a, const TensorInfo& b) {
  return a.id == b.id && a.name == b.name && a.bytes == b.bytes &&
         a.owned_by_page == b.owned_by_page && a.preview == b.preview;
}

bool same(const TensorList& a, const TensorList& b) {
  return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    [](const TensorInfo& x, const TensorInfo& y) { return same(x, y); });
}

// Reads the programs while they are watched: at once, in the next reading, and then seldom.
class ProgramWatch {
 public:
  std::optional<ProgramUse> read(double t_s, bool watched) {
    if (!watched) reader_.reset();
    if (!watched || (reader_ && seen_ && t_s - read_s_ < kPrograms_s)) return {};
    if (!reader_) {
      seen_ = false;
      reader_.emplace();
    }
    std::optional<ProgramUse> use = reader_->read();
    read_s_ = t_s;
    seen_ = use.has_value();
    return use;
  }

 private:
  std::optional<ProgramReader> reader_;
  bool seen_ = false;  // the last reading had programs
  double read_s_ = 0;
};

}  // namespace

struct TelemetryReader::Impl {
  using Clock = std::chrono::steady_clock;

  Impl(Machine& m, GpuMonitorOptions options)
      : machine(m),
        root(options.root),
        temperature_files(find_cpu_temperature_files(root)),
        gpus(std::move(options)) {
    for (const DeviceInfo& d : machine.info().devices) {
      cores.insert(cores.end(), d.cores.begin(), d.cores.end());
    }
    std::sort(cores.begin(), cores.end());
    cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  }

  double busiest(const std::vector<int>& hardware_threads, const Ticks& now);
  void add_utilisation(DeviceTelemetry& to, const DeviceInfo& info, const Ticks& now);
  void add_clock(DeviceTelemetry& to, const std::vector<int>& device_cores,
                 const std::map<int, double>& clocks);
  void read_gpus(Telemetry& to, double t_s);
  std::optional<OtherLoad> other_load(const Ticks& now, double lab_cpu) const;

  Machine& machine;
  const std::string root;
  const std::vector<std::string> temperature_files;
  GpuMonitor gpus;
  int facts_version = 0;   // of the facts last sent
  std::vector<int> cores;  // cores of all devices
  bool has_previous = false;
  Ticks ticks;
  // By hardware thread. A thread whose ticks have not advanced keeps its last value.
  std::map<int, double> last_share;
  double cpu_s = 0;
  Clock::time_point at;
};

// Returns the utilisation of a core's busiest hardware thread: two busy threads of a core do little
// more work than one.
double TelemetryReader::Impl::busiest(const std::vector<int>& hardware_threads, const Ticks& now) {
  double most = 0;
  for (const int thread : hardware_threads) {
    if (const auto share = busy_share(ticks, now, thread)) last_share[thread] = *share;
    if (const auto found = last_share.find(thread); found != last_share.end()) {
      most = std::max(most, found->second);
    }
  }
  return most;
}

void TelemetryReader::Impl::add_utilisation(DeviceTelemetry& to, const DeviceInfo& info,
                                            const Ticks& now) {
  if (!has_previous) return;
  if (now.empty()) {
    to.utilisation = Maybe<double>::missing(tr("/proc/stat cannot be read"));
    return;
  }
  double sum = 0;
  for (const std::vector<int>& hardware_threads : info.hardware_threads) {
    to.core_utilisation.push_back(busiest(hardware_threads, now));
    sum += to.core_utilisation.back();
  }
  to.utilisation = sum / static_cast<double>(std::max<std::size_t>(1, info.cores.size()));
}

void TelemetryReader::Impl::add_clock(DeviceTelemetry& to, const std::vector<int>& device_cores,
                                      const std::map<int, double>& clocks) {
  double sum = 0;
  int n = 0;
  for (const int core : device_cores) {
    const auto found = clocks.find(core);
    if (found != clocks.end()) sum += found->second, ++n;
  }
  if (n > 0) {
    to.clock_mhz = sum / n;
  } else {
    to.clock_mhz = Maybe<double>::missing(tr("the kernel reports no clock for these cores"));
  }
}

void TelemetryReader::Impl::read_gpus(Telemetry& to, double t_s) {
  to.gpus = gpus.read(t_s);
  if (gpus.facts_version() == facts_version) return;
  facts_version = gpus.facts_version();
  to.gpu_facts = gpus.facts();
  complete_facts(to.gpu_facts, machine.gpus());
}

std::optional<OtherLoad> TelemetryReader::Impl::other_load(const Ticks& now, double lab_cpu) const {
  std::set<int> threads;  // devices can share cores
  for (const DeviceInfo& info : machine.info().devices) {
    for (const std::vector<int>& core : info.hardware_threads) {
      threads.insert(core.begin(), core.end());
    }
  }
  CoreTicks sum;
  for (const int thread : threads) {
    const auto before = ticks.find(thread), after = now.find(thread);
    if (before == ticks.end() || after == now.end()) return std::nullopt;
    sum.total += after->second.total - before->second.total;
    sum.busy += after->second.busy - before->second.busy;
    sum.steal += after->second.steal - before->second.steal;
  }
  if (sum.total <= 0) return std::nullopt;
  const auto of_threads = [&](std::int64_t part) {
    return static_cast<double>(threads.size()) * static_cast<double>(part) /
           static_cast<double>(sum.total);
  };
  return OtherLoad{.programs = std::max(0.0, of_threads(sum.busy - sum.steal) - lab_cpu),
                   .host = std::max(0.0, of_threads(sum.steal)),
                   .threads = static_cast<int>(threads.size())};
}

TelemetryReader::TelemetryReader(Machine& machine, std::string root)
    : TelemetryReader(machine, GpuMonitorOptions{.root = std::move(root)}) {}

TelemetryReader::TelemetryReader(Machine& machine, GpuMonitorOptions options)
    : impl_(std::make_unique<Impl>(machine, std::move(options))) {}

TelemetryReader::~TelemetryReader() = default;

Telemetry TelemetryReader::read(double t_s) {
  Impl& r = *impl_;
  Telemetry telemetry;
  const Ticks now_ticks = read_core_ticks(r.root);
  const auto clocks = read_clocks_mhz(r.root, r.cores);
  const Maybe<double> temperature = read_temperature_c(r.temperature_files);
  const MemoryInfo memory = read_memory(r.root);
  r.read_gpus(telemetry, t_s);
  for (const DeviceInfo& info : r.machine.info().devices) {
    DeviceTelemetry d;
    d.device = info.device;
    d.t_s = t_s;
    if (info.device.kind == DeviceKind::Cuda) {
      add_gpu(d, telemetry.gpus, info.pci_bus_id);
    } else if (info.device.kind == DeviceKind::Emulated) {
      add_emulated_gpu(d, *r.machine.at(info.device).gpu());
    } else {
      r.add_utilisation(d, info, now_ticks);
      r.add_clock(d, info.cores, clocks);
      d.temperature_c = temperature;
      d.memory_available_bytes = memory.available_bytes;
    }
    DeviceContext& context = r.machine.at(info.device);
    if (context.gpu() != nullptr) {
      d.lost = context.gpu()->lost();
      const GpuHoldings held = context.gpu()->holdings();
      d.lab_pinned_bytes = held.pinned_bytes;
      d.lab_workspace_bytes = held.workspace_bytes;
      d.lab_pool_bytes = held.pool_reserved_bytes;
    }
    MemoryAccount& account = context.memory();
    d.lab_used_bytes = account.used_bytes();
    d.lab_peak_bytes = account.peak_bytes();
    telemetry.devices.push_back(std::move(d));
  }
  const double cpu_s = process_cpu_s();
  const auto now = Impl::Clock::now();
  const double elapsed_s = std::chrono::duration<double>(now - r.at).count();
  if (r.has_previous && elapsed_s > 0) {
    telemetry.lab_cpu = (cpu_s - r.cpu_s) / elapsed_s;
    telemetry.others = r.other_load(now_ticks, telemetry.lab_cpu);
  }
  telemetry.lab_rss_bytes = read_resident_bytes(r.root);
  r.cpu_s = cpu_s;
  r.at = now;
  r.ticks = now_ticks;
  r.has_previous = true;
  return telemetry;
}

TensorList list_tensors(Machine& machine) {
  TensorList all;
  for (const Device device : machine.devices()) {
    std::vector<TensorInfo> here = machine.at(device).memory().list();
    std::move(here.begin(), here.end(), std::back_inserter(all.tensors));
  }
  // Ids increase across all devices, so their order is the order of allocation.
  std::sort(all.tensors.begin(), all.tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.id < b.id; });
  return all;
}

TelemetrySampler::TelemetrySampler(Machine& machine, Channel& channel, double interval_s)
    : machine_(machine),
      channel_(channel),
      interval_s_(std::max(interval_s, kShortest_s)),
      thread_([this](std::stop_token stop) { loop(std::move(stop)); }) {}

void TelemetrySampler::set_interval(double interval_s) {
  {
    const std::lock_guard lock(mutex_);
    interval_s_ = std::max(interval_s, kShortest_s);
  }
  changed_.notify_all();
}

void TelemetrySampler::read_now() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  changed_.notify_all();
}

void TelemetrySampler::watch_programs(bool on) {
  {
    const std::lock_guard lock(mutex_);
    if (on && !programs_watched_) wanted_ = true;
    programs_watched_ = on;
  }
  changed_.notify_all();
}

void TelemetrySampler::loop(std::stop_token stop) {
  using Clock = std::chrono::steady_clock;
  TelemetryReader reader(machine_);
  ProgramWatch programs;
  TensorList shown;
  int readings = 0;
  bool watched = false;
  while (!stop.stop_requested()) {
    const auto begin = Clock::now();
    const double t_s = lab_time_s();
    TensorList list = list_tensors(machine_);
    if (readings == 0 || !same(list, shown)) {
      shown = list;
      channel_.push({0, t_s, std::move(list)}, stop);
    }
    Telemetry telemetry = reader.read(t_s);
    telemetry.programs = programs.read(t_s, watched);
    channel_.push({0, t_s, std::move(telemetry)}, stop);
    ++readings;

    std::unique_lock lock(mutex_);
    const auto interval = [&] {
      const bool soon = readings == 1 || wanted_;
      const double shown_s = soon ? std::min(interval_s_, kFirst_s) : interval_s_;
      return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(shown_s));
    };
    while (!stop.stop_requested() && Clock::now() - begin < interval()) {
      const auto waited_for = interval();
      changed_.wait_until(lock, stop, begin + waited_for, [&] { return interval() != waited_for; });
    }
    wanted_ = false;
    watched = programs_watched_;
  }
}

}  // namespace lab
