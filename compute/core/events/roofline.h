#pragma once
// The roofline model: measured ceilings of a device, and the position of a matrix product below
// them.
// Source  Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for
//         Multicore Architectures", CACM 52(4), 2009
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/dtype.h"
#include "compute/core/events/command.h"
#include "compute/core/events/stats.h"

namespace lab {

// Compute rate with operands in registers: a ceiling independent of arithmetic intensity.
struct ComputeCeiling {
  std::string name = {};  // "FMA f32"
  Precision dtype = Precision::F32;
  int threads = 0;    // 0: a whole GPU
  double gflops = 0;  // of the fastest repetition
  Timing time = {};   // per repetition
};

// Bandwidth at which all threads together read from one memory level, or at which a GPU copies
// within it.
struct BandwidthCeiling {
  std::string name = {};               // "L1", "memory"
  std::int64_t cache_bytes = 0;        // total over all caches of this level; 0: main memory
  std::int64_t working_set_bytes = 0;  // read per pass by all threads together
  bool copied = false;                 // one half copied to the other: reads and writes both count
  double gb_per_s = 0;                 // of the fastest repetition, since it is a ceiling
  double median_gb_per_s = 0, p10_gb_per_s = 0, p90_gb_per_s = 0;
  Timing time = {};  // per pass
};

// A memory level that could not be measured, and the reason.
struct MissingCeiling {
  std::string name = {};
  std::string reason = {};
};

struct MeasuredBandwidths {
  std::vector<BandwidthCeiling> levels = {};  // nearest to the core first
  std::vector<MissingCeiling> missing = {};
};

// Sent before the samples of a device that are plotted below these ceilings.
struct CeilingsMeasured {
  Device device;
  int threads = 0;                               // reading threads; 0: a whole GPU
  std::vector<ComputeCeiling> compute = {};      // lowest first
  std::vector<BandwidthCeiling> bandwidth = {};  // nearest to the core first
};

// Returns "1 thread", "2 threads", or "the whole GPU" for 0.
std::string workers_text(int threads);

// ---- Position of a measured product below the ceilings
//   y = min(compute ceiling, bandwidth * intensity); the two terms meet at the ridge point.

struct MatmulSample;

// Returns the minimum bytes that a product must move: A and B read once, C written once. C is f32.
double compulsory_bytes(const MatmulSample& sample);

// Returns 2*m*n*k over the compulsory bytes. A kernel that reuses fetched data insufficiently moves
// more, so its actual intensity is lower.
double arithmetic_intensity(const MatmulSample& sample);

// Returns the nearest of `levels` whose caches hold `bytes` together, or the farthest; null if none
// was measured.
const BandwidthCeiling* level_holding(std::span<const BandwidthCeiling> levels, double bytes);

// The lowest ceiling that applies to a product, whatever the kernel. The pointers refer to elements
// of the CeilingsMeasured.
struct Roof {
  double gflops = 0;
  bool by_memory = false;                   // limited by memory bandwidth; false: by compute
  const ComputeCeiling* compute = nullptr;  // highest ceiling of the product's operand type
  const BandwidthCeiling* level = nullptr;  // memory level that supplies A, B and C
};

// Returns the roof over a product. The nearest level whose caches hold A, B and C together supplies
// them, or main memory; with cold caches, always the farthest level. Null pointers and 0 if nothing
// was measured.
Roof roof_over(const CeilingsMeasured& ceilings, const MatmulSample& sample, CacheState cache);

// Returns the highest compute ceiling for `dtype`, or the highest of all if that type has none;
// null if none was measured.
const ComputeCeiling* highest_compute(const CeilingsMeasured& ceilings, Precision dtype);

// Returns the ridge point in FLOP/byte: the intensity from which this level can sustain the highest
// compute ceiling.
double ridge(const CeilingsMeasured& ceilings, const BandwidthCeiling& level, Precision dtype);

}  // namespace lab
