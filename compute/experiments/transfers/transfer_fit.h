#pragma once
// Latency and bandwidth of each level of memory in a sweep, crossover of two sweeps, and the size
// from which moving work to a GPU pays off.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
  double residual = 0;    // root mean square of the relative errors
};

// Fits t = latency + bytes * s_per_byte by least squares of relative errors, so that a microsecond
// weighs as much at 1 KiB as a millisecond at 1 MiB. Returns nullopt for fewer than three sizes, or
// if time does not grow with size.
std::optional<LatencyModel> fit_latency_model(std::span<const TransferPoint> points);

// A level of memory, with the largest array that it holds in addition to the operation's others.
struct LevelSize {
  std::string name;
  double bytes = 0;  // infinity for the last level
};

// Splits the points between the levels, which ascend in size, and fits each level on its own: one
// line through caches and memory would describe neither. `moved_per_byte` is the number of bytes
// moved per byte of an array. Leaves out levels without a point before the first that has one and
// after the last; between them, they keep their place.
std::vector<TransferLevel> fit_levels(std::span<const TransferPoint> points,
                                      std::span<const LevelSize> levels, double moved_per_byte);

// The reported fit of a series, without the range in which it is faster. Between CPU devices the
// levels are the caches that its threads use, or memory only with a cold cache; within a GPU, its
// L2 cache and its memory; otherwise the link. Returns nullopt for a chase, which moves nothing,
// and if nothing was measured.
std::optional<TransferFit> fit_series(Machine& machine, const MeasuredSeries& measured,
                                      CacheState cache);

// The longest range of common sizes in which `quick` is nowhere slower than `slow` by more than
// 5 %, from the first to the last size at which it is faster by more than that. Returns nullopt if
// there is no such size. Both must ascend in size.
std::optional<FasterRange> faster_range(std::span<const TransferPoint> quick,
                                        std::span<const TransferPoint> slow);

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
