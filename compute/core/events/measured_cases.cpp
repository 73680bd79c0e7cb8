#include "compute/core/events/measured_cases.h"

#include <algorithm>

namespace lab {

bool is_measured_between(TransferOp op, Device from, Device to) {
  if (!is_timed(from) || !is_timed(to)) return false;
  switch (op) {
    case TransferOp::Copy: return true;
    case TransferOp::Read:
    case TransferOp::Write:
    case TransferOp::Triad: return from == to && !is_gpu(from);
    case TransferOp::Pieces: return is_gpu(from) || is_gpu(to);
    case TransferOp::Both: return from != to && is_gpu(to);
    case TransferOp::Chase: return is_gpu(to);
    case TransferOp::Overlap: return !is_gpu(from) && is_gpu(to);
  }
  return false;
}

std::vector<Device> alike_devices(std::span<const DeviceInfo> devices) {
  std::vector<Device> gpus, cpus;
  const DeviceInfo* first = nullptr;  // of the GPUs
  for (const DeviceInfo& info : devices) {
    if (info.device.kind == DeviceKind::Cpu) cpus.push_back(info.device);
    if (info.device.kind != DeviceKind::Cuda) continue;
    if (first == nullptr) first = &info;
    if (info.name == first->name) gpus.push_back(info.device);
  }
  return gpus.size() < 2 && gpus.size() < cpus.size() ? cpus : gpus;
}

double together_batch_s(std::size_t devices, double budget_s) {
  constexpr double kShortest_s = 0.01;
  const double batches = kMostTogetherRounds * (static_cast<double>(devices) + 1);
  return std::max(kShortest_s, budget_s / batches);
}

double together_size_s(Device device, std::size_t devices, std::int64_t n, double budget_s) {
  constexpr double kTrials = 3;  // batches before the first round
  const double product_s = matmul_case_s(device, n, 0);
  const double batch_s = std::max(product_s, together_batch_s(devices, budget_s));
  const double batches = static_cast<double>(devices) + 1;  // per round, as are verified products
  const double rounds_s = std::clamp(budget_s, kLeastTogetherRounds * batches * batch_s,
                                     kMostTogetherRounds * batches * batch_s);
  return rounds_s + kTrials * batch_s + batches * product_s;
}

std::vector<int> doubling_counts(int largest) {
  std::vector<int> counts;
  for (int n = 1; n < largest; n *= 2) counts.push_back(n);
  if (largest > 0) counts.push_back(largest);
  return counts;
}

}  // namespace lab
