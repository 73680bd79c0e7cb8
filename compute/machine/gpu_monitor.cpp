#include "compute/machine/gpu_monitor.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "compute/core/printable.h"
#include "compute/gpu/nvml/nvml_facts.h"
#include "compute/gpu/nvml/nvml_readings.h"
#include "compute/machine/nvidia_cards.h"
#include "compute/machine/poll_budget.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

constexpr double kFastInterval_s = 0.1, kSlowInterval_s = 1;
constexpr double kShareOfCore = 0.002;  // for the fast readings, and again for the slow ones
constexpr double kThroughputInterval_s = 5, kThroughputShareOfCore = 0.0005;
constexpr const char* kAsleep = "the card is asleep to save power; reading it would wake it";

double steady_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double thread_cpu_s() {
  timespec t{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// What this thread spends on `work`.
template <typename Work>
PollCost cost_of(const Work& work) {
  const double cpu_s = thread_cpu_s(), begin_s = steady_s();
  work();
  return {thread_cpu_s() - cpu_s, steady_s() - begin_s};
}

PollCost operator+(const PollCost& a, const PollCost& b) {
  return {a.cpu_s + b.cpu_s, a.elapsed_s + b.elapsed_s};
}

template <typename... T>
void set_missing(const std::string& why, Maybe<T>&... fields) {
  ((fields = Maybe<T>::missing(why)), ...);
}

// Facts of a card that NVML tells nothing of.
void leave_out(GpuFacts& f, const std::string& why) {
  f.unread = why;
  set_missing(why, f.architecture, f.compute_capability, f.sms, f.cuda_cores, f.memory_total_bytes,
              f.memory_bus_bits, f.sm_clock_max_mhz, f.graphics_clock_max_mhz,
              f.memory_clock_max_mhz, f.video_clock_max_mhz, f.power_limits, f.uuid, f.serial,
              f.vbios_version, f.slowdown_c, f.pcie_best, f.nvlinks, f.ecc, f.mig, f.driver_version,
              f.cuda_version, f.runtime_version);
}

void leave_out(GpuTelemetry& t, const std::string& why) {
  set_missing(why, t.utilisation, t.memory_utilisation, t.encoder_utilisation,
              t.decoder_utilisation, t.sm_clock_mhz, t.graphics_clock_mhz, t.memory_clock_mhz,
              t.video_clock_mhz, t.pcie_received_bytes_per_s, t.pcie_sent_bytes_per_s,
              t.persistence_mode, t.compute_mode, t.display_active, t.memory_total_bytes,
              t.memory_used_bytes, t.memory_free_bytes, t.power_w, t.power_limit_w, t.temperature_c,
              t.fan, t.performance_state, t.clock_limits, t.pcie, t.ecc_errors, t.processes);
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
  struct Card {
    std::string pci_bus_id;
    nvml::Handle handle = nullptr;  // once the card was seen awake and NVML offers it
    std::string failure;            // why it never gets one
    bool throughput_read = false;   // since it woke
    GpuTelemetry last;
  };

  explicit Impl(GpuMonitorOptions o) : options(std::move(o)) {
    if (!options.now_s) options.now_s = steady_s;
  }

  Card& add_card(const std::string& pci_bus_id, const std::string& name);
  bool look_for_sleepers();
  bool open_cards();
  void open_by_index();
  void open_by_address(Card& card);
  void describe();
  void read_awake(bool slowly);
  void read_next_throughput();
  void name_processes(GpuTelemetry& reading) const;

  GpuMonitorOptions options;
  std::unique_ptr<nvml::Session> session;
  bool looked = false;
  std::vector<Card> cards;
  std::vector<GpuFacts> facts;  // as cards
  int version = 0;
  PollBudget fast{kFastInterval_s, kShareOfCore}, slow{kSlowInterval_s, kShareOfCore};
  PollBudget throughput{kThroughputInterval_s, kThroughputShareOfCore};
  std::size_t throughput_turn = 0;
};

GpuMonitor::Impl::Card& GpuMonitor::Impl::add_card(const std::string& pci_bus_id,
                                                   const std::string& name) {
  GpuFacts& known = facts.emplace_back();
  known.pci_bus_id = pci_bus_id;
  known.name = name;
  Card& card = cards.emplace_back();
  card.pci_bus_id = card.last.pci_bus_id = pci_bus_id;
  return card;
}

// True when one woke that slept before.
bool GpuMonitor::Impl::look_for_sleepers() {
  bool woke = false;
  for (Card& card : cards) {
    const bool slept = std::exchange(card.last.asleep, is_asleep(options.root, card.pci_bus_id));
    if (card.last.asleep) card.throughput_read = false;
    woke = woke || (slept && !card.last.asleep);
  }
  return woke;
}

// Takes the handles of cards that are awake; true when something was learnt. NVML initialises a
// card when its handle is taken, which wakes it, and may come by others while it looks for an
// index: so it is asked by index only while nothing sleeps.
bool GpuMonitor::Impl::open_cards() {
  const auto sleeps = [](const Card& card) { return card.last.asleep; };
  const auto waits = [](const Card& card) {
    return card.handle == nullptr && card.failure.empty() && !card.last.asleep;
  };
  const bool first = !std::exchange(looked, true);
  if (!first && std::none_of(cards.begin(), cards.end(), waits)) return false;
  if (!cards.empty() && std::all_of(cards.begin(), cards.end(), sleeps)) return first;
  if (!session) session = std::make_unique<nvml::Session>(options.library);
  if (!session->failure().empty()) {
    for (Card& card : cards) card.failure = session->failure();
    return true;
  }
  if (first && std::none_of(cards.begin(), cards.end(), sleeps)) open_by_index();
  for (Card& card : cards) {
    if (waits(card)) open_by_address(card);
  }
  return true;
}

// Finds those too that files do not show (WSL 2, some containers).
void GpuMonitor::Impl::open_by_index() {
  const nvml::Functions& nvml = session->functions();
  unsigned count = 0;
  if (nvml.count(&count) != nvml::kSuccess) return;
  for (unsigned i = 0; i < count; ++i) {
    nvml::Handle handle = nullptr;
    if (nvml.by_index(i, &handle) != nvml::kSuccess) continue;
    const std::string address =
        nvml::read_bus_id(nvml, handle).value_or(fmt::format("NVML index {}", i));
    const auto found = std::find_if(cards.begin(), cards.end(),
                                    [&](const Card& c) { return c.pci_bus_id == address; });
    Card& card = found == cards.end() ? add_card(address, "NVIDIA GPU") : *found;
    card.handle = handle;
  }
}

void GpuMonitor::Impl::open_by_address(Card& card) {
  const nvml::Functions& nvml = session->functions();
  const int code = nvml.by_bus_id(card.pci_bus_id.c_str(), &card.handle);
  if (code == nvml::kSuccess) return;
  card.handle = nullptr;
  card.failure = code == nvml::kNotFound
                     ? "NVML does not offer this card to this process (a container's limits?)"
                     : nvml.by_bus_id.reason(code);
}

void GpuMonitor::Impl::describe() {
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const Card& card = cards[i];
    GpuFacts& known = facts[i];
    const bool read_before = known.unread.empty() && known.driver_version;
    if (card.handle != nullptr && !card.last.asleep && !read_before) {
      known = nvml::read_facts(session->functions(), card.handle);
      known.pci_bus_id = card.pci_bus_id;
    } else if (card.handle == nullptr) {
      leave_out(known, card.failure.empty() ? kAsleep : card.failure);
    }
    known.numa_node = read_numa_node(options.root, card.pci_bus_id);
    known.near_cpus = read_near_cpus(options.root, card.pci_bus_id);
    for (const Card& other : cards) {
      if (&other == &card || card.handle == nullptr || other.handle == nullptr) continue;
      if (card.last.asleep || other.last.asleep) continue;
      add_peer(known,
               nvml::read_peer(session->functions(), card.handle, other.handle, other.pci_bus_id));
    }
  }
  ++version;
}

void GpuMonitor::Impl::read_awake(bool slowly) {
  for (Card& card : cards) {
    if (card.handle == nullptr || card.last.asleep) continue;
    if (slowly) {
      nvml::read_slow(session->functions(), card.handle, card.last);
      name_processes(card.last);
    } else {
      nvml::read_fast(session->functions(), card.handle, card.last);
    }
  }
}

// Of the cards that it was never read of, else of one card a turn: each takes 40 ms.
void GpuMonitor::Impl::read_next_throughput() {
  bool first = false;
  const auto look = [this](Card& card) {
    nvml::read_throughput(session->functions(), card.handle, card.last);
    card.throughput_read = true;
  };
  const auto awake = [](const Card& card) { return card.handle != nullptr && !card.last.asleep; };
  for (Card& card : cards) {
    if (!awake(card) || card.throughput_read) continue;
    look(card);
    first = true;
  }
  for (std::size_t tried = 0; tried < cards.size() && !first; ++tried) {
    Card& card = cards[throughput_turn++ % cards.size()];
    if (!awake(card)) continue;
    look(card);
    break;
  }
}

// From /proc, since NVML's own names are whole paths. A process may give itself any name.
void GpuMonitor::Impl::name_processes(GpuTelemetry& reading) const {
  if (!reading.processes) return;
  std::vector<GpuProcess> named = *reading.processes;
  for (GpuProcess& process : named) {
    const auto name = read_text(fmt::format("{}/proc/{}/comm", options.root, process.pid));
    process.name = name ? Maybe<std::string>(printable(*name))
                        : Maybe<std::string>::missing(
                              "the process cannot be seen from here (another container?)");
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
      for (const NvidiaCard& card : find_nvidia_cards(m.options.root)) {
        m.add_card(card.pci_bus_id, card.name);
      }
    }
    bool woke = false;
    const PollCost looking = cost_of([&] { woke = m.look_for_sleepers(); });
    if (m.open_cards()) m.describe();
    const PollCost reading = cost_of([&] { m.read_awake(false); });
    m.fast.spent(now_s, looking + reading);
    if (woke || m.slow.due(now_s)) {
      m.slow.spent(now_s, cost_of([&] { m.read_awake(true); }));
    }
    if (woke || m.throughput.due(now_s)) {
      m.throughput.spent(now_s, cost_of([&] { m.read_next_throughput(); }));
    }
    for (Impl::Card& card : m.cards) {
      card.last.t_s = t_s;
      if (card.last.asleep) {
        leave_out(card.last, kAsleep);
      } else if (card.handle == nullptr) {
        leave_out(card.last, card.failure);
      }
    }
  }
  std::vector<GpuTelemetry> readings;
  readings.reserve(m.cards.size());
  for (const Impl::Card& card : m.cards) readings.push_back(card.last);
  return readings;
}

const std::vector<GpuFacts>& GpuMonitor::facts() const {
  return impl_->facts;
}

int GpuMonitor::facts_version() const {
  return impl_->version;
}

}  // namespace lab
