#include "compute/transfer/transfer_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/types/error.h"
#include "compute/types/units.h"

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

std::string pair_name(Device from, Device to) {
  return to_string(from) + " -> " + to_string(to);
}

std::string names(const std::vector<TransferOp>& ops) {
  std::string text;
  for (const TransferOp op : ops) text += std::string(text.empty() ? "" : ", ") + to_string(op);
  return text;
}

// The reason why nothing can be measured between the two with such memory, or "".
std::string impossible(Device from, Device to, MemoryKind memory) {
  if (from.kind != DeviceKind::Cpu || to.kind != DeviceKind::Cpu) {
    return "only transfers between CPU devices are measured";
  }
  if (memory == MemoryKind::Pinned) {
    return "pinned memory only changes transfers to and from a GPU; between CPU devices every copy "
           "is an ordinary one";
  }
  return "";
}

void add_pair(TransferPlan& plan, const StartTransfers& request, Device from, Device to,
              MemoryKind memory, int all_threads) {
  if (const std::string reason = impossible(from, to, memory); !reason.empty()) {
    plan.skipped.push_back({pair_name(from, to) + ", " + to_string(memory), reason});
    return;
  }
  std::vector<TransferOp> left_out;
  for (const TransferOp op : distinct(request.ops)) {
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
    plan.skipped.push_back({pair_name(from, to) + ", " + names(left_out),
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
      const int threads =
          to.kind == DeviceKind::Cpu ? static_cast<int>(machine.at(to).info().cores.size()) : 1;
      for (const MemoryKind memory : distinct(request.memory)) {
        add_pair(plan, request, from, to, memory, threads);
      }
    }
  }
  return plan;
}

int arrays_of(TransferOp op) {
  switch (op) {
    case TransferOp::Copy: return 2;
    case TransferOp::Triad: return 3;
    default: return 1;
  }
}

std::string describe(const TransferSeries& series) {
  return fmt::format("{} {}, {}, {} thread{}", to_string(series.op),
                     pair_name(series.from, series.to), to_string(series.memory), series.threads,
                     series.threads == 1 ? "" : "s");
}

}  // namespace lab
