#pragma once
// What an experiment sees of the world: devices, tensors, where results go, and whether to go on.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

#include "compute/run/channel.h"
#include "compute/types/event.h"

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
             RunControl& control, std::stop_token stop);

  Machine& machine() { return machine_; }
  TensorStore& tensors() { return tensors_; }

  // Reports a result, in order. Safe from any thread.
  void emit(Payload payload);

  // Reports how far the job is, 0..1; at most ten times a second reach the channel. The time left
  // is extrapolated from the time since the job started, pauses left out. Job thread only.
  void progress(double done, std::string what);

  // Throws Error(Cancelled) when the job was cancelled. Call at least every 50 ms of work.
  void throw_if_cancelled() const;

  // Waits while the job is paused, then throw_if_cancelled(). Returns the seconds spent waiting.
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
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_progress_{};
  double paused_s_ = 0;
};

}  // namespace lab
