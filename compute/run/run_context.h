#pragma once
// Context of a running experiment: devices, tensors, the output channel, and cancellation.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/run/channel.h"
#include "compute/run/rank_group.h"

namespace lab {

class Machine;
class TensorStore;

// User controls of a running job, shared by the worker and the controller.
class RunControl {
 public:
  void pause(bool on);
  void stop_after_epoch() { stop_after_epoch_ = true; }
  bool stop_after_epoch_requested() const { return stop_after_epoch_; }
  bool paused() const;
  // Requests a change of the running training. Until it is taken, it absorbs later ones.
  void change(const ChangeTraining& change);
  std::optional<ChangeTraining> take_change();
  // Blocks until not paused or `stop` is requested; returns the seconds spent waiting.
  double wait_while_paused(std::stop_token stop);
  void reset();

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool paused_ = false;
  std::optional<ChangeTraining> change_;
  std::atomic<bool> stop_after_epoch_ = false;
};

class RunContext {
 public:
  RunContext(JobId job, Machine& machine, TensorStore& tensors, Channel& channel,
             RunControl& control, std::stop_token stop, RankGroup& ranks = single_rank());

  Machine& machine() { return machine_; }
  TensorStore& tensors() { return tensors_; }
  // The ranks that share this job; a single one without mpirun.
  RankGroup& ranks() { return ranks_; }

  // Reports a result. Events keep their order. Thread-safe.
  void emit(Payload payload);
  // Reports a final result, delivered even if the job was cancelled.
  void emit_after_stop(Payload payload);

  // Reports the fraction done, 0..1; at most ten reports per second reach the channel. The
  // remaining time is extrapolated from the time since the job started, excluding pauses, and from
  // the expected time, which counts less the more is done. Job thread only.
  void progress(double done, std::string what);
  // The whole job will last about `seconds`. The progress of its parts then follows the time, for
  // jobs that fit their work into a given time. Ignored within a part. Job thread only.
  void expect(double seconds) {
    if (part_ == nullptr) expected_s_ = seconds;
  }

  // While a Part exists, progress() maps 0..1 to [begin, end] of the job and prefixes its text with
  // `what`, if not empty, or replaces it by `what`. For jobs composed of parts that report progress
  // as if run separately. Job thread only.
  class Part {
   public:
    enum class Names { All, Outer };
    Part(RunContext& ctx, double begin, double end, std::string what, Names names = Names::All);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    double within(double done) const;
    std::string named(const std::string& what) const;

    RunContext& ctx_;
    Part* const outer_;
    const double begin_, end_;  // fractions of the whole job
    const std::string what_;
    const bool replaces_;
    friend class RunContext;
  };

  // While a Tap exists, its function sees each result after it has been sent. For jobs composed of
  // experiments that emit on the job's thread, where it is called. Job thread only; one at a time.
  class Tap {
   public:
    Tap(RunContext& ctx, std::function<void(const Payload&)> see);
    ~Tap();
    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;

   private:
    RunContext& ctx_;
    const std::function<void(const Payload&)> see_;
    friend class RunContext;
  };

  // Throws Error(Cancelled) if the job was cancelled. Call at least once per 50 ms of work.
  void throw_if_cancelled() const;

  bool paused() const { return control_.paused(); }
  // Waits while the job is paused and not cancelled; returns the seconds spent waiting. Throws an
  // Error announced by another rank in the meantime.
  double wait_while_paused();
  // Calls wait_while_paused(), then throw_if_cancelled().
  double checkpoint();

  bool stop_after_epoch() const { return control_.stop_after_epoch_requested(); }
  // Returns what the user has asked to change since the last call. Thread-safe.
  std::optional<ChangeTraining> take_change() { return control_.take_change(); }
  std::stop_token stop_token() const { return stop_; }
  JobId job() const { return job_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<double> left_s(double done, double spent_s) const;

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
  double expected_s_ = 0;  // of the whole job; 0: unknown
  Part* part_ = nullptr;
  const Tap* tap_ = nullptr;
};

}  // namespace lab
