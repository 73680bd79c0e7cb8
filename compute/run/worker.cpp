#include "compute/run/worker.h"

#include <chrono>

#include "compute/core/error.h"
#include "compute/run/lab_clock.h"

namespace lab {

Worker::Worker(Machine& machine, TensorStore& tensors, Channel& channel, Factory factory,
               Title title, RankGroup& ranks)
    : machine_(machine),
      tensors_(tensors),
      channel_(channel),
      ranks_(ranks),
      factory_(std::move(factory)),
      title_(std::move(title)),
      thread_([this](std::stop_token stop) { loop(std::move(stop)); }) {}

Worker::~Worker() {
  thread_.request_stop();
  cancel_all();
  channel_.close();  // unblocks a job that waits in push()
}

JobId Worker::submit(JobCommand command) {
  JobId id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
    queue_.push_back({id, std::move(command)});
  }
  changed_.notify_all();
  return id;
}

void Worker::cancel() {
  const std::lock_guard lock(mutex_);
  if (running_) job_stop_.request_stop();
}

void Worker::cancel_all() {
  const std::lock_guard lock(mutex_);
  queue_.clear();
  if (running_) job_stop_.request_stop();
}

bool Worker::idle() const {
  const std::lock_guard lock(mutex_);
  return !running_ && queue_.empty();
}

void Worker::loop(std::stop_token stop) {
  while (true) {
    Job job;
    std::stop_token job_stop;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
      if (stop.stop_requested()) return;
      job = std::move(queue_.front());
      queue_.pop_front();
      job_stop_ = std::stop_source();
      job_stop = job_stop_.get_token();
      control_.reset();
      running_ = true;
    }
    run_job(job, job_stop);
  }
}

void Worker::run_job(const Job& job, std::stop_token stop) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  // JobStarted and JobFinished are pushed without the stop token, so that they arrive even for a
  // cancelled job.
  channel_.push({job.id, lab_time_s(), JobStarted{title_(job.command), job.command}});
  JobFinished finished;
  try {
    RunContext ctx(job.id, machine_, tensors_, channel_, control_, stop, ranks_);
    ctx.throw_if_cancelled();
    factory_(job.command)->run(ctx);
  } catch (...) {
    const Error e = current_error();
    finished.outcome = e.code() == Errc::Cancelled ? Outcome::Cancelled : Outcome::Failed;
    if (finished.outcome == Outcome::Failed) finished.error = e.what();
    finished.code = e.code();
  }
  finished.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
  }
  channel_.push({job.id, lab_time_s(), std::move(finished)});
}

}  // namespace lab
