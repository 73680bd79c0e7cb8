#include "compute/experiments/transfers/transfer_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/gpu_cases.h"
#include "compute/experiments/transfers/gpu_chase.h"

namespace lab {
namespace {

constexpr std::int64_t kElement = sizeof(double);

// In their order, each once.
template <typename T>
std::vector<T> distinct(const std::vector<T>& items) {
  std::vector<T> kept;
  for (const T& item : items) {
    if (std::find(kept.begin(), kept.end(), item) == kept.end()) kept.push_back(item);
  }
  return kept;
}

std::vector<std::int64_t> sizes_of(const StartTransfers& request) {
  std::vector<std::int64_t> sizes = request.sizes_bytes;
  if (sizes.empty()) {
    for (std::int64_t bytes = kKiB; bytes <= kGiB; bytes *= 2) sizes.push_back(bytes);
  }
  for (const std::int64_t bytes : sizes) {
    if (bytes > 0 && bytes % kElement == 0) continue;
    throw Error(Errc::Usage,
                fmt::format("transfer: a size of {} bytes cannot be measured; sizes are positive "
                            "multiples of 8, the size of one double",
                            bytes));
  }
  if (request.live) sizes.resize(1);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<Device> devices_of(const std::vector<Device>& asked, Machine& machine) {
  if (asked.empty()) return machine.devices();
  for (const Device device : asked) machine.at(device);  // throws for what is not there
  return distinct(asked);
}

bool for_gpus_alone(TransferOp op) {
  return op == TransferOp::Both || op == TransferOp::Pieces || op == TransferOp::Chase ||
         op == TransferOp::Overlap;
}

// What CPU devices can be asked for; the operations of GPUs are left to their own pairs, unless
// nothing else is wanted.
std::vector<TransferOp> cpu_ops(const StartTransfers& request) {
  std::vector<TransferOp> ops = distinct(request.ops);
  ops.erase(std::remove_if(ops.begin(), ops.end(), for_gpus_alone), ops.end());
  return ops;
}

// The reason why nothing can be measured between two CPU devices with such memory, or "".
std::string impossible(MemoryKind memory) {
  if (memory == MemoryKind::Pinned) {
    return "pinned memory only changes transfers to and from a GPU; between CPU devices every copy "
           "is an ordinary one";
  }
  return "";
}

void add_pair(TransferPlan& plan, const StartTransfers& request, Device from, Device to,
              MemoryKind memory, int all_threads) {
  if (const std::string reason = impossible(memory); !reason.empty()) {
    plan.skipped.push_back({pair_name(from, to) + ", " + to_string(memory), reason});
    return;
  }
  const std::vector<TransferOp> ops = cpu_ops(request);
  if (ops.empty()) {
    plan.skipped.push_back({pair_name(from, to) + ", " + names_of(distinct(request.ops)),
                            "these need a GPU; choose one on one side"});
  }
  std::vector<TransferOp> left_out;
  for (const TransferOp op : ops) {
    if (op != TransferOp::Copy && from != to) {
      left_out.push_back(op);
      continue;
    }
    if (request.one_thread) plan.series.push_back({from, to, memory, op, 1});
    // With a single thread "all" is the same series again.
    if (request.all_threads && (all_threads > 1 || !request.one_thread)) {
      plan.series.push_back({from, to, memory, op, all_threads});
    }
  }
  if (!left_out.empty()) {
    plan.skipped.push_back({pair_name(from, to) + ", " + names_of(left_out),
                            "these touch the memory of one device; choose the same device on both "
                            "sides"});
  }
}

}  // namespace

TransferPlan plan_transfers(const StartTransfers& request, Machine& machine) {
  if (!request.one_thread && !request.all_threads) {
    throw Error(Errc::Usage,
                "transfer: neither one thread nor all threads are asked for; choose "
                "at least one of them");
  }
  TransferPlan plan;
  plan.sizes_bytes = sizes_of(request);
  const std::vector<Device> to_devices = devices_of(request.to, machine);
  for (const Device from : devices_of(request.from, machine)) {
    for (const Device to : to_devices) {
      if (from.kind != DeviceKind::Cpu || to.kind != DeviceKind::Cpu) {
        plan_gpu_pair(plan, request, machine.at(from), machine.at(to));
        continue;
      }
      const int threads = static_cast<int>(machine.at(to).info().cores.size());
      const std::vector<MemoryKind> memory =
          request.memory.empty() ? std::vector{MemoryKind::Pageable} : distinct(request.memory);
      for (const MemoryKind kind : memory) add_pair(plan, request, from, to, kind, threads);
    }
  }
  skip_missing_gpus(plan, request, machine);
  return plan;
}

int arrays_of(TransferOp op) {
  switch (op) {
    case TransferOp::Copy: return 2;
    case TransferOp::Triad: return 3;
    default: return 1;
  }
}

std::int64_t moved_bytes(const TransferSeries& series, std::int64_t bytes) {
  if (series.mover == TransferMover::Threads) return arrays_of(series.op) * bytes;
  if (series.op == TransferOp::Chase) return sizeof(std::uint32_t);
  const bool read_and_written = series.from == series.to || series.op == TransferOp::Both;
  return read_and_written ? 2 * bytes : bytes;
}

bool takes_size(const TransferSeries& series, std::int64_t bytes) {
  constexpr std::int64_t kAlignment = 16;
  if (series.op == TransferOp::Pieces) return bytes % (kTransferPieces * kAlignment) == 0;
  if (series.op != TransferOp::Chase) return true;
  return bytes >= kLeastChase_bytes && bytes <= kMostChase_bytes;
}

std::string pair_name(Device from, Device to) {
  return to_string(from) + " -> " + to_string(to);
}

std::string describe(const TransferSeries& series) {
  if (series.mover != TransferMover::Threads) return describe_gpu_series(series);
  return fmt::format("{} {}, {}, {} thread{}", to_string(series.op),
                     pair_name(series.from, series.to), to_string(series.memory), series.threads,
                     series.threads == 1 ? "" : "s");
}

std::string describe(const TransferSeries& series, std::int64_t bytes) {
  return describe(series) + ", " + format_bytes(bytes);
}

std::string names_of(const std::vector<TransferOp>& ops) {
  std::string text;
  for (const TransferOp op : ops) text += std::string(text.empty() ? "" : ", ") + to_string(op);
  return text;
}

}  // namespace lab
