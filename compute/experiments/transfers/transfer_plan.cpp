#include "compute/experiments/transfers/transfer_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/events/measured_cases.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace {

constexpr std::int64_t kElement = sizeof(double);
constexpr std::int64_t kPieceAlignment_bytes = 16;
constexpr std::int64_t kLeastChase_bytes = 256;  // two nodes
constexpr std::int64_t kMaxChase_bytes = 256 * kMiB;
constexpr std::int64_t kQuickLargest_bytes = 128 * kMiB;

template <typename T>
bool contains(const std::vector<T>& items, const T& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

// Keeps the order and removes duplicates.
template <typename T>
std::vector<T> distinct(const std::vector<T>& items) {
  std::vector<T> kept;
  for (const T& item : items) {
    if (!contains(kept, item)) kept.push_back(item);
  }
  return kept;
}

std::vector<std::int64_t> sizes_of(const StartTransfers& request) {
  std::vector<std::int64_t> sizes = request.sizes_bytes;
  if (request.quick) sizes.clear();
  if (sizes.empty()) {
    const std::int64_t largest = request.quick ? kQuickLargest_bytes : kGiB;
    for (std::int64_t bytes = kKiB; bytes <= largest; bytes *= 2) sizes.push_back(bytes);
  }
  for (const std::int64_t bytes : sizes) {
    if (bytes > 0 && bytes % kElement == 0) continue;
    throw Error(Errc::Usage,
                trf("transfer: a size of {} bytes cannot be measured; sizes are positive "
                    "multiples of 8, the size of one double",
                    bytes));
  }
  if (request.live) sizes.resize(1);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

// Where no device was asked for, GPUs that cannot be used now are skipped.
std::vector<Device> devices_of(const std::vector<Device>& asked, Machine& machine,
                               std::vector<Skipped>& skipped) {
  if (asked.empty()) {
    std::vector<Device> devices = machine.devices();
    std::erase_if(devices, [&](Device device) {
      const std::optional<std::string> why = why_unusable(machine.at(device));
      if (why) skipped.push_back({to_string(device), *why});
      return why.has_value();
    });
    return devices;
  }
  for (const Device device : asked) machine.at(device);  // throws for unknown devices
  return distinct(asked);
}

// For example "cpu:0 -> cuda:0".
std::string pair_name(Device from, Device to) {
  return to_string(from) + " -> " + to_string(to);
}

// For example "read, triad".
std::string names_of(const std::vector<TransferOp>& ops) {
  std::string text;
  for (const TransferOp op : ops) text += std::string(text.empty() ? "" : ", ") + to_string(op);
  return text;
}

bool is_gpu_only(TransferOp op) {
  return op == TransferOp::Both || op == TransferOp::Pieces || op == TransferOp::Chase ||
         op == TransferOp::Overlap;
}

// Plans the requested operations of one pair of devices.
class PairPlan {
 public:
  PairPlan(TransferPlan& plan, const StartTransfers& request, DeviceContext& from,
           DeviceContext& to)
      : plan_(plan), request_(request), from_(from), to_(to) {}

  void add_all() {
    const bool from_host = from_.gpu() == nullptr, to_host = to_.gpu() == nullptr;
    if (from_host && to_host) return add_by_threads();
    skip_processor_ops();
    if (from_host || to_host) {
      for (const MemoryKind memory : host_memory()) add_link(memory);
      if (wants(TransferOp::Overlap)) plan_.overlaps.push_back(to_.device());
    } else if (from_.device() == to_.device()) {
      add_within();
    } else {
      add_peers();
    }
  }

 private:
  bool asks_for(TransferOp op) const { return contains(request_.ops, op); }
  bool wants(TransferOp op) const {
    return asks_for(op) && is_measured_between(op, from_.device(), to_.device());
  }

  // False if an open request (no `from` or no `to`) also covers a CPU device by itself: operations
  // that only CPU devices have are then not reported as skipped for this pair.
  bool pair_is_asked() const {
    const auto has_cpu = [](const std::vector<Device>& asked) {
      return asked.empty() || std::ranges::any_of(asked, [](Device d) { return !is_gpu(d); });
    };
    const bool open = request_.from.empty() || request_.to.empty();
    return !open || !has_cpu(request_.from) || !has_cpu(request_.to);
  }

  std::vector<MemoryKind> host_memory() const {
    std::vector<MemoryKind> kinds;
    for (const MemoryKind kind : {MemoryKind::Pageable, MemoryKind::Pinned}) {
      if (request_.memory.empty() || contains(request_.memory, kind)) kinds.push_back(kind);
    }
    return kinds;
  }

  TransferSeries series(TransferOp op, MemoryKind memory, TransferMover mover,
                        PeerMode peer = PeerMode::None) const {
    return {from_.device(), to_.device(), memory, op, 1, mover, peer};
  }
  void add(const TransferSeries& series) {
    plan_.series.push_back(series);
    const auto unfit =
        std::count_if(plan_.sizes_bytes.begin(), plan_.sizes_bytes.end(),
                      [&](std::int64_t bytes) { return !supports_size(series, bytes); });
    if (unfit == 0) return;
    skip(series, series.op == TransferOp::Chase
                     ? trf("skipped at {} of {} sizes: a chase needs {} to {}", unfit,
                           plan_.sizes_bytes.size(), format_bytes(kLeastChase_bytes),
                           format_bytes(kMaxChase_bytes))
                     : trf("skipped at {} of {} sizes: they do not divide into {} pieces "
                           "that are multiples of 16 bytes",
                           unfit, plan_.sizes_bytes.size(), kTransferPieces));
  }
  void add_if_wanted(TransferOp op, MemoryKind memory, TransferMover mover) {
    if (wants(op)) add(series(op, memory, mover));
  }
  void skip(const TransferSeries& series, std::string reason) {
    plan_.skipped.push_back({describe(series), std::move(reason)});
  }

  // Skips several cases of the pair for the same reason.
  void skip_pair(const std::string& cases, std::string reason) {
    plan_.skipped.push_back(
        {pair_name(from_.device(), to_.device()) + ", " + cases, std::move(reason)});
  }

  // Between CPU devices, or within one.
  void add_by_threads() {
    const std::vector<MemoryKind> memory =
        request_.memory.empty() ? std::vector{MemoryKind::Pageable} : distinct(request_.memory);
    for (const MemoryKind kind : memory) {
      if (kind == MemoryKind::Pinned) {
        skip_pair(to_string(kind),
                  tr("pinned memory affects only transfers to and from a GPU, not copies between "
                     "CPU devices"));
      } else {
        add_by_threads(kind);
      }
    }
  }
  void add_by_threads(MemoryKind memory) {
    const Device from = from_.device(), to = to_.device();
    const int all_threads = static_cast<int>(to_.info().cores.size());
    // Operations of GPUs are left to pairs with a GPU, and reported here only if nothing else is
    // requested.
    std::vector<TransferOp> ops = distinct(request_.ops);
    std::erase_if(ops, is_gpu_only);
    if (ops.empty()) {
      skip_pair(names_of(distinct(request_.ops)),
                tr("these need a GPU; choose one on either side"));
    }
    std::vector<TransferOp> left_out;
    for (const TransferOp op : ops) {
      if (!is_measured_between(op, from, to)) {
        left_out.push_back(op);
        continue;
      }
      if (request_.one_thread) plan_.series.push_back({from, to, memory, op, 1});
      // On a single thread, "all threads" would repeat the same series.
      if (request_.all_threads && (all_threads > 1 || !request_.one_thread)) {
        plan_.series.push_back({from, to, memory, op, all_threads});
      }
    }
    if (left_out.empty() || !pair_is_asked()) return;
    skip_pair(names_of(left_out),
              tr("these access the memory of one device; choose the same source and target"));
  }

  void skip_processor_ops() {
    std::vector<TransferOp> ops;
    for (const TransferOp op : {TransferOp::Read, TransferOp::Write, TransferOp::Triad}) {
      if (asks_for(op)) ops.push_back(op);
    }
    if (ops.empty() || !pair_is_asked()) return;
    skip_pair(names_of(ops), tr("these run on the threads of one CPU device"));
  }

  // Between the host and a GPU. Cases that need pinned memory are not reported as skipped where
  // every kind of memory is measured.
  void add_link(MemoryKind memory) {
    const bool pinned = memory == MemoryKind::Pinned;
    const auto add_pinned = [&](TransferOp op, TransferMover mover, const char* reason) {
      if (!wants(op)) return;
      const TransferSeries one = series(op, memory, mover);
      if (pinned) {
        add(one);
      } else if (!request_.memory.empty()) {
        skip(one, reason);
      }
    };
    const char* kernel_needs_pinned =
        tr("a kernel can access host memory only if it is pinned; choose pinned memory");
    add_if_wanted(TransferOp::Copy, memory, TransferMover::CopyEngine);
    add_pinned(TransferOp::Copy, TransferMover::Kernel, kernel_needs_pinned);
    add_if_wanted(TransferOp::Pieces, memory, TransferMover::CopyEngine);
    add_pinned(TransferOp::Pieces, TransferMover::Kernel, kernel_needs_pinned);
    add_pinned(
        TransferOp::Both, TransferMover::CopyEngine,
        tr("the driver copies pageable memory one direction at a time; choose pinned memory"));
    add_pinned(TransferOp::Both, TransferMover::Kernel, kernel_needs_pinned);
    add_pinned(TransferOp::Chase, TransferMover::Kernel, kernel_needs_pinned);
  }

  void add_within() {
    constexpr MemoryKind kMemory = MemoryKind::OnGpu;
    for (const TransferOp op : {TransferOp::Copy, TransferOp::Pieces}) {
      add_if_wanted(op, kMemory, TransferMover::CopyEngine);
      add_if_wanted(op, kMemory, TransferMover::Kernel);
    }
    add_if_wanted(TransferOp::Chase, kMemory, TransferMover::Kernel);
    if (asks_for(TransferOp::Both)) {
      skip(series(TransferOp::Both, kMemory, TransferMover::CopyEngine),
           tr("a copy within one GPU has no reverse direction"));
    }
  }

  void add_direct(TransferOp op, TransferMover mover, PeerMode way) {
    if (!wants(op)) return;
    const TransferSeries one = series(op, MemoryKind::OnGpu, mover, way);
    DeviceContext& worker = way == PeerMode::Read ? to_ : from_;
    DeviceContext& other = way == PeerMode::Read ? from_ : to_;
    std::string reason = why_out_of_reach(worker, other);
    // In copies both ways, each direction has its own worker.
    if (reason.empty() && op == TransferOp::Both) reason = why_out_of_reach(other, worker);
    reason.empty() ? add(one) : skip(one, std::move(reason));
  }

  static std::string why_out_of_reach(DeviceContext& worker, DeviceContext& other) {
    if (worker.gpu()->can_access(*other.gpu())) return "";
    return trf("{} cannot access the memory of {} directly", to_string(worker.device()),
               to_string(other.device()));
  }

  void add_peers() {
    for (const TransferMover mover : {TransferMover::CopyEngine, TransferMover::Kernel}) {
      for (const TransferOp op : {TransferOp::Copy, TransferOp::Both}) {
        add_direct(op, mover, PeerMode::Write);
        add_direct(op, mover, PeerMode::Read);
      }
      add_direct(TransferOp::Pieces, mover, PeerMode::Write);
    }
    for (const PeerMode way : {PeerMode::WriteThroughHost, PeerMode::ReadThroughHost}) {
      if (!wants(TransferOp::Copy)) continue;
      add(series(TransferOp::Copy, MemoryKind::OnGpu, TransferMover::CopyEngine, way));
      skip(series(TransferOp::Copy, MemoryKind::OnGpu, TransferMover::Kernel, way),
           tr("a kernel needs peer access for another GPU's memory"));
    }
    add_direct(TransferOp::Chase, TransferMover::Kernel, PeerMode::Read);
  }

  TransferPlan& plan_;
  const StartTransfers& request_;
  DeviceContext& from_;
  DeviceContext& to_;
};

// The reasons why the machine has no GPU, without duplicates.
std::string why_no_gpu(const MachineInfo& machine) {
  std::string reasons;
  for (const AbsentDevice& absent : machine.absent) {
    if (reasons.find(absent.reason) != std::string::npos) continue;
    reasons += (reasons.empty() ? "" : "; ") + absent.reason;
  }
  return reasons.empty() ? tr("the machine has none") : reasons;
}

// Adds one reason for the operations of GPUs that an open request (no `from` or no `to`) would run
// on a GPU that the machine does not have. Copies are measured without one.
void skip_missing_gpus(TransferPlan& plan, const StartTransfers& request, Machine& machine) {
  const bool open = request.from.empty() || request.to.empty();
  if (!open || machine.gpus() != nullptr) return;
  std::vector<TransferOp> ops = request.ops;
  std::erase_if(ops, [](TransferOp op) { return !is_gpu_only(op); });
  if (ops.empty()) return;
  plan.skipped.push_back({names_of(ops) + " " + tr("with a GPU"), why_no_gpu(machine.info())});
}

}  // namespace

TransferPlan plan_transfers(const StartTransfers& wanted, Machine& machine) {
  StartTransfers request = wanted;
  if (request.quick) request.ops = {TransferOp::Copy};
  if (!request.one_thread && !request.all_threads) {
    throw Error(Errc::Usage, tr("transfer: neither one thread nor all threads is selected; select "
                                "at least one"));
  }
  require_timed("transfer", request.from);
  require_timed("transfer", request.to);
  TransferPlan plan;
  plan.sizes_bytes = sizes_of(request);
  std::vector<Skipped> again;  // the same GPUs on the other side
  const std::vector<Device> from_devices = devices_of(request.from, machine, plan.skipped);
  const std::vector<Device> to_devices =
      devices_of(request.to, machine, request.from.empty() ? again : plan.skipped);
  for (const Device from : from_devices) {
    for (const Device to : to_devices) {
      if (!is_timed(from) || !is_timed(to)) {
        plan.skipped.push_back({pair_name(from, to), tr(kNeverTimed)});
        continue;
      }
      PairPlan(plan, request, machine.at(from), machine.at(to)).add_all();
    }
  }
  skip_missing_gpus(plan, request, machine);
  std::stable_partition(plan.series.begin(), plan.series.end(),
                        [](const TransferSeries& s) { return s.op == TransferOp::Copy; });
  return plan;
}

std::int64_t moved_bytes(const TransferSeries& series, std::int64_t bytes) {
  if (series.mover == TransferMover::Threads) return array_count(series.op) * bytes;
  if (series.op == TransferOp::Chase) return sizeof(std::uint32_t);
  const bool read_and_written = series.from == series.to || series.op == TransferOp::Both;
  return read_and_written ? 2 * bytes : bytes;
}

bool supports_size(const TransferSeries& series, std::int64_t bytes) {
  if (series.op == TransferOp::Pieces)
    return bytes % (kTransferPieces * kPieceAlignment_bytes) == 0;
  if (series.op != TransferOp::Chase) return true;
  return bytes >= kLeastChase_bytes && bytes <= kMaxChase_bytes;
}

Device working_gpu(const TransferSeries& series) {
  const bool reads = series.peer == PeerMode::Read || series.peer == PeerMode::ReadThroughHost;
  if (series.from.kind == DeviceKind::Cpu || reads) return series.to;
  return series.from;
}

std::string describe(const TransferSeries& series) {
  const bool with_gpu = is_gpu(series.from) || is_gpu(series.to);
  const std::string memory = !with_gpu || series.memory == MemoryKind::OnGpu
                                 ? ""
                                 : std::string(", ") + to_string(series.memory);
  return fmt::format("{} {}{}, {}", to_string(series.op), pair_name(series.from, series.to), memory,
                     moved_by(series.mover, series.peer, series.threads));
}

std::string describe(const TransferSeries& series, std::int64_t bytes) {
  return describe(series) + ", " + format_bytes(bytes);
}

}  // namespace lab
