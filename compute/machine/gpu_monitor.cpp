#include "compute/machine/gpu_monitor.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "compute/core/events/gpu_readings.h"
#include "compute/core/language.h"
#include "compute/core/monotonic_clock.h"
#include "compute/core/printable.h"
#include "compute/gpu/nvml/nvml_readings.h"
#include "compute/machine/nvidia_gpus.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

constexpr double kFastInterval_s = 0.1, kSlowInterval_s = 1;
constexpr double kShareOfCore = 0.002;  // separately for fast and slow readings
constexpr double kThroughputInterval_s = 5, kThroughputShareOfCore = 0.0005;
constexpr const char* kAsleep =
    LAB_TEXT("the GPU is asleep to save power; reading it would wake it");

double thread_cpu_s() {
  timespec t{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

PollCost operator+(const PollCost& a, const PollCost& b) {
  return {a.cpu_s + b.cpu_s, a.elapsed_s + b.elapsed_s};
}

template <typename T>
void set_missing(Maybe<T>& value, const std::string& why) {
  value = Maybe<T>::missing(why);
}

// Sets all facts of a GPU to missing because NVML reports no data for it.
void leave_out(GpuFacts& facts, const std::string& why) {
  facts.unread = why;
  for_each_gpu_fact(
      [&](auto member, const char*, const auto&) { set_missing(facts.*member, why); });
}

void leave_out(GpuTelemetry& reading, const std::string& why) {
  for_each_gpu_reading(
      [&](auto member, const char*, const auto&) { set_missing(reading.*member, why); });
}

void add_peer(GpuFacts& facts, GpuPeer peer) {
  const auto known = std::find_if(facts.peers.begin(), facts.peers.end(), [&](const GpuPeer& p) {
    return p.pci_bus_id == peer.pci_bus_id;
  });
  if (known == facts.peers.end()) {
    facts.peers.push_back(std::move(peer));
  } else {
    *known = std::move(peer);
  }
}

}  // namespace

struct GpuMonitor::Impl {
  struct Gpu {
    std::string pci_bus_id;
    nvml::Handle handle = nullptr;  // set once the GPU is awake and NVML offers it
    std::string failure;            // why it has no handle and will not get one
    bool throughput_read = false;   // since the GPU woke
    GpuTelemetry last;
  };

  explicit Impl(GpuMonitorOptions o) : options(std::move(o)) {
    if (!options.now_s) options.now_s = monotonic_s;
    if (!options.spent) options.spent = [] { return PollCost{thread_cpu_s(), monotonic_s()}; };
  }

  // Returns what the calling thread spends on `work`.
  template <typename Work>
  PollCost cost_of(const Work& work) const {
    const PollCost begin = options.spent();
    work();
    const PollCost end = options.spent();
    return {end.cpu_s - begin.cpu_s, end.elapsed_s - begin.elapsed_s};
  }

  Gpu& add_gpu(const std::string& pci_bus_id, const std::string& name);
  bool look_for_sleepers();
  bool open_gpus();
  void open_by_index();
  void open_by_address(Gpu& gpu);
  void describe();
  void read_awake(bool slowly);
  void read_next_throughput();
  void name_processes(GpuTelemetry& reading) const;

  GpuMonitorOptions options;
  std::unique_ptr<nvml::Session> session;
  bool looked = false;
  std::vector<Gpu> gpus;
  std::vector<GpuFacts> facts;  // parallel to `gpus`
  int version = 0;
  PollBudget fast{kFastInterval_s, kShareOfCore}, slow{kSlowInterval_s, kShareOfCore};
  PollBudget throughput{kThroughputInterval_s, kThroughputShareOfCore};
  std::size_t throughput_turn = 0;
};

GpuMonitor::Impl::Gpu& GpuMonitor::Impl::add_gpu(const std::string& pci_bus_id,
                                                 const std::string& name) {
  GpuFacts& known = facts.emplace_back();
  known.pci_bus_id = pci_bus_id;
  known.name = name;
  Gpu& gpu = gpus.emplace_back();
  gpu.pci_bus_id = gpu.last.pci_bus_id = pci_bus_id;
  return gpu;
}

// Updates the sleep states; returns true if a sleeping GPU woke.
bool GpuMonitor::Impl::look_for_sleepers() {
  bool woke = false;
  for (Gpu& gpu : gpus) {
    const bool slept = std::exchange(gpu.last.asleep, is_asleep(options.root, gpu.pci_bus_id));
    if (gpu.last.asleep) gpu.throughput_read = false;
    woke = woke || (slept && !gpu.last.asleep);
  }
  return woke;
}

// Opens the handles of GPUs that are awake; returns true if anything new was learned. Opening a
// handle initialises the GPU, which wakes it, and opening by index may also touch other GPUs, so
// GPUs are opened by index only while none sleeps.
bool GpuMonitor::Impl::open_gpus() {
  const auto sleeps = [](const Gpu& gpu) { return gpu.last.asleep; };
  const auto waits = [](const Gpu& gpu) {
    return gpu.handle == nullptr && gpu.failure.empty() && !gpu.last.asleep;
  };
  const bool first = !std::exchange(looked, true);
  if (!first && std::none_of(gpus.begin(), gpus.end(), waits)) return false;
  if (!gpus.empty() && std::all_of(gpus.begin(), gpus.end(), sleeps)) return first;
  if (!session) session = std::make_unique<nvml::Session>(options.library);
  if (!session->failure().empty()) {
    for (Gpu& gpu : gpus) gpu.failure = session->failure();
    return true;
  }
  if (first && std::none_of(gpus.begin(), gpus.end(), sleeps)) open_by_index();
  for (Gpu& gpu : gpus) {
    if (waits(gpu)) open_by_address(gpu);
  }
  return true;
}

// Also finds GPUs that kernel files do not show (WSL 2, some containers).
void GpuMonitor::Impl::open_by_index() {
  int index = 0;
  for (const nvml::Handle handle : nvml::open_all(*session)) {
    const std::string address =
        nvml::read_bus_id(*session, handle).value_or(fmt::format("NVML index {}", index++));
    const auto found = std::find_if(gpus.begin(), gpus.end(),
                                    [&](const Gpu& c) { return c.pci_bus_id == address; });
    Gpu& gpu = found == gpus.end() ? add_gpu(address, "NVIDIA GPU") : *found;
    gpu.handle = handle;
  }
}

void GpuMonitor::Impl::open_by_address(Gpu& gpu) {
  const Maybe<nvml::Handle> handle = nvml::open_at(*session, gpu.pci_bus_id);
  gpu.handle = handle.value_or(nullptr);
  if (!handle) gpu.failure = handle.reason();
}

void GpuMonitor::Impl::describe() {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Gpu& gpu = gpus[i];
    GpuFacts& known = facts[i];
    const bool read_before = known.unread.empty() && known.driver_version;
    if (gpu.handle != nullptr && !gpu.last.asleep && !read_before) {
      known = nvml::read_facts(*session, gpu.handle);
      known.pci_bus_id = gpu.pci_bus_id;
    } else if (gpu.handle == nullptr) {
      leave_out(known, gpu.failure.empty() ? tr(kAsleep) : gpu.failure);
    }
    known.numa_node = read_numa_node(options.root, gpu.pci_bus_id);
    known.near_cpus = read_local_cpus(options.root, gpu.pci_bus_id);
    for (const Gpu& other : gpus) {
      if (&other == &gpu || gpu.handle == nullptr || other.handle == nullptr) continue;
      if (gpu.last.asleep || other.last.asleep) continue;
      add_peer(known, nvml::read_peer(*session, gpu.handle, other.handle, other.pci_bus_id));
    }
  }
  ++version;
}

