#pragma once
// The latency and bandwidth model of a sweep, and where two sweeps cross.
#include <cstdint>
#include <optional>
#include <span>

namespace lab {

struct TransferPoint {
  double bytes = 0;    // positive
  double seconds = 0;  // positive
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

// The size from which on `quick` stays below `slow`, read off between the two measured sizes where
// they cross last (straight lines in log size and log time); the first measured size when `quick`
// is quicker everywhere. Nothing when it is not quicker at the largest size both have, or they have
// none in common. Both ascend in size.
std::optional<double> break_even_bytes(std::span<const TransferPoint> quick,
                                       std::span<const TransferPoint> slow);

}  // namespace lab
