#include "compute/train/data_parallel/gpu_reducer.h"

#include <algorithm>
#include <utility>

#include "compute/core/backoff.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/measure/measure.h"

namespace lab {

GpuReducer::GpuReducer(std::unique_ptr<GpuSums> sums, std::span<const GradientBucket> buckets,
                       std::chrono::duration<double> longest, std::int64_t behind)
    : sums_(std::move(sums)),
      buckets_(buckets.begin(), buckets.end()),
      behind_(behind),
      longest_(longest),
      times_(sums_->members().size()),
      ahead_times_(times_.size()),
      arrived_(buckets.size()) {
  spare_.push_back(make_step());
}

GpuReducer::~GpuReducer() {
  if (unfinished_ > 0) sums_->abandon();
}

std::unique_ptr<GpuReducer::Step> GpuReducer::make_step() const {
  auto step = std::make_unique<Step>();
  for (const GpuSums::Member& member : sums_->members()) {
    GpuDevice& gpu = *member.gpu;
    Replica& replica = step->emplace_back();
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      replica.buckets.push_back({gpu.make_event(), gpu.make_event(), gpu.make_event()});
    }
    replica.begin = gpu.make_event();
    replica.summed = gpu.make_event();
    replica.updated = gpu.make_event();
  }
  return step;
}

void GpuReducer::begin(Step& step, std::span<const std::int64_t> images) {
  step_ = &step;
  for (std::size_t i = 0; i < step.size(); ++i) step[i].has_images = images[i] > 0;
  std::ranges::fill(arrived_, 0U);
  queued_ = 0;
}

void GpuReducer::begin_step(std::span<const std::int64_t> images) {
  begin(*spare_.back(), images);
  unfinished_ = step_->size();
}

void GpuReducer::ready(std::size_t replica, std::size_t bucket) {
  const Replica& self = (*step_)[replica];
  const GpuSums::Member& member = sums_->members()[replica];
  const GradientBucket& range = buckets_[bucket];
  GpuStream& main = member.gpu->main_stream();
  if (!self.has_images) {
    const std::int64_t end = range.end + (bucket == 0 ? behind_ : 0);
    member.gpu->fill({.to = reinterpret_cast<std::byte*>(member.values + range.begin),
                      .count = end - range.begin},
                     main);
  }
  self.buckets[bucket].ready->record(main);
  const std::lock_guard lock(mutex_);
  if (++arrived_[bucket] < step_->size()) return;
  queue(bucket);
  queued_ = bucket + 1;
  changed_.notify_all();
}

// Every stream waits for all replicas before it begins, so that the time between its events
// excludes waiting for slower ones.
void GpuReducer::queue(std::size_t bucket) {
  const auto members = sums_->members();
  for (std::size_t i = 0; i < step_->size(); ++i) {
    for (const Replica& other : *step_) members[i].stream->wait(*other.buckets[bucket].ready);
    (*step_)[i].buckets[bucket].begin->record(*members[i].stream);
  }
  const GradientBucket& range = buckets_[bucket];
  sums_->queue(range.begin, range.end + (bucket == 0 ? behind_ : 0));
  for (std::size_t i = 0; i < step_->size(); ++i) {
    (*step_)[i].buckets[bucket].end->record(*members[i].stream);
  }
}

void GpuReducer::finish(std::size_t replica, std::stop_token stop) {
  wait_until_queued(stop);
  const Replica& self = (*step_)[replica];
  wait_for(*self.buckets.back().end, replica, stop);
  times_[replica] = times_of(self);
  const std::lock_guard lock(mutex_);
  --unfinished_;
}

void GpuReducer::wait_until_queued(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (changed_.wait(lock, stop, [&] { return queued_ == buckets_.size(); })) return;
  throw Error(Errc::Cancelled, tr("cancelled"));
}

void GpuReducer::wait_for(const GpuEvent& event, std::size_t replica, const std::stop_token& stop) {
  const double begin_s = monotonic_s();
  for (Backoff backoff; !event.done(); backoff.pause()) {
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

SumTimes GpuReducer::times_of(const Replica& replica) {
  SumTimes times;
  const GpuEvent& backward_end = *replica.buckets.back().ready;
  for (const Events& events : replica.buckets) {
    const double work_s = std::max(0.0, events.end->seconds_since(*events.begin));
    const double before_s = backward_end.seconds_since(*events.begin);
    times.work_s += work_s;
    times.hidden_s += std::clamp(before_s, 0.0, work_s);
  }
  return times;
}

SumTimes GpuReducer::times(std::size_t replica) const {
  return times_[replica];
}

// ---- Steps ahead of their sums

void GpuReducer::begin_ahead(std::span<const std::int64_t> images) {
  if (spare_.empty()) spare_.push_back(make_step());
  ahead_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  begin(*ahead_.back(), images);
  unfinished_ += step_->size();
  for (std::size_t i = 0; i < step_->size(); ++i) {
    (*step_)[i].begin->record(sums_->members()[i].gpu->main_stream());
  }
}

void GpuReducer::update_ahead(std::size_t replica, FunctionRef<void()> update,
                              const std::stop_token& stop) {
  wait_until_queued(stop);
  const Replica& self = (*step_)[replica];
  GpuStream& main = sums_->members()[replica].gpu->main_stream();
  main.wait(*self.buckets.back().end);
  self.summed->record(main);
  update();
  self.updated->record(main);
}

bool GpuReducer::ahead_done() const {
  return std::ranges::all_of(*ahead_.front(),
                             [](const Replica& one) { return one.updated->done(); });
}

std::span<const GpuReducer::AheadTimes> GpuReducer::finish_ahead(const std::stop_token& stop) {
  const Step& step = *ahead_.front();
  for (std::size_t i = 0; i < step.size(); ++i) {
    const Replica& one = step[i];
    wait_for(*one.updated, i, stop);
    const Events& last = one.buckets.back();
    ahead_times_[i] = {.backward_end_s = last.ready->seconds_since(*one.begin),
                       .finish_s = last.end->seconds_since(*one.begin),
                       .sums = times_of(one),
                       .update_s = one.updated->seconds_since(*one.summed)};
  }
  spare_.push_back(std::move(ahead_.front()));
  ahead_.pop_front();
  unfinished_ -= step.size();
  return ahead_times_;
}

}  // namespace lab
