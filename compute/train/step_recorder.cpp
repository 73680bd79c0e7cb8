#include "compute/train/step_recorder.h"

#include <algorithm>
#include <utility>

#include "compute/machine/machine.h"
#include "compute/train/step_profile.h"

namespace lab {
namespace {

// A thread sums a bucket in several parts, if others reach it later; more parts than these are not
// recorded.
constexpr std::size_t kPartsPerBucket = 32;
constexpr std::size_t kOtherSpans = 8;  // batch, loss, update, wait for the sums

template <typename T>
void keep_every_second(std::vector<T>& values) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    if (kept != i) values[kept] = std::move(values[i]);
    ++kept;
  }
  values.resize(kept);
}

}  // namespace

class StepRecorder::DeviceRecorder final : public nn::StepObserver {
 public:
  struct Raw {
    TimelineLane lane = TimelineLane::Compute;
    StepPhase phase = StepPhase::Forward;
    int part = 0;
    double begin_s = 0, end_s = 0;
  };

  DeviceRecorder(std::size_t ops, std::size_t buckets) : ready_s(buckets) {
    spans.reserve(2 * ops + kPartsPerBucket * buckets + kOtherSpans);
  }

  void begin(std::int64_t of_batch) {
    spans.clear();
    lost = 0;
    images = of_batch;
    std::fill(ready_s.begin(), ready_s.end(), 0.0);
  }
  void add(const Raw& span) {
    if (spans.size() < spans.capacity()) {
      spans.push_back(span);
    } else {
      ++lost;
    }
  }
  void done(StepPhase phase, std::size_t op, double seconds) override {
    const double now_s = monotonic_s();
    ran(phase, op, now_s - seconds, now_s);
  }
  // Sums are recorded bucket by bucket instead.
  void ran(StepPhase phase, std::size_t op, double begin_s, double end_s) override {
    if (next != nullptr) next->done(phase, op, end_s - begin_s);
    if (phase == StepPhase::AllReduce) return;
    const bool copies = phase == StepPhase::Batch;
    add({copies ? TimelineLane::Copies : TimelineLane::Compute, phase, static_cast<int>(op),
         begin_s, end_s});
  }

  nn::StepObserver* next = nullptr;
  std::int64_t images = 0, lost = 0;
  std::vector<Raw> spans;
  std::vector<double> ready_s;  // by bucket
};

StepRecorder::StepRecorder(std::span<const nn::Network* const> networks,
                           std::vector<std::size_t> members,
                           std::span<const GradientBucket> buckets, bool momentum, bool sums_unseen)
    : networks_(networks.begin(), networks.end()),
      members_(std::move(members)),
      buckets_(buckets.begin(), buckets.end()),
      momentum_(momentum),
      sums_unseen_(sums_unseen) {
  for (const nn::OpName& name : nn::name_ops(networks_.front()->plan())) {
    layers_.push_back({.name = name.layer, .kind = name.kind, .shape = name.shape});
  }
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    devices_.push_back(std::make_unique<DeviceRecorder>(layers_.size(), buckets_.size()));
  }
}

StepRecorder::~StepRecorder() = default;

void StepRecorder::begin_step(double begin_s, std::span<const std::int64_t> images) {
  begin_s_ = begin_s;
  for (std::size_t i = 0; i < devices_.size(); ++i) devices_[i]->begin(images[i]);
}

nn::StepObserver& StepRecorder::device(std::size_t replica, nn::StepObserver* next) {
  devices_[replica]->next = next;
  return *devices_[replica];
}

void StepRecorder::ready(std::size_t member, std::size_t bucket) {
  devices_[members_[member]]->ready_s[bucket] = monotonic_s();
}

void StepRecorder::summed(std::size_t member, std::size_t bucket, double begin_s, double end_s) {
  devices_[members_[member]]->add(
      {TimelineLane::Sums, StepPhase::AllReduce, static_cast<int>(bucket), begin_s, end_s});
}

void StepRecorder::exposed(std::size_t replica, double begin_s, double end_s) {
  devices_[replica]->add({TimelineLane::Sums, StepPhase::AllReduce, -1, begin_s, end_s});
}

TimelineSpan StepRecorder::span_of(std::size_t replica, const DeviceRecorder& device,
                                   std::size_t i) const {
  const DeviceRecorder::Raw& raw = device.spans[i];
  TimelineSpan span{.device = static_cast<int>(replica),
                    .lane = raw.lane,
                    .phase = raw.phase,
                    .part = raw.part,
                    .begin_s = raw.begin_s - begin_s_,
                    .end_s = raw.end_s - begin_s_};
  if (raw.phase == StepPhase::AllReduce) {
    if (raw.part >= 0) span.bytes = buckets_[static_cast<std::size_t>(raw.part)].bytes();
    return span;
  }
  const nn::Work work = work_of(*networks_.front(), raw.phase, static_cast<std::size_t>(raw.part),
                                device.images, momentum_);
  span.flop = work.flop;
  span.bytes = work.bytes;
  return span;
}

std::vector<TimelineBucket> StepRecorder::bucket_times() const {
  std::vector<TimelineBucket> times(buckets_.size());
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    times[b].bytes = buckets_[b].bytes();
    for (const auto& device : devices_) {
      const double at_s = device->ready_s[b];
      times[b].ready_s.push_back(at_s > 0 ? at_s - begin_s_ : 0);
    }
  }
  for (const auto& device : devices_) {
    for (const DeviceRecorder::Raw& raw : device->spans) {
      if (raw.lane != TimelineLane::Sums || raw.part < 0) continue;
      double& done_s = times[static_cast<std::size_t>(raw.part)].done_s;
      done_s = std::max(done_s, raw.end_s - begin_s_);
    }
  }
  return times;
}

StepTimeline StepRecorder::timeline() const {
  StepTimeline timeline;
  timeline.model = networks_.front()->name();
  timeline.sums_unseen = sums_unseen_;
  timeline.layers = layers_;
  timeline.buckets = bucket_times();
  for (std::size_t replica = 0; replica < devices_.size(); ++replica) {
    const DeviceRecorder& device = *devices_[replica];
    const Device name = networks_[replica]->device().device();
    timeline.devices.push_back({.device = name, .images = device.images});
    timeline.timed = timeline.timed && is_timed(name);
    timeline.lost += device.lost;
    for (std::size_t i = 0; i < device.spans.size(); ++i) {
      timeline.spans.push_back(span_of(replica, device, i));
    }
  }
  return timeline;
}

void TraceSteps::add(StepTimeline timeline) {
  steps_.push_back(std::move(timeline));
  if (steps_.size() < kMostSteps) return;
  keep_every_second(steps_);
  stride_ *= 2;
}

void TraceSteps::add(const LossPoint& loss) {
  if (seen_losses_++ % loss_stride_ != 0) return;
  losses_.push_back(loss);
  if (losses_.size() < kMostLosses) return;
  keep_every_second(losses_);
  loss_stride_ *= 2;
}

}  // namespace lab
