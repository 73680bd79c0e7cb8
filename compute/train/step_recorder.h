#pragma once
// Records when each part of a training step ran on each device of this process, and which of the
// recorded steps are reported and kept for a trace.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/core/events/step_timeline.h"
#include "compute/nn/network.h"
#include "compute/nn/op.h"
#include "compute/nn/op_work.h"
#include "compute/train/data_parallel/gradient_reducer.h"

namespace lab {

// Memory for the spans of each device is allocated once; a recorded step allocates nothing. Every
// device's thread writes to its own memory only, and timeline() is called between steps.
class StepRecorder final : public SumObserver {
 public:
  // `networks` are the replicas of this process, which must outlive the recorder; `members` are the
  // numbers of those that the reducer sums. `buckets` may be empty. `sums_unseen`: the reducer
  // reports no sums, because GPUs or other processes compute them.
  StepRecorder(std::span<const nn::Network* const> networks, std::vector<std::size_t> members,
               std::span<const GradientBucket> buckets, bool momentum, bool sums_unseen);
  ~StepRecorder() override;

  // Begins a step; times are relative to `begin_s`, in seconds on the steady clock.
  void begin_step(double begin_s, std::span<const std::int64_t> images);
  // The observer of a device's thread; passes every time on to `next`, if that is not null.
  nn::StepObserver& device(std::size_t replica, nn::StepObserver* next);
  void ready(std::size_t member, std::size_t bucket) override;
  void summed(std::size_t member, std::size_t bucket, double begin_s, double end_s) override;
  // The time from the end of backward to the complete sums.
  void exposed(std::size_t replica, double begin_s, double end_s);

  // The latest step; its number, start, duration and loss are left to the caller.
  StepTimeline timeline() const;

 private:
  class DeviceRecorder;

  TimelineSpan span_of(std::size_t replica, const DeviceRecorder& device, std::size_t i) const;
  std::vector<TimelineBucket> bucket_times() const;

  const std::vector<const nn::Network*> networks_;
  const std::vector<std::size_t> members_;
  const std::vector<GradientBucket> buckets_;
  const bool momentum_, sums_unseen_;
  std::vector<TimelineLayer> layers_;
  std::vector<std::unique_ptr<DeviceRecorder>> devices_;
  double begin_s_ = 0;
};

// The steps of a trace: the first of every `stride` steps. When they fill the memory, every second
// one is dropped and the stride doubles, so that they always cover the whole training.
class TraceSteps {
 public:
  static constexpr std::size_t kMostSteps = 32;
  static constexpr std::size_t kMostLosses = 4096;

  // `step` counts from 0 in this run.
  bool wants(std::int64_t step) const { return step % stride_ == 0; }
  void add(StepTimeline timeline);
  void add(const LossPoint& loss);

  const std::vector<StepTimeline>& steps() const { return steps_; }
  std::string text() const { return chrome_trace(steps_, losses_); }

 private:
  std::int64_t stride_ = 1, loss_stride_ = 1, seen_losses_ = 0;
  std::vector<StepTimeline> steps_;
  std::vector<LossPoint> losses_;
};

}  // namespace lab