void GpuMonitor::Impl::read_awake(bool slowly) {
  for (Gpu& gpu : gpus) {
    if (gpu.handle == nullptr || gpu.last.asleep) continue;
    if (slowly) {
      nvml::read_slow(*session, gpu.handle, gpu.last);
      name_processes(gpu.last);
    } else {
      nvml::read_fast(*session, gpu.handle, gpu.last);
    }
  }
}

// Reads the throughput of all GPUs that have not been read since they woke, otherwise of the next
// GPU in rotation: each read takes 40 ms.
void GpuMonitor::Impl::read_next_throughput() {
  bool first = false;
  const auto look = [this](Gpu& gpu) {
    nvml::read_throughput(*session, gpu.handle, gpu.last);
    gpu.throughput_read = true;
  };
  const auto awake = [](const Gpu& gpu) { return gpu.handle != nullptr && !gpu.last.asleep; };
  for (Gpu& gpu : gpus) {
    if (!awake(gpu) || gpu.throughput_read) continue;
    look(gpu);
    first = true;
  }
  for (std::size_t tried = 0; tried < gpus.size() && !first; ++tried) {
    Gpu& gpu = gpus[throughput_turn++ % gpus.size()];
    if (!awake(gpu)) continue;
    look(gpu);
    break;
  }
}

// Takes the names from /proc, since NVML reports whole paths. A process can choose its own name, so
// printable() sanitises it.
void GpuMonitor::Impl::name_processes(GpuTelemetry& reading) const {
  if (!reading.processes) return;
  std::vector<GpuProcess> named = *reading.processes;
  for (GpuProcess& process : named) {
    const auto name = read_text(fmt::format("{}/proc/{}/comm", options.root, process.pid));
    process.name = name ? Maybe<std::string>(printable(*name))
                        : Maybe<std::string>::missing(
                              tr("the process cannot be seen from here (another container?)"));
  }
  reading.processes = std::move(named);
}

GpuMonitor::GpuMonitor(GpuMonitorOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

GpuMonitor::~GpuMonitor() = default;

std::vector<GpuTelemetry> GpuMonitor::read(double t_s) {
  Impl& m = *impl_;
  const double now_s = m.options.now_s();
  if (m.fast.due(now_s)) {
    if (!m.looked) {
      for (const NvidiaGpu& gpu : find_nvidia_gpus(m.options.root)) {
        m.add_gpu(gpu.pci_bus_id, gpu.name);
      }
    }
    bool woke = false;
    const PollCost looking = m.cost_of([&] { woke = m.look_for_sleepers(); });
    if (m.open_gpus()) m.describe();
    const PollCost reading = m.cost_of([&] { m.read_awake(false); });
    m.fast.spent(now_s, looking + reading);
    if (woke || m.slow.due(now_s)) {
      m.slow.spent(now_s, m.cost_of([&] { m.read_awake(true); }));
    }
    if (woke || m.throughput.due(now_s)) {
      m.throughput.spent(now_s, m.cost_of([&] { m.read_next_throughput(); }));
    }
    for (Impl::Gpu& gpu : m.gpus) {
      gpu.last.t_s = t_s;
      if (gpu.last.asleep) {
        leave_out(gpu.last, tr(kAsleep));
      } else if (gpu.handle == nullptr) {
        leave_out(gpu.last, gpu.failure);
      }
    }
  }
  std::vector<GpuTelemetry> readings;
  readings.reserve(m.gpus.size());
  for (const Impl::Gpu& gpu : m.gpus) readings.push_back(gpu.last);
  return readings;
}

const std::vector<GpuFacts>& GpuMonitor::facts() const {
  return impl_->facts;
}

int GpuMonitor::facts_version() const {
  return impl_->version;
}

}  // namespace lab
