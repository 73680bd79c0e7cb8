#pragma once
// Performance ceilings of a device: the bandwidth of each memory level, and the peak arithmetic
// throughput of a GPU.
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/event.h"
#include "compute/core/events/roofline.h"
#include "compute/machine/machine.h"
#include "compute/measure/measure.h"

namespace lab {

// Size of the array to read so that its bytes come from a single memory level.
struct WorkingSet {
  std::string name = {};              // "L2", "memory"
  std::int64_t cache_bytes = 0;       // total over all caches of this level; 0: main memory
  std::int64_t bytes_per_thread = 0;  // a multiple of 1024
  std::string skip_reason = {};       // non-empty: not measurable, and bytes_per_thread is 0
};

// Returns one set per level of `caches` (those of one device, see describe_cores) and one for main
// memory, for `threads` threads that read concurrently and `free_bytes` that may be allocated:
//   cache   half of a thread's share of the level, plus the whole next smaller level if that is
//           more than a quarter of the share, because it would serve much of the half itself.
//           Skipped if the sum exceeds the share. At most 16 times that level: others use a huge
//           cache too, of which a virtual machine sees the size but has a part.
//   memory  four times all last-level caches, as STREAM requires, and at least 64 MiB. Skipped if
//           less than twice the caches can be allocated.
// Levels 1 to 3 that the machine does not report are skipped with that reason.
std::vector<WorkingSet> choose_working_sets(std::span<const CacheInfo> caches, int threads,
                                            std::int64_t free_bytes);

// Measures every set that is not skipped, for at most `budget_s` per level. Each thread of the
// device sums its own part of an array repeatedly (simd::read_sum); choose_working_sets() sizes the
// array so that later passes find it in the level. Sums are verified before anything is timed. The
// array is charged to the device's memory account while it exists. Must not be called from inside
// threads().run(). Throws Error(Cancelled) within 50 ms of a requested stop, Error(Internal) naming
// the level if a sum is wrong, Error(OutOfMemory).
MeasuredBandwidths measure_bandwidths(DeviceContext& device, std::span<const WorkingSet> sets,
                                      double budget_s, const std::stop_token& stop);

// Computes the level's rates from its working set and the times of its passes.
void set_rates(BandwidthCeiling& level);

// True if the time of every level settled within its budget, so that nothing needs remeasuring.
bool settled(const MeasuredBandwidths& measured);
// Keeps the faster measurement of each level in `now`: a ceiling is the best rate ever reached.
void keep_faster(MeasuredBandwidths& now, const MeasuredBandwidths& before);

// Bandwidths of a CPU device, measured in well under two seconds by the first job that needs them,
// then cached. If a level did not settle because the machine was busy, the next job measures again
// and the faster result of each level is kept.
const MeasuredBandwidths& bandwidths_of(DeviceContext& device, const std::stop_token& stop);

// Bandwidths of the L2 cache and of GPU memory, measured by copying within the level, by a kernel
// or by the copy engine; bytes read and bytes written both count. Cached for later jobs, unless
// memory is missing or a level did not settle. Throws Error(Cancelled), Error(OutOfMemory).
const MeasuredBandwidths& gpu_bandwidths_of(DeviceContext& device, const std::stop_token& stop);

}  // namespace lab
