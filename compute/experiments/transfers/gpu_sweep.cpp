#include "compute/experiments/transfers/gpu_sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/gpu_case.h"
#include "compute/experiments/transfers/gpu_copy.h"
#include "compute/experiments/transfers/gpu_timeline.h"
#include "compute/experiments/transfers/transfer_report.h"
#include "compute/machine/machine.h"
#include "compute/measure/measure.h"

namespace lab {
namespace {

// Copies within a GPU up to here cost a launch and little more; twice the L2 cache holds nothing
// between two copies.
constexpr double kSmallCopy_bytes = 64.0 * kKiB;
constexpr double kPastCache = 2;
constexpr std::int64_t kOverlapPart_bytes = 64 * kMiB;

std::unique_ptr<GpuCase> proven_case(RunContext& ctx, const TransferSeries& series,
                                     std::int64_t bytes) {
  auto made = make_gpu_case(ctx.machine(), series, bytes, ctx.stop_token());
  ctx.throw_if_cancelled();
  made->operate(1);
  const std::string wrong = made->check();
  ctx.throw_if_cancelled();
  require_right(series, bytes, wrong);
  return made;
}

TransferSample time_it(RunContext& ctx, GpuCase& proven, const TransferSeries& series,
                       std::int64_t bytes, double budget_s) {
  proven.spoil();
  TransferSample sample = sample_of(series, bytes, time_gpu_case(proven, budget_s, ctx));
  sample.conditions = conditions_of_gpu();
  sample.verified = proven.check().empty();
  ctx.throw_if_cancelled();
  return sample;
}

}  // namespace

TransferSample measure_gpu_case(RunContext& ctx, const TransferSeries& series, std::int64_t bytes,
                                double budget_s) {
  const auto proven = proven_case(ctx, series, bytes);
  return time_it(ctx, *proven, series, bytes, budget_s);
}

void repeat_gpu_case(RunContext& ctx, const TransferSeries& series, std::int64_t bytes,
                     double budget_s) {
  const auto proven = proven_case(ctx, series, bytes);
  while (true) {
    ctx.checkpoint();
    ctx.emit(time_it(ctx, *proven, series, bytes, budget_s));
  }
}

std::optional<TransferFit> fit_gpu_series(Machine& machine, const TransferSeries& series,
                                          const std::vector<TransferPoint>& points) {
  if (series.op == TransferOp::Chase) return std::nullopt;
  const auto l2 = static_cast<double>(machine.at(working_gpu(series)).gpu()->facts().l2_bytes);
  const auto model = series.from == series.to
                         ? fit_memory_model(points, {kSmallCopy_bytes, kPastCache * l2})
                         : fit_latency_model(points);
  if (!model) return std::nullopt;
  return fit_of(series, *model);
}

void emit_overlap(RunContext& ctx, Device gpu, std::int64_t bytes) {
  constexpr std::int64_t kAlignment = 16;
  const std::int64_t part =
      std::max(kAlignment, std::min(bytes, kOverlapPart_bytes) / kAlignment * kAlignment);
  ctx.checkpoint();
  try {
    ctx.emit(measure_overlap(ctx, gpu, part));
  } catch (const Error& error) {
    if (error.code() != Errc::OutOfMemory) throw;
    ctx.emit(Skipped{fmt::format("overlap on {}, {} a part", to_string(gpu), format_bytes(part)),
                     error.what()});
  }
}

}  // namespace lab
