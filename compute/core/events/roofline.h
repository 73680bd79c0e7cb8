#pragma once
// The roofline model: the measured ceilings of a device, and where a product stands under them.
// Source  Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for
//         Multicore Architectures", CACM 52(4), 2009
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/dtype.h"
#include "compute/core/events/command.h"
#include "compute/core/events/stats.h"

namespace lab {

// Operations a second from registers alone: a roof that no intensity lifts.
struct ComputeCeiling {
  std::string name = {};  // "FMA f32"
  Precision dtype = Precision::F32;
  int threads = 0;    // 0: a whole GPU
  double gflops = 0;  // of the fastest repetition
  Timing time = {};   // of one repetition
};

// Bytes a second that all threads together read from one level of memory, or that a GPU copies
// within it.
struct BandwidthCeiling {
  std::string name = {};               // "L1", "memory"
  std::int64_t cache_bytes = 0;        // of all caches of this level; 0: main memory
  std::int64_t working_set_bytes = 0;  // read in one pass, all threads together
  bool copied = false;                 // half of it to the other half: read and written both count
  double gb_per_s = 0;                 // of the fastest repetition, because it is a ceiling
  double median_gb_per_s = 0, p10_gb_per_s = 0, p90_gb_per_s = 0;
  Timing time = {};  // of one pass
};

// A level that could not be measured, and why.
struct MissingCeiling {
  std::string name = {};
  std::string reason = {};
};

struct MeasuredBandwidths {
  std::vector<BandwidthCeiling> levels = {};  // the nearest to the core first
  std::vector<MissingCeiling> missing = {};
};

// Sent before the samples of a device that are to be seen under them.
struct CeilingsMeasured {
  Device device;
  int threads = 0;                               // that read together; 0: a whole GPU
  std::vector<ComputeCeiling> compute = {};      // the lowest first
  std::vector<BandwidthCeiling> bandwidth = {};  // the nearest to the core first
};

// "1 thread", "2 threads", and "the whole GPU" for 0.
std::string workers_text(int threads);

// ---- Where a measured product stands under the ceilings
//   y = min(compute ceiling, bandwidth * intensity), and y meets the compute ceiling at the ridge.

struct MatmulSample;

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
