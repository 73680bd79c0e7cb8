#include "compute/experiments/transfers/gpu_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/core/units.h"
#include "compute/experiments/transfers/gpu_chase.h"

namespace lab {
namespace {

// One pair of devices and what is asked of it.
class PairPlan {
 public:
  PairPlan(TransferPlan& plan, const StartTransfers& request, DeviceContext& from,
           DeviceContext& to)
      : plan_(plan), request_(request), from_(from), to_(to) {}

  void add_all() {
    skip_processor_ops();
    const bool from_host = from_.gpu() == nullptr, to_host = to_.gpu() == nullptr;
    if (from_host || to_host) {
      for (const MemoryKind memory : host_memory()) add_link(memory, from_host);
      if (from_host && wants(TransferOp::Overlap)) plan_.overlaps.push_back(to_.device());
    } else if (from_.device() == to_.device()) {
      add_within();
    } else {
      add_peers();
    }
  }

 private:
  bool wants(TransferOp op) const {
    return std::find(request_.ops.begin(), request_.ops.end(), op) != request_.ops.end();
  }

  std::vector<MemoryKind> host_memory() const {
    const auto has = [&](MemoryKind kind) {
      return request_.memory.empty() || std::find(request_.memory.begin(), request_.memory.end(),
                                                  kind) != request_.memory.end();
    };
    std::vector<MemoryKind> kinds;
    for (const MemoryKind kind : {MemoryKind::Pageable, MemoryKind::Pinned}) {
      if (has(kind)) kinds.push_back(kind);
    }
    return kinds;
  }

  TransferSeries series(TransferOp op, MemoryKind memory, TransferMover mover,
                        PeerWay peer = PeerWay::None) const {
    return {from_.device(), to_.device(), memory, op, 1, mover, peer};
  }
  void add(const TransferSeries& series) {
    plan_.series.push_back(series);
    const auto unfit =
        std::count_if(plan_.sizes_bytes.begin(), plan_.sizes_bytes.end(),
                      [&](std::int64_t bytes) { return !takes_size(series, bytes); });
    if (unfit == 0) return;
    skip(series, series.op == TransferOp::Chase
                     ? fmt::format("left out at {} of {} sizes: a chase takes {} to {}", unfit,
                                   plan_.sizes_bytes.size(), format_bytes(kLeastChase_bytes),
                                   format_bytes(kMostChase_bytes))
                     : fmt::format("left out at {} of {} sizes: they do not divide into {} pieces "
                                   "of whole 16 bytes",
                                   unfit, plan_.sizes_bytes.size(), kTransferPieces));
  }
  void add_if_wanted(TransferOp op, MemoryKind memory, TransferMover mover) {
    if (wants(op)) add(series(op, memory, mover));
  }
  void skip(const TransferSeries& series, std::string reason) {
    plan_.skipped.push_back({describe_gpu_series(series), std::move(reason)});
  }

  void skip_processor_ops() {
    std::vector<TransferOp> ops;
    for (const TransferOp op : {TransferOp::Read, TransferOp::Write, TransferOp::Triad}) {
      if (wants(op)) ops.push_back(op);
    }
    if (ops.empty()) return;
    plan_.skipped.push_back({pair_name(from_.device(), to_.device()) + ", " + names_of(ops),
                             "these are done by the threads of one CPU device"});
  }

  // Between the host and a GPU.
  void add_link(MemoryKind memory, bool from_host) {
    const bool pinned = memory == MemoryKind::Pinned;
    const auto add_pinned = [&](TransferOp op, TransferMover mover, const char* reason) {
      if (!wants(op)) return;
      const TransferSeries one = series(op, memory, mover);
      pinned ? add(one) : skip(one, reason);
    };
    constexpr const char* kKernelNeedsPinned =
        "a kernel reaches host memory only where it is pinned; choose pinned memory";
    add_if_wanted(TransferOp::Copy, memory, TransferMover::CopyEngine);
    add_pinned(TransferOp::Copy, TransferMover::Kernel, kKernelNeedsPinned);
    add_if_wanted(TransferOp::Pieces, memory, TransferMover::CopyEngine);
    add_pinned(TransferOp::Pieces, TransferMover::Kernel, kKernelNeedsPinned);
    if (!from_host) return;  // the cases that follow are the same from either end
    add_pinned(TransferOp::Both, TransferMover::CopyEngine,
               "the driver moves pageable memory one way at a time; choose pinned memory");
    add_pinned(TransferOp::Both, TransferMover::Kernel, kKernelNeedsPinned);
    add_pinned(TransferOp::Chase, TransferMover::Kernel, kKernelNeedsPinned);
  }

