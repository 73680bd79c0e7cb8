#pragma once
// What a run measures, known before it starts: for its plan, its form, and estimates of its time.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/events/command.h"
#include "compute/core/events/device_info.h"

namespace lab {

// --- transfers ------------------------------------------------------------------------------
// Whether transfers from one device to the other include the operation. Copies both ways and
// latencies between the host and a GPU are the same in both directions and belong to the one
// towards the GPU. An emulated GPU is not timed.
bool is_measured_between(TransferOp op, Device from, Device to);

// --- several devices ------------------------------------------------------------------------
// The devices of a StartMatmul::together or StartScaling that names none: the GPUs like the first
// one, or the CPU devices where those are several and there is one GPU at most.
std::vector<Device> alike_devices(std::span<const DeviceInfo> devices);

// A size has rounds of a batch per device, in sequence on the first one and at once on all, until
// its budget is spent, within these limits.
inline constexpr int kLeastTogetherRounds = 7, kMostTogetherRounds = 15;
// Seconds of a batch unless one product takes longer.
double together_batch_s(std::size_t devices, double budget_s);
// Seconds that one size takes on `devices` devices like `device`, together with the products that
// verify it and determine the number per batch, at a rough rate.
double together_size_s(Device device, std::size_t devices, std::int64_t n, double budget_s);

// --- scaling --------------------------------------------------------------------------------
// 1, 2, 4, ... and `largest` itself: the device counts of an experiment that names none, and those
// that it predicts. Empty for 0.
std::vector<int> doubling_counts(int largest);

}  // namespace lab
