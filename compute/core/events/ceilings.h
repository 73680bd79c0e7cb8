#pragma once
// What a device can do at most, as measured: the roof of the roofline model.
// Source  Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for
//         Multicore Architectures", CACM 52(4), 2009
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/events/stats.h"
#include "compute/core/precision.h"

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

}  // namespace lab
