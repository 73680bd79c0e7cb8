#pragma once
// From what was measured to what is reported of it, the same for threads and for GPUs.
#include <cstdint>
#include <string>

#include "compute/core/events/event.h"
#include "compute/experiments/transfers/transfer_case.h"
#include "compute/experiments/transfers/transfer_fit.h"

namespace lab {

// A wrong result is a bug, never a figure: throws Error(Internal) unless `wrong` is "".
void require_right(const TransferSeries& series, std::int64_t bytes, const std::string& wrong);

// With its speed; not yet verified, and without conditions.
TransferSample sample_of(const TransferSeries& series, std::int64_t bytes, const Timing& time);

// Without where it breaks even.
TransferFit fit_of(const TransferSeries& series, const LatencyModel& model);

}  // namespace lab
