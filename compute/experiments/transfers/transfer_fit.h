#pragma once
// Latency and bandwidth model of a sweep, crossover of two sweeps, and the size from which moving
// work to a GPU pays off.
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
  double r2 = 0;          // fraction of the variance of log time explained by the model
};

// Fits t = latency + bytes * s_per_byte by least squares of relative errors, so that a microsecond
// weighs as much at 1 KiB as a millisecond at 1 MiB. Returns nullopt for fewer than three sizes, or
// if time does not grow with size.
std::optional<LatencyModel> fit_latency_model(std::span<const TransferPoint> points);

// Array sizes that bound the range in which caches, not memory, determine the time.
struct CachedSizes {
  double first_cache = 0;  // up to this size all arrays fit in the first-level cache
  double memory = 0;       // from this size on they far exceed the last-level cache
};

// The same model for main memory: the latency is fitted to the sizes within the first-level cache,
// where moving the bytes costs almost nothing, and the bandwidth to those past the last-level
// cache, where nothing is retained. One line through all sizes would be a compromise between the
// bandwidths of caches and memory, which no size has, and would often lose the latency entirely. r2
// covers all sizes, so it drops where caches speed up the sizes in between. Falls back to
// fit_latency_model() if fewer than three sizes are below or none is above.
std::optional<LatencyModel> fit_memory_model(std::span<const TransferPoint> points,
                                             const CachedSizes& cached);

// The reported fit of a series, without its break-even size: the model of main memory between CPU
// devices or within one device, one line otherwise. Returns nullopt for a chase, which moves
// nothing, and for too few sizes.
std::optional<TransferFit> fit_series(Machine& machine, const MeasuredSeries& measured);

// The size from which `quick` stays below `slow`, interpolated between the two measured sizes of
// the last crossing (linear in log size and log time), or the first measured size if `quick` is
// faster everywhere. Returns nullopt if `quick` is not faster at the largest common size, or if
// there is no common size. Both must ascend in size.
std::optional<double> break_even_bytes(std::span<const TransferPoint> quick,
                                       std::span<const TransferPoint> slow);

// One payoff per GPU, kind of host memory, and 1, 10 or 100 passes over the data, if all inputs
// were measured: the copy engine's copies in, within and out, and the CPU device's own copy with
// the most threads. A pass costs as much as a copy, on the GPU as on the CPU.
std::vector<TransferPayoff> payoffs(std::span<const MeasuredSeries> measured);

}  // namespace lab
