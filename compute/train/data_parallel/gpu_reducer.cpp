#include "compute/train/data_parallel/gpu_reducer.h"

#include <algorithm>
#include <utility>

#include "compute/core/backoff.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/measure/measure.h"

namespace lab {

GpuReducer::GpuReducer(std::unique_ptr<GpuSums> sums, std::span<const GradientBucket> buckets,
                       std::chrono::duration<double> longest)
    : sums_(std::move(sums)),
      buckets_(buckets.begin(), buckets.end()),
      longest_(longest),
      replicas_(sums_->members().size()),
      arrived_(buckets.size()) {
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    GpuDevice& gpu = *sums_->members()[i].gpu;
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      replicas_[i].events.push_back({gpu.make_event(), gpu.make_event(), gpu.make_event()});
    }
  }
}

GpuReducer::~GpuReducer() {
  if (unfinished_ > 0) sums_->abandon();
}

void GpuReducer::begin_step(std::span<const std::int64_t> images) {
  for (std::size_t i = 0; i < replicas_.size(); ++i) replicas_[i].has_images = images[i] > 0;
  std::ranges::fill(arrived_, 0U);
  queued_ = 0;
  unfinished_ = replicas_.size();
}

void GpuReducer::ready(std::size_t replica, std::size_t bucket) {
  Replica& self = replicas_[replica];
  const GpuSums::Member& member = sums_->members()[replica];
  const GradientBucket& range = buckets_[bucket];
  GpuStream& main = member.gpu->main_stream();
  if (!self.has_images) {
    member.gpu->fill({.to = reinterpret_cast<std::byte*>(member.values + range.begin),
                      .count = range.end - range.begin},
                     main);
  }
  self.events[bucket].ready->record(main);
  const std::lock_guard lock(mutex_);
  if (++arrived_[bucket] < replicas_.size()) return;
  queue(bucket);
  queued_ = bucket + 1;
  changed_.notify_all();
}

// Every stream waits for all replicas before it begins, so that the time between its events
// excludes waiting for slower ones.
void GpuReducer::queue(std::size_t bucket) {
  const auto members = sums_->members();
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    for (const Replica& other : replicas_) members[i].stream->wait(*other.events[bucket].ready);
    replicas_[i].events[bucket].begin->record(*members[i].stream);
  }
  sums_->queue(buckets_[bucket].begin, buckets_[bucket].end);
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    replicas_[i].events[bucket].end->record(*members[i].stream);
  }
}

void GpuReducer::finish(std::size_t replica, std::stop_token stop) {
  wait_until_queued(stop);
  wait_for_sums(replica, stop);
  take_times(replica);
  const std::lock_guard lock(mutex_);
  --unfinished_;
}

void GpuReducer::wait_until_queued(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (changed_.wait(lock, stop, [&] { return queued_ == buckets_.size(); })) return;
  throw Error(Errc::Cancelled, tr("cancelled"));
}

void GpuReducer::wait_for_sums(std::size_t replica, const std::stop_token& stop) {
  const GpuEvent& end = *replicas_[replica].events.back().end;
  const double begin_s = monotonic_s();
  for (Backoff backoff; !end.done(); backoff.pause()) {
    throw_if_cancelled(stop);
    const std::lock_guard lock(mutex_);
    sums_->check();
    if (monotonic_s() - begin_s < longest_.count()) continue;
    sums_->abandon();
    throw Error(Errc::Cuda,
                trf("{}: the sum of gradients over the GPUs did not end within {:g} s; use "
                    "--sum lab, or fewer GPUs",
                    to_string(sums_->members()[replica].gpu->facts().device), longest_.count()));
  }
}

void GpuReducer::take_times(std::size_t replica) {
  Replica& self = replicas_[replica];
  self.times = {};
  const GpuEvent& backward_end = *self.events.back().ready;
  for (const Events& events : self.events) {
    const double work_s = std::max(0.0, events.end->seconds_since(*events.begin));
    const double before_s = backward_end.seconds_since(*events.begin);
    self.times.work_s += work_s;
    self.times.hidden_s += std::clamp(before_s, 0.0, work_s);
  }
}

SumTimes GpuReducer::times(std::size_t replica) const {
  return replicas_[replica].times;
}

}  // namespace lab
