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
  spare_.push_back(take_spare());
}

GpuReducer::~GpuReducer() {
  try {
    while (unfinished_ == 0 && !failed_ && !ahead_.empty()) finish_ahead();
  } catch (const Error&) {  // those whose results have been taken are reported
  }
  if (unfinished_ > 0 || failed_) sums_->abandon();
}

std::unique_ptr<GpuReducer::Step> GpuReducer::take_spare() {
  if (!spare_.empty()) {
    auto step = std::move(spare_.back());
    spare_.pop_back();
    return step;
  }
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
  unfinished_ = step.size();
}

void GpuReducer::begin_step(std::span<const std::int64_t> images) {
  spare_.push_back(take_spare());
  begin(*spare_.back(), images);
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
  const double begin_s = monotonic_s();
  for (Backoff backoff; !self.buckets.back().end->done(); backoff.pause()) {
    throw_if_cancelled(stop);
    check_sums(begin_s, replica);
  }
  times_[replica] = times_of(self);
  finish_one();
}

void GpuReducer::wait_until_queued(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (changed_.wait(lock, stop, [&] { return queued_ == buckets_.size(); })) return;
  throw Error(Errc::Cancelled, tr("cancelled"));
}

void GpuReducer::finish_one() {
  const std::lock_guard lock(mutex_);
  --unfinished_;
}

// While a replica waits for sums, since `begin_s`.
void GpuReducer::check_sums(double begin_s, std::size_t replica) {
  const std::lock_guard lock(mutex_);
  sums_->check();
  if (monotonic_s() - begin_s < longest_.count()) return;
  sums_->abandon();
  throw Error(Errc::Cuda,
              trf("{}: the sum of gradients over the GPUs did not end within {:g} s; use "
                  "--sum lab, or fewer GPUs",
                  to_string(sums_->members()[replica].gpu->facts().device), longest_.count()));
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

void GpuReducer::begin_series() {
  if (series_begin_.empty()) {
    std::vector<std::unique_ptr<GpuEvent>> events;
    for (const GpuSums::Member& member : sums_->members()) {
      events.push_back(member.gpu->make_event());
    }
    series_begin_ = std::move(events);
  }
  for (std::size_t i = 0; i < series_begin_.size(); ++i) {
    series_begin_[i]->record(sums_->members()[i].gpu->main_stream());
  }
  if (last_) spare_.push_back(std::move(last_));
}

void GpuReducer::begin_ahead(std::span<const std::int64_t> images) {
  ahead_.push_back(take_spare());
  begin(*ahead_.back(), images);
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
  finish_one();
}

// Asks every GPU: one that is lost reports it, while another would wait for it without end.
bool GpuReducer::ahead_done() {
  const Step& step = *ahead_.front();
  std::size_t updated = 0;
  try {
    for (const Replica& one : step) updated += one.updated->done() ? 1 : 0;
  } catch (...) {
    failed_ = true;
    throw;
  }
  return updated == step.size();
}

void GpuReducer::wait_for(const Step& step) {
  double begin_s = monotonic_s();
  for (Backoff backoff;; backoff.pause()) {
    std::size_t computed = 0, updated = 0;
    for (const Replica& one : step) {
      if (one.buckets.back().ready->done()) ++computed;
      if (one.updated->done()) ++updated;
    }
    if (updated == step.size()) return;
    if (computed < step.size()) begin_s = monotonic_s();
    check_sums(begin_s, 0);
  }
}

std::span<const GpuReducer::AheadTimes> GpuReducer::finish_ahead() {
  auto step = std::move(ahead_.front());
  ahead_.pop_front();
  try {
    wait_for(*step);
  } catch (...) {
    failed_ = true;
    throw;
  }
  for (std::size_t i = 0; i < step->size(); ++i) {
    const Replica& one = (*step)[i];
    const Events& last = one.buckets.back();
    ahead_times_[i] = {.backward_end_s = last.ready->seconds_since(*one.begin),
                       .finish_s = last.end->seconds_since(*one.begin),
                       .sums = times_of(one),
                       .update_s = one.updated->seconds_since(*one.summed)};
    if (series_begin_.empty()) continue;
    const GpuEvent& before = last_ ? *(*last_)[i].updated : *series_begin_[i];
    ahead_times_[i].step_s = one.updated->seconds_since(before);
  }
  if (last_) spare_.push_back(std::move(last_));
  last_ = std::move(step);
  return ahead_times_;
}

}  // namespace lab
