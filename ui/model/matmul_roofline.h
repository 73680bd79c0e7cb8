#pragma once
// The roofline of one device as lines, points and words.
#include <string>
#include <vector>

#include "compute/core/events/roofline.h"
#include "ui/model/columns.h"
#include "ui/model/matmul_results.h"

namespace lab::ui {

// A ceiling as a line over arithmetic intensity. Exactly one of the pointers is set; they go into
// the ceilings given.
struct CeilingLine {
  const ComputeCeiling* compute = nullptr;
  const BandwidthCeiling* bandwidth = nullptr;
  std::string label;  // "FMA f32, 2 threads", "L2"
  Column64 x, y;      // FLOP per byte, GFLOP/s
};

// Bandwidths rise up to the highest compute ceiling, compute ceilings begin where the highest
// bandwidth reaches them. The lines span what `intensities` and every ridge need to be seen.
std::vector<CeilingLine> ceiling_lines(const CeilingsMeasured& ceilings,
                                       const std::vector<double>& intensities);

// Every sample of one kernel as points under the ceilings, by intensity.
struct KernelPoints {
  const KernelResults* kernel = nullptr;
  Column64 x, y;
};
KernelPoints kernel_points(const KernelResults& kernel);

// One sentence: whether memory or compute limits the product, and how near the kernel is to that.
std::string limit_sentence(const MatmulSample& sample, const CeilingsMeasured& ceilings,
                           CacheState cache);

std::string compute_label(const ComputeCeiling& ceiling);  // "FMA f32, 2 threads"

}  // namespace lab::ui
