#include "compute/run/run_context.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "compute/core/error.h"
#include "compute/run/lab_clock.h"

namespace lab {

constexpr double kNearlyDone = 0.99;  // of a job that takes longer than expected

void RunControl::pause(bool on) {
  {
    const std::lock_guard lock(mutex_);
    paused_ = on;
  }
  changed_.notify_all();
}

bool RunControl::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

double RunControl::wait_while_paused(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!paused_) return 0;
  const auto begin = std::chrono::steady_clock::now();
  changed_.wait(lock, stop, [this] { return !paused_; });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void RunControl::change(const ChangeTraining& change) {
  const std::lock_guard lock(mutex_);
  if (!change_) change_.emplace();
  if (change.lr) change_->lr = change.lr;
  if (change.epochs) change_->epochs = change.epochs;
  if (!change.share_policy) return;
  change_->share_policy = change.share_policy;
  change_->shares = change.shares;
}

std::optional<ChangeTraining> RunControl::take_change() {
  const std::lock_guard lock(mutex_);
  return std::exchange(change_, std::nullopt);
}

void RunControl::reset() {
  pause(false);
  take_change();
  stop_after_epoch_ = false;
}

RunContext::RunContext(JobId job, Machine& machine, TensorStore& tensors, Channel& channel,
                       RunControl& control, std::stop_token stop, RankGroup& ranks)
    : job_(job),
      machine_(machine),
      tensors_(tensors),
      channel_(channel),
      control_(control),
      stop_(std::move(stop)),
      ranks_(ranks) {}

void RunContext::emit(Payload payload) {
  if (tap_ == nullptr) {
    channel_.push({job_, lab_time_s(), std::move(payload)}, stop_);
    return;
  }
  channel_.push({job_, lab_time_s(), payload}, stop_);
  tap_->see_(payload);
}

void RunContext::emit_after_stop(Payload payload) {
  channel_.push({job_, lab_time_s(), std::move(payload)});
}

RunContext::Tap::Tap(RunContext& ctx, std::function<void(const Payload&)> see)
    : ctx_(ctx), see_(std::move(see)) {
  ctx_.tap_ = this;
}

RunContext::Tap::~Tap() {
  ctx_.tap_ = nullptr;
}

RunContext::Part::Part(RunContext& ctx, double begin, double end, std::string what, Names names)
    : ctx_(ctx),
      outer_(ctx.part_),
      begin_(outer_ ? outer_->within(begin) : begin),
      end_(outer_ ? outer_->within(end) : end),
      what_(outer_ ? outer_->named(what) : std::move(what)),
      replaces_(names == Names::Outer || (outer_ != nullptr && outer_->replaces_)) {
  ctx_.part_ = this;
}

RunContext::Part::~Part() {
  ctx_.part_ = outer_;
}

std::string RunContext::Part::named(const std::string& what) const {
  if (replaces_) return what_;
  return what_.empty() || what.empty() ? what_ + what : what_ + ", " + what;
}

double RunContext::Part::within(double done) const {
  return begin_ + (end_ - begin_) * std::clamp(done, 0.0, 1.0);
}

void RunContext::progress(double done, std::string what) {
  if (part_ != nullptr) {
    if (done >= 1) return;  // the end of a part is not that of the job
    done = part_->within(done);
    what = part_->named(what);
  }
  const auto now = Clock::now();
  if (done < 1 && now - last_progress_ < std::chrono::milliseconds(100)) return;
  last_progress_ = now;
  Progress p{std::clamp(done, 0.0, 1.0), std::move(what), {}};
  const double spent_s = std::chrono::duration<double>(now - start_).count() - paused_s_;
  if (expected_s_ > 0 && part_ != nullptr) p.done = std::min(spent_s / expected_s_, kNearlyDone);
  p.left_s = left_s(p.done, spent_s);
  emit(std::move(p));
}

std::optional<double> RunContext::left_s(double done, double spent_s) const {
  if (expected_s_ > 0 && part_ == nullptr) {
    // The time of the whole job: as expected at first, at the speed so far in the end.
    const double whole_s = (1 - done) * expected_s_ + spent_s;
    return (1 - done) * whole_s;
  }
  // The first steps are slower; a long job has many of them within its first hundredth.
  constexpr double kFirst = 0.01, kShort_s = 0.5, kLong_s = 5;
  if (done <= 0 || spent_s <= (done <= kFirst ? kLong_s : kShort_s)) return {};
  return spent_s * (1 - done) / done;
}

void RunContext::throw_if_cancelled() const {
  lab::throw_if_cancelled(stop_);
}

double RunContext::wait_while_paused() {
  double waited_s = 0;
  if (ranks_.single()) {
    waited_s = control_.wait_while_paused(stop_);
  } else if (control_.paused()) {
    const auto begin = Clock::now();
    while (control_.paused() && !stop_.stop_requested()) {
      ranks_.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    waited_s = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  paused_s_ += waited_s;
  return waited_s;
}

double RunContext::checkpoint() {
  const double waited_s = wait_while_paused();
  throw_if_cancelled();
  return waited_s;
}

}  // namespace lab
