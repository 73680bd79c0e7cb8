#pragma once
// The slanted part of the roof: how many bytes a second all threads of a device read from each
// level of its memory.
//   Each thread sums its own part of an array again and again (simd::read_sum); the array is as
//   large as choose_working_sets() says for the level, so that later passes find it there. The sums
//   are checked before anything is timed.
#include <span>
#include <stop_token>

#include "compute/core/events/roofline.h"
#include "compute/experiments/matmul/working_sets.h"
#include "compute/machine/machine.h"

namespace lab {

// Measures what can be measured, each level for at most `budget_s`. The array is booked in the
// device's memory account while it lasts. Must not be called from inside threads().run().
// Throws Error(Cancelled) within 50 ms of a requested stop, Error(Internal) naming the level when a
// sum is wrong, Error(OutOfMemory).
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

}  // namespace lab
