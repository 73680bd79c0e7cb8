#pragma once
// From which size on moving work to a GPU pays.
#include <span>
#include <vector>

#include "compute/experiments/transfers/transfer_case.h"
#include "compute/experiments/transfers/transfer_fit.h"

namespace lab {

struct MeasuredSeries {
  TransferSeries series;
  std::vector<TransferPoint> points;  // ascending in size
};

// For each GPU, kind of host memory and 1, 10 and 100 passes over the data, where all that is
// needed was measured: copies of the copy engine in, within and out, and the CPU device's own copy
// with most threads. A pass costs what a copy costs, on the GPU as on the CPU.
std::vector<TransferPayoff> payoffs(std::span<const MeasuredSeries> measured);

}  // namespace lab
