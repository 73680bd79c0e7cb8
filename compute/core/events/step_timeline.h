#pragma once
// When each part of one training step ran, on each device: recorded times, not medians.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/events/training_profile.h"

namespace lab {

// Streams of a device's work. On a CPU device they share its cores, on a GPU they run side by side.
enum class TimelineLane { Compute, Sums, Copies };
inline constexpr std::array kTimelineLanes = {TimelineLane::Compute, TimelineLane::Sums,
                                              TimelineLane::Copies};
const char* to_string(TimelineLane lane);  // "compute", "all-reduce", "copies"

// Times are in seconds since the step began.
struct TimelineSpan {
  int device = 0;  // position in StepTimeline::devices
  TimelineLane lane = TimelineLane::Compute;
  StepPhase phase = StepPhase::Forward;
  // Forward, backward: position in StepTimeline::layers. All-reduce: the bucket of which a part is
  // summed, or -1 for the time from the end of backward until all sums are complete, which contains
  // the last parts.
  int part = 0;
  double begin_s = 0, end_s = 0;
  std::int64_t flop = 0;   // of the direct algorithm; 0: only moves data
  std::int64_t bytes = 0;  // compulsory traffic; 0: unknown

  double seconds() const { return end_s - begin_s; }
  double gflops() const { return seconds() > 0 ? static_cast<double>(flop) / seconds() / 1e9 : 0; }
};

struct TimelineDevice {
  Device device;
  std::int64_t images = 0;  // its share of the batch
};

struct TimelineLayer {
  std::string name;   // "resnet_block1.0.conv1"
  std::string kind;   // "convolution"
  std::string shape;  // "64x28x28 to 128x14x14"
};

// A piece of the gradients that is summed over the devices at once.
struct TimelineBucket {
  std::int64_t bytes = 0;
  std::vector<double> ready_s = {};  // by device: backward has filled it; 0: unknown, as on GPUs
  double done_s = 0;                 // its last part was summed; 0: unknown
};

struct StepTimeline {
  std::string model;
  std::int64_t step = 0;  // from 1
  double start_s = 0;     // since the training started, excluding pauses
  double seconds = 0;     // of the step
  double loss = 0;
  bool timed = true;  // false: a device is emulated, so that only the order is meaningful
  // All-reduce spans cover the wait for the sums only: the devices sum while they compute.
  bool sums_unseen = false;
  std::vector<TimelineDevice> devices;  // of the process that recorded
  std::vector<TimelineLayer> layers;
  std::vector<TimelineBucket> buckets;  // in the order in which backward fills them
  std::vector<TimelineSpan> spans;      // by device, in the order in which they ended
  std::int64_t lost = 0;                // spans beyond the recorder's memory
};

// "net.0 convolution, backward", "bucket 2 of 4", "all-reduce after backward", "update".
std::string name_of(const StepTimeline& timeline, const TimelineSpan& span);

// The share of the time between the first full bucket and the complete sums in which some device
// still ran backward; NaN for a single device.
double overlapped_share(const StepTimeline& timeline);

struct LossPoint {
  std::int64_t step = 0;
  double t_s = 0;  // end of the step, since the training started
  double loss = 0;
};

// The steps in Chrome's trace event format, which Perfetto and chrome://tracing open: a process per
// device, a thread per stream, complete events named after the layers, an asynchronous event from
// a full bucket to its sum, and the loss as a counter of the first process.
// Source  "Trace Event Format", The Chromium Authors
std::string chrome_trace(const std::vector<StepTimeline>& steps,
                         const std::vector<LossPoint>& losses);

}  // namespace lab
