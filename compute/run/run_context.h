#pragma once
// What an experiment sees of the world: devices, tensors, where results go, and whether to go on.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

#include "compute/core/events/event.h"
#include "compute/run/channel.h"
#include "compute/run/rank_group.h"

namespace lab {

class Machine;
class TensorStore;

// The switches that a person can throw while a job runs. Shared by worker and controller.
class RunControl {
 public:
  void pause(bool on);
  void stop_after_epoch() { stop_after_epoch_ = true; }
  bool stop_after_epoch_requested() const { return stop_after_epoch_; }
  bool paused() const;
  // Returns when not paused or when `stop` is requested; the time spent waiting, in seconds.
  double wait_while_paused(std::stop_token stop);
  void reset();

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool paused_ = false;
  std::atomic<bool> stop_after_epoch_ = false;
};

class RunContext {
 public:
  RunContext(JobId job, Machine& machine, TensorStore& tensors, Channel& channel,
             RunControl& control, std::stop_token stop, RankGroup& ranks = single_rank());

  Machine& machine() { return machine_; }
  TensorStore& tensors() { return tensors_; }
  // The processes that share this job; one where nobody started more.
  RankGroup& ranks() { return ranks_; }

  // Reports a result, in order. Safe from any thread.
  void emit(Payload payload);
  // The same for the last words of a job that was cancelled: they arrive although it was.
  void emit_after_stop(Payload payload);

  // Reports how far the job is, 0..1; at most ten times a second reach the channel. The time left
  // is extrapolated from the time since the job started, pauses left out. Job thread only.
  void progress(double done, std::string what);

  // While one lives, progress() counts from `begin` to `end` of the job and `what`, when not empty,
  // stands before what it says: for jobs made of parts that report as if they were alone. Job
  // thread only.
  class Part {
   public:
    Part(RunContext& ctx, double begin, double end, std::string what);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    double within(double done) const;
    std::string named(const std::string& what) const;

    RunContext& ctx_;
    Part* const outer_;
    const double begin_, end_;  // of the whole job
    const std::string what_;
    friend class RunContext;
  };

  // Throws Error(Cancelled) when the job was cancelled. Call at least every 50 ms of work.
  void throw_if_cancelled() const;

  // Waits while the job is paused and not cancelled. Returns the seconds spent waiting. Throws what
  // another process announces in the meantime.
  double wait_while_paused();
  // The same, then throw_if_cancelled().
  double checkpoint();

  bool stop_after_epoch() const { return control_.stop_after_epoch_requested(); }
  std::stop_token stop_token() const { return stop_; }
  JobId job() const { return job_; }

 private:
  using Clock = std::chrono::steady_clock;
  const JobId job_;
  Machine& machine_;
  TensorStore& tensors_;
  Channel& channel_;
  RunControl& control_;
  const std::stop_token stop_;
  RankGroup& ranks_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_progress_{};
  double paused_s_ = 0;
  Part* part_ = nullptr;
};

}  // namespace lab
