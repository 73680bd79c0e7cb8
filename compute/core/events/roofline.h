#pragma once
// Where a measured product stands under the measured ceilings. Pure.
//   y = min(compute ceiling, bandwidth * intensity), and y meets the compute ceiling at the ridge.
#include "compute/core/events/event.h"

namespace lab {

// Bytes that a product must move at least: A and B read once, C written once. C is f32.
double compulsory_bytes(const MatmulSample& sample);

// 2*m*n*k over the compulsory bytes. What a kernel really moves is more where it does not use what
// it has fetched often enough, so its true intensity is lower.
double arithmetic_intensity(const MatmulSample& sample);

// The lowest roof that holds for a product whatever the kernel. Pointers go into the ceilings.
struct Roof {
  double gflops = 0;
  bool by_memory = false;                   // else by compute
  const ComputeCeiling* compute = nullptr;  // the highest of the product's type
  const BandwidthCeiling* level = nullptr;  // where A, B and C come from
};

// A, B and C come from the nearest level whose caches hold them together, or from main memory; with
// cold caches always from the farthest level. Null pointers and 0 where nothing was measured.
Roof roof_over(const CeilingsMeasured& ceilings, const MatmulSample& sample, CacheState cache);

// The highest compute ceiling for `dtype`, or of all where that has none; null: none was measured.
const ComputeCeiling* highest_compute(const CeilingsMeasured& ceilings, Precision dtype);

// FLOP per byte from which on this level can keep the highest compute ceiling busy.
double ridge(const CeilingsMeasured& ceilings, const BandwidthCeiling& level, Precision dtype);

}  // namespace lab
