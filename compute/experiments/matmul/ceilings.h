#pragma once
// What a device can do at most: the bytes per second that it reads from each level of its memory,
// and the arithmetic of a GPU.
#include <cstdint>
#include <optional>
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

// Which array to read so that the bytes come from one level of memory.
struct WorkingSet {
  std::string name = {};              // "L2", "memory"
  std::int64_t cache_bytes = 0;       // of all caches of this level; 0: main memory
  std::int64_t bytes_per_thread = 0;  // a multiple of 1024
  std::string skip_reason = {};       // not empty: cannot be measured; the set has no bytes then
};

// One set for each level of `caches` (those of one device, see describe_cores) and one for main
// memory, when `threads` threads read at the same time and `free_bytes` may be allocated:
//   a cache  half of a thread's share of it; and the whole level below on top where that holds more
//            than a quarter of the share, since it would serve much of the half itself. Skipped
//            where that does not fit into the level.
//   memory   four times all last-level caches, as STREAM asks for, and 64 MiB at least. Skipped
//            where less than twice the caches can be allocated.
// Levels 1 to 3 that the machine does not show are skipped with that reason.
std::vector<WorkingSet> choose_working_sets(std::span<const CacheInfo> caches, int threads,
                                            std::int64_t free_bytes);

// Measures what can be measured, each level for at most `budget_s`: each thread of the device sums
// its own part of an array again and again (simd::read_sum); the array is as large as
// choose_working_sets() says for the level, so that later passes find it there. The sums are
// checked before anything is timed. The array is booked in the device's memory account while it
// lasts. Must not be called from inside threads().run(). Throws Error(Cancelled) within 50 ms of a
// requested stop, Error(Internal) naming the level when a sum is wrong, Error(OutOfMemory).
MeasuredBandwidths measure_bandwidths(DeviceContext& device, std::span<const WorkingSet> sets,
                                      double budget_s, const std::stop_token& stop);

// The rates of a level from the times of its passes and its working set.
void set_rates(BandwidthCeiling& level);

// Whether nothing is left to be measured again: each level's time settled before its budget ended.
bool settled(const MeasuredBandwidths& measured);
// A ceiling is what was reached at best, whenever that was: the faster of both for each level.
void keep_faster(MeasuredBandwidths& now, const MeasuredBandwidths& before);

// Those of a CPU device: measured by the first job that asks, in well under two seconds, and then
// remembered. Where the time did not suffice to settle one, because the machine was busy, the next
// job measures again and the faster of both is kept.
const MeasuredBandwidths& bandwidths_of(DeviceContext& device, const std::stop_token& stop);

// By GpuMatmul::run_peak(); `gflops` is that of the fastest repetition, because it is a ceiling.
// Nothing where the GPU has no instructions for the precision. Throws Error(Cancelled).
std::optional<PeakSample> measure_gpu_peak(DeviceContext& device, Precision precision,
                                           const MeasureOptions& options);

// Of the second-level cache and of memory, by a kernel that copies within the level; bytes read and
// bytes written both count. Remembered for later jobs, unless a level was not settled or found no
// room. Throws Error(Cancelled), Error(OutOfMemory).
const MeasuredBandwidths& gpu_bandwidths_of(DeviceContext& device, const std::stop_token& stop);

}  // namespace lab
