#include "compute/experiments/transfers/gpu_case.h"

#include <algorithm>
#include <vector>

#include "compute/experiments/transfers/gpu_chase.h"
#include "compute/experiments/transfers/gpu_copy.h"
#include "compute/measure/measure.h"
#include "compute/measure/statistics.h"

namespace lab {
namespace {

constexpr int kWarmup = 4;
constexpr int kOperations = 16;  // of one sample
// Beyond it a sample has fewer. Behind a gate 16 copies of 512 MiB stay below it on every link of
// 22 GB/s and more.
constexpr double kLongGated_s = 0.4;
constexpr double kLongByHost_s = 0.05;
constexpr std::size_t kLeastSamples = 3;
constexpr std::size_t kMostSamples = 1000;
constexpr double kMaxSpread = 0.02;

}  // namespace

std::unique_ptr<GpuCase> make_gpu_case(Machine& machine, const TransferSeries& series,
                                       std::int64_t bytes, std::stop_token stop) {
  if (series.op == TransferOp::Chase) {
    return std::make_unique<GpuChase>(machine, series, bytes, std::move(stop));
  }
  return std::make_unique<GpuCopyCase>(machine, series, bytes, std::move(stop));
}

Timing time_gpu_case(GpuCase& timed, double budget_s, const RunContext& ctx) {
  const double begin = monotonic_s();
  const double once_s = timed.operate(kWarmup);
  ctx.throw_if_cancelled();
  const double long_s = timed.gated() ? kLongGated_s : kLongByHost_s;
  const int times =
      static_cast<int>(std::clamp(long_s / std::max(once_s, 1e-9), 1.0, double{kOperations}));
  std::vector<double> samples_s;
  double spread = 1;
  while (samples_s.size() < kMostSamples) {
    samples_s.push_back(timed.operate(times));
    ctx.throw_if_cancelled();
    std::sort(samples_s.begin(), samples_s.end());
    spread = median_spread(samples_s);
    if (spread <= kMaxSpread) break;
    if (samples_s.size() >= kLeastSamples && monotonic_s() - begin >= budget_s) break;
  }
  Timing timing = summarise(samples_s);
  timing.warmup = kWarmup;
  timing.unstable = !(spread <= kMaxSpread);
  return timing;
}

}  // namespace lab