  void add_within() {
    constexpr MemoryKind kMemory = MemoryKind::OnGpu;
    for (const TransferOp op : {TransferOp::Copy, TransferOp::Pieces}) {
      add_if_wanted(op, kMemory, TransferMover::CopyEngine);
      add_if_wanted(op, kMemory, TransferMover::Kernel);
    }
    add_if_wanted(TransferOp::Chase, kMemory, TransferMover::Kernel);
    if (wants(TransferOp::Both)) {
      skip(series(TransferOp::Both, kMemory, TransferMover::CopyEngine),
           "a copy within one GPU has no other direction");
    }
  }

  void add_direct(TransferOp op, TransferMover mover, PeerWay way) {
    if (!wants(op)) return;
    const TransferSeries one = series(op, MemoryKind::OnGpu, mover, way);
    DeviceContext& worker = way == PeerWay::Read ? to_ : from_;
    DeviceContext& other = way == PeerWay::Read ? from_ : to_;
    std::string reason = why_out_of_reach(worker, other);
    // Of copies both ways each direction has its own worker.
    if (reason.empty() && op == TransferOp::Both) reason = why_out_of_reach(other, worker);
    reason.empty() ? add(one) : skip(one, std::move(reason));
  }

  static std::string why_out_of_reach(DeviceContext& worker, DeviceContext& other) {
    if (worker.gpu()->can_access(*other.gpu())) return "";
    return fmt::format("{} cannot reach the memory of {} directly", to_string(worker.device()),
                       to_string(other.device()));
  }

  void add_peers() {
    for (const TransferMover mover : {TransferMover::CopyEngine, TransferMover::Kernel}) {
      for (const TransferOp op : {TransferOp::Copy, TransferOp::Both}) {
        add_direct(op, mover, PeerWay::Write);
        add_direct(op, mover, PeerWay::Read);
      }
      add_direct(TransferOp::Pieces, mover, PeerWay::Write);
    }
    for (const PeerWay way : {PeerWay::WriteThroughHost, PeerWay::ReadThroughHost}) {
      if (!wants(TransferOp::Copy)) continue;
      add(series(TransferOp::Copy, MemoryKind::OnGpu, TransferMover::CopyEngine, way));
      skip(series(TransferOp::Copy, MemoryKind::OnGpu, TransferMover::Kernel, way),
           "a kernel needs peer access to reach another GPU's memory");
    }
    add_direct(TransferOp::Chase, TransferMover::Kernel, PeerWay::Read);
  }

  TransferPlan& plan_;
  const StartTransfers& request_;
  DeviceContext& from_;
  DeviceContext& to_;
};

// "chase, both": those of `ops` that the request asks for.
std::string wanted_names(const StartTransfers& request, std::vector<TransferOp> ops) {
  std::erase_if(ops, [&](TransferOp op) {
    return std::find(request.ops.begin(), request.ops.end(), op) == request.ops.end();
  });
  return names_of(ops);
}

bool takes_gpus(const std::vector<Device>& asked) {
  return asked.empty() || std::any_of(asked.begin(), asked.end(),
                                      [](Device device) { return device.kind != DeviceKind::Cpu; });
}

// Why the machine has no GPU, each reason once.
std::string why_no_gpu(const MachineInfo& machine) {
  std::string reasons;
  for (const AbsentDevice& absent : machine.absent) {
    if (reasons.find(absent.reason) != std::string::npos) continue;
    reasons += (reasons.empty() ? "" : "; ") + absent.reason;
  }
  return reasons.empty() ? "the machine has none" : reasons;
}

}  // namespace

void skip_missing_gpus(TransferPlan& plan, const StartTransfers& request, Machine& machine) {
  if (!request.from.empty() && !request.to.empty()) return;
  const auto skip = [&](const char* where, std::vector<TransferOp> ops, std::string reason) {
    const std::string names = wanted_names(request, std::move(ops));
    if (!names.empty()) plan.skipped.push_back({where + (", " + names), std::move(reason)});
  };
  using enum TransferOp;
  if (machine.num_gpus() == 0) {
    skip("with a GPU", {Copy, Both, Pieces, Chase, Overlap},
         "no GPU: " + why_no_gpu(machine.info()));
  } else if (machine.num_gpus() == 1 && takes_gpus(request.from) && takes_gpus(request.to)) {
    skip("between two GPUs", {Copy, Both, Pieces, Chase}, "the lab computes on one GPU");
  }
}

void plan_gpu_pair(TransferPlan& plan, const StartTransfers& request, DeviceContext& from,
                   DeviceContext& to) {
  PairPlan(plan, request, from, to).add_all();
}

std::string describe_gpu_series(const TransferSeries& series) {
  const std::string memory =
      series.memory == MemoryKind::OnGpu ? "" : std::string(", ") + to_string(series.memory);
  return fmt::format("{} {}{}, {}", to_string(series.op), pair_name(series.from, series.to), memory,
                     moved_by(series.mover, series.peer, series.threads));
}

}  // namespace lab
