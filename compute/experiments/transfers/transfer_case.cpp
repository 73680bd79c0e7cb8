#include "compute/experiments/transfers/transfer_case.h"

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {
namespace {

std::unique_ptr<TransferCase> make_case(RunContext& ctx, const TransferSeries& series,
                                        std::int64_t bytes) {
  if (series.mover == TransferMover::Threads) {
    return make_cpu_case(ctx.machine(), series, bytes, ctx.stop_token());
  }
  return make_gpu_case(ctx.machine(), series, bytes, ctx.stop_token());
}

}  // namespace

ProvenCase::ProvenCase(RunContext& ctx, const TransferSeries& series, std::int64_t bytes)
    : ctx_(ctx), series_(series), bytes_(bytes), case_(make_case(ctx, series, bytes)) {
  ctx_.throw_if_cancelled();
  case_->operate();
  const std::string wrong = case_->check();
  ctx_.throw_if_cancelled();
  if (wrong.empty()) return;
  throw Error(Errc::Internal,
              trf("{}: wrong result, not timed: {}", describe(series, bytes), wrong));
}

TransferSample ProvenCase::sample(const SampleSettings& settings) {
  case_->poison();
  auto sample = make_report<TransferSample>(series_);
  sample.bytes = bytes_;
  sample.time = case_->time(ctx_, settings);
  sample.gb_per_s = static_cast<double>(moved_bytes(series_, bytes_)) / sample.time.median_s * 1e-9;
  sample.conditions = case_->conditions();
  sample.verified = case_->check().empty();
  ctx_.throw_if_cancelled();
  return sample;
}

}  // namespace lab
