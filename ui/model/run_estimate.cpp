#include "ui/model/run_estimate.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "compute/core/events/measured_cases.h"
#include "compute/core/events/models.h"

namespace lab::ui {
namespace {

bool contains(const std::vector<Device>& asked, Device device) {
  return asked.empty() || std::ranges::find(asked, device) != asked.end();
}

std::size_t thread_counts(const StartTransfers& request, const DeviceInfo& to) {
  const bool several = to.cores.size() > 1;  // otherwise both counts are the same
  const bool all = request.all_threads && (several || !request.one_thread);
  return (request.one_thread ? 1U : 0U) + (all ? 1U : 0U);
}

// Ways in which an operation is measured: by copy engine or kernel, from pageable or pinned memory,
// by either of two GPUs.
std::size_t gpu_ways(TransferOp op, Device from, Device to) {
  const bool within = from == to, peers = !within && is_gpu(from) && is_gpu(to);
  switch (op) {
    case TransferOp::Copy: return within ? 2 : peers ? 6 : 3;
    case TransferOp::Pieces: return within || peers ? 2 : 3;
    case TransferOp::Both: return peers ? 4 : 2;
    case TransferOp::Chase: return 1;
    default: return 0;
  }
}

// The number of series that an operation of a pair of devices has.
std::size_t series_of(const StartTransfers& request, TransferOp op, const DeviceInfo& from,
                      const DeviceInfo& to) {
  if (!is_measured_between(op, from.device, to.device)) return 0;
  const bool with_gpu = is_gpu(from.device) || is_gpu(to.device);
  return with_gpu ? gpu_ways(op, from.device, to.device) : thread_counts(request, to);
}

void add_pair(RunEstimate& sum, const StartTransfers& request, const DeviceInfo& from,
              const DeviceInfo& to) {
  for (const TransferOp op : request.ops) {
    const std::size_t series = series_of(request, op, from, to);
    for (const std::int64_t bytes : request.sizes_bytes) {
      sum.cases += series;
      sum.seconds += static_cast<double>(series) * transfer_case_s(op, bytes, request.budget_s);
    }
  }
}

bool is_asked(const StartMatmul& request, const RungInfo& rung) {
  return takes(rung, request.dtype) &&
         (request.kernels.empty() ||
          std::ranges::find(request.kernels, rung.name) != request.kernels.end());
}

RunEstimate estimate_at_once(const StartMatmul& request, const MachineInfo& machine) {
  const std::vector<Device> devices =
      request.devices.empty() ? alike_devices(machine.devices) : request.devices;
  RunEstimate sum;
  if (devices.size() < 2) return sum;
  for (const std::int64_t n : request.sizes) {
    ++sum.cases;
    sum.seconds += together_size_s(devices.front(), devices.size(), n, request.budget_s);
  }
  return sum;
}

}  // namespace

RunEstimate estimate_of(const StartTransfers& request, const MachineInfo& machine) {
  if (request.quick || request.live) return {};
  RunEstimate sum;
  for (const DeviceInfo& from : machine.devices) {
    if (!contains(request.from, from.device)) continue;
    for (const DeviceInfo& to : machine.devices) {
      if (contains(request.to, to.device)) add_pair(sum, request, from, to);
    }
  }
  return sum;
}

RunEstimate estimate_of(const StartMatmul& request, const MachineInfo& machine,
                        const std::vector<RungInfo>& rungs) {
  if (request.live) return {};
  if (request.together) return estimate_at_once(request, machine);
  const bool best = request.kernels == std::vector<std::string>{"best"};
  RunEstimate sum;
  for (const DeviceInfo& info : machine.devices) {
    if (!is_timed(info.device) || !contains(request.devices, info.device)) continue;
    const std::size_t kernels =
        best ? 1 : static_cast<std::size_t>(std::ranges::count_if(rungs, [&](const RungInfo& rung) {
          return rung.device == info.device && is_asked(request, rung);
        }));
    for (const std::int64_t n : request.sizes) {
      sum.cases += kernels;
      sum.seconds += static_cast<double>(kernels) * matmul_case_s(info.device, n, request.budget_s);
    }
  }
  return sum;
}

double typical_step_s(const StartTraining& training, const DeviceInfo& device) {
  // FLOP per image, forward and backward, of the direct algorithms.
  constexpr std::pair<std::string_view, double> kFlop[] = {{"softmax", 3.1e4},
                                                           {"mlp", 8.2e5},
                                                           {"lenet", 2.3e6},
                                                           {"convnet", 1.15e7},
                                                           {"resnet18", 2.7e9}};
  constexpr double kStart_s = 2e-4, kCore = 4e10, kGpu = 1e12;
  const auto found =
      std::ranges::find(kFlop, training.model, &std::pair<std::string_view, double>::first);
  double flop = found == std::end(kFlop) ? 0 : found->second;
  if (training.model == "resnet18") {
    const double width = static_cast<double>(training.width) / static_cast<double>(kResNetWidth);
    flop *= width * width;
  }
  const auto cores = static_cast<double>(std::max<std::size_t>(1, device.cores.size()));
  const double rate = is_gpu(device.device) ? kGpu : kCore * cores;
  return kStart_s + flop * static_cast<double>(training.batch) / rate;
}

}  // namespace lab::ui
