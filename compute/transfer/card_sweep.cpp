#include "compute/transfer/card_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "compute/device/machine.h"
#include "compute/transfer/card_case.h"
#include "compute/transfer/card_copy.h"
#include "compute/transfer/card_timeline.h"
#include "compute/types/error.h"
#include "compute/types/units.h"

namespace lab {
namespace {

// Copies within a card up to here cost a launch and little more; twice the L2 cache holds nothing
// between two copies.
constexpr double kSmallCopy_bytes = 64.0 * kKiB;
constexpr double kPastCache = 2;
constexpr std::int64_t kOverlapPart_bytes = 64 * kMiB;

std::unique_ptr<CardCase> proven_case(RunContext& ctx, const TransferSeries& series,
                                      std::int64_t bytes) {
  auto made = make_card_case(ctx.machine(), series, bytes, ctx.stop_token());
  ctx.throw_if_cancelled();
  made->operate(1);
  const std::string wrong = made->check();
  ctx.throw_if_cancelled();
  if (wrong.empty()) return made;
  throw Error(Errc::Internal, fmt::format("{}, {}: its result is wrong, so it was not timed: {}",
                                          describe(series), format_bytes(bytes), wrong));
}

TransferSample time_it(RunContext& ctx, CardCase& proven, const TransferSeries& series,
                       std::int64_t bytes, double budget_s) {
  TransferSample sample;
  sample.from = series.from;
  sample.to = series.to;
  sample.memory = series.memory;
  sample.op = series.op;
  sample.mover = series.mover;
  sample.peer = series.peer;
  sample.threads = series.threads;
  sample.bytes = bytes;
  proven.spoil();
  sample.time = time_card_case(proven, budget_s, ctx.stop_token());
  sample.conditions.unix_time_s = static_cast<std::int64_t>(std::time(nullptr));
  sample.conditions.clock_mhz =
      Maybe<double>::missing("the card's clocks stand on the Devices page");
  sample.verified = proven.check().empty();
  ctx.throw_if_cancelled();
  sample.gb_per_s = static_cast<double>(moved_bytes(series, bytes)) / sample.time.median_s * 1e-9;
  return sample;
}

}  // namespace

TransferSample measure_card_case(RunContext& ctx, const TransferSeries& series, std::int64_t bytes,
                                 double budget_s) {
  const auto proven = proven_case(ctx, series, bytes);
  return time_it(ctx, *proven, series, bytes, budget_s);
}

void repeat_card_case(RunContext& ctx, const TransferSeries& series, std::int64_t bytes,
                      double budget_s) {
  const auto proven = proven_case(ctx, series, bytes);
  while (true) {
    ctx.checkpoint();
    ctx.emit(time_it(ctx, *proven, series, bytes, budget_s));
  }
}

std::optional<TransferFit> fit_card_series(Machine& machine, const TransferSeries& series,
                                           const std::vector<TransferPoint>& points) {
  if (series.op == TransferOp::Chase) return std::nullopt;
  const auto l2 = static_cast<double>(machine.at(working_card(series)).card()->facts().l2_bytes);
  const auto model = series.from == series.to
                         ? fit_memory_model(points, {kSmallCopy_bytes, kPastCache * l2})
                         : fit_latency_model(points);
  if (!model) return std::nullopt;
  TransferFit fit;
  fit.from = series.from;
  fit.to = series.to;
  fit.memory = series.memory;
  fit.op = series.op;
  fit.mover = series.mover;
  fit.peer = series.peer;
  fit.threads = series.threads;
  fit.latency_s = model->latency_s;
  fit.gb_per_s = static_cast<double>(moved_bytes(series, 1)) / model->s_per_byte * 1e-9;
  fit.half_bandwidth_bytes = std::llround(model->latency_s / model->s_per_byte);
  fit.r2 = model->r2;
  return fit;
}

void emit_overlap(RunContext& ctx, Device card, std::int64_t bytes) {
  constexpr std::int64_t kAlignment = 16;
  const std::int64_t part =
      std::max(kAlignment, std::min(bytes, kOverlapPart_bytes) / kAlignment * kAlignment);
  ctx.checkpoint();
  try {
    ctx.emit(measure_overlap(ctx, card, part));
  } catch (const Error& error) {
    if (error.code() != Errc::OutOfMemory) throw;
    ctx.emit(Skipped{fmt::format("overlap on {}, {} a part", to_string(card), format_bytes(part)),
                     error.what()});
  }
}

}  // namespace lab
