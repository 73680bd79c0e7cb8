#include "compute/experiments/transfers/transfer_report.h"

#include <fmt/format.h>

#include <cmath>

#include "compute/core/error.h"

namespace lab {
namespace {

// What a sample and a fit say of the case. `Reported` is one of the two.
template <typename Reported>
Reported reported_of(const TransferSeries& series) {
  Reported reported;
  reported.from = series.from;
  reported.to = series.to;
  reported.memory = series.memory;
  reported.op = series.op;
  reported.mover = series.mover;
  reported.peer = series.peer;
  reported.threads = series.threads;
  return reported;
}

}  // namespace

void require_right(const TransferSeries& series, std::int64_t bytes, const std::string& wrong) {
  if (wrong.empty()) return;
  throw Error(Errc::Internal, fmt::format("{}: its result is wrong, so it was not timed: {}",
                                          describe(series, bytes), wrong));
}

TransferSample sample_of(const TransferSeries& series, std::int64_t bytes, const Timing& time) {
  auto sample = reported_of<TransferSample>(series);
  sample.bytes = bytes;
  sample.time = time;
  sample.gb_per_s = static_cast<double>(moved_bytes(series, bytes)) / time.median_s * 1e-9;
  return sample;
}

TransferFit fit_of(const TransferSeries& series, const LatencyModel& model) {
  auto fit = reported_of<TransferFit>(series);
  fit.latency_s = model.latency_s;
  // Sizes are those of one array, the bandwidth counts all that is moved, as the samples do.
  fit.gb_per_s = static_cast<double>(moved_bytes(series, 1)) / model.s_per_byte * 1e-9;
  fit.half_bandwidth_bytes = std::llround(model.latency_s / model.s_per_byte);
  fit.r2 = model.r2;
  return fit;
}

}  // namespace lab
