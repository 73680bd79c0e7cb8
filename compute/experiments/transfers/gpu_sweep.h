#pragma once
// From the cases of GPUs to what is reported of them.
#include <optional>
#include <vector>

#include "compute/experiments/transfers/transfer_case.h"
#include "compute/experiments/transfers/transfer_fit.h"
#include "compute/run/run_context.h"

namespace lab {

// Proves the case right, times it, and checks it again. Throws Error(OutOfMemory) where it does not
// fit, Error(Internal) for a wrong result, Error(Cancelled).
TransferSample measure_gpu_case(RunContext& ctx, const TransferSeries& series, std::int64_t bytes,
                                double budget_s);

// The same again and again until it is cancelled; the memory stays.
void repeat_gpu_case(RunContext& ctx, const TransferSeries& series, std::int64_t bytes,
                     double budget_s);

// Empty for a chase, which moves nothing, and for too few sizes.
std::optional<TransferFit> fit_gpu_series(Machine& machine, const TransferSeries& series,
                                          const std::vector<TransferPoint>& points);

// A timeline with parts of at most `bytes`, or the reason why there is none.
void emit_overlap(RunContext& ctx, Device gpu, std::int64_t bytes);

}  // namespace lab
