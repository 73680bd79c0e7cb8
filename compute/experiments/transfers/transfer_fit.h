#pragma once
// The latency and bandwidth model of a sweep, where two sweeps cross, and from which size on moving
// work to a GPU pays.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/experiments/transfers/transfer_plan.h"
#include "compute/machine/machine.h"

namespace lab {

struct TransferPoint {
  double bytes = 0;    // positive
  double seconds = 0;  // positive
};

struct MeasuredSeries {
  TransferSeries series;
  std::vector<TransferPoint> points;  // ascending in size
};

struct LatencyModel {
  double latency_s = 0;   // not negative
  double s_per_byte = 0;  // positive
  double r2 = 0;          // share of the variance of log time that the model explains
};

// t = latency + bytes * s_per_byte with the smallest sum of squared relative errors, so that a
// microsecond counts as much at 1 KiB as a millisecond at 1 MiB. Nothing for fewer than three
// sizes, or when time does not grow with size.
std::optional<LatencyModel> fit_latency_model(std::span<const TransferPoint> points);

// Sizes of one array between which caches, not memory, set the pace.
struct CachedSizes {
  double first_cache = 0;  // up to this size all arrays fit the first cache
  double memory = 0;       // from this size on they are far larger than the last one
};

// The same model of main memory: the latency from the sizes within the first cache, where moving
// the bytes costs next to nothing, and the bandwidth from those past the last cache, where nothing
// is kept. One line through all sizes would be a compromise between the bandwidths of caches and
// memory, which no size has, and would often lose the latency altogether. r2 is over all sizes, so
// it falls where caches make the ones in between quicker. A sweep that lacks three sizes below or
// one above gets fit_latency_model().
std::optional<LatencyModel> fit_memory_model(std::span<const TransferPoint> points,
                                             const CachedSizes& cached);

// What is reported of a series, without where it breaks even: the model of main memory within one
// device, one line otherwise. Empty for a chase, which moves nothing, and for too few sizes.
std::optional<TransferFit> fit_series(Machine& machine, const MeasuredSeries& measured);

// The size from which on `quick` stays below `slow`, read off between the two measured sizes where
// they cross last (straight lines in log size and log time); the first measured size when `quick`
// is quicker everywhere. Nothing when it is not quicker at the largest size both have, or they have
// none in common. Both ascend in size.
std::optional<double> break_even_bytes(std::span<const TransferPoint> quick,
                                       std::span<const TransferPoint> slow);

// For each GPU, kind of host memory and 1, 10 and 100 passes over the data, where all that is
// needed was measured: copies of the copy engine in, within and out, and the CPU device's own copy
// with most threads. A pass costs what a copy costs, on the GPU as on the CPU.
std::vector<TransferPayoff> payoffs(std::span<const MeasuredSeries> measured);

}  // namespace lab
