#pragma once
// Times a piece of work until its median is known well enough.
//
//   const Timing t = measure([&] { kernel(a, b, c); }, {.budget_s = 0.5, .cancelled = cancelled});
//
// Warm-up    untimed calls first; they also find how many calls make one repetition, so that a
//            repetition is long against the clock's resolution. All times are per call.
// Stops      when the median's spread is under `max_spread`, where
//            spread = (x[u] - x[l]) / median, and x[l], x[u] are the order statistics that enclose
//            the true median with 95 % confidence whatever the distribution (binomial ranks, so at
//            least 6 repetitions); or when the time budget ends: then `unstable` is set.
// Cold       `flush` is called before each repetition, outside the timing, to empty caches; then
//            one repetition is one call.
// Cancel     `cancelled` is asked between repetitions; a body longer than 50 ms asks itself and
//            returns early. Throws Error(Cancelled).
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compute/core/events/stats.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// Seconds on the monotonic clock.
double monotonic_s();

// Seconds of processor time that the calling thread has used: what a busy machine took away from it
// does not count.
double thread_cpu_s();

struct MeasureOptions {
  double budget_s = 0.5;                 // warm-up and flushing included
  double max_spread = 0.02;              // of the median, as defined above
  std::int64_t min_repetitions = 10;     // while the budget lasts; at least one always
  std::int64_t max_repetitions = 20000;  // enough for any median
  double min_time_s = 0.05;              // timed at least so long, at most half of the budget
  double min_repetition_s = 50e-6;       // shorter bodies are called several times a repetition
  std::int64_t max_calls = 1 << 24;      // of one repetition
  std::function<void()> flush = {};      // set: cold caches
  std::function<bool()> cancelled = {};  // true: stop now
  std::function<double()> now_s = monotonic_s;  // replaced in tests
};

// Work with a clock of its own: makes so many calls and returns the seconds they took together.
struct TimedCalls {
  FunctionRef<double(std::int64_t times)> make;
};

// One measurement in steps, so that several can take turns and see the same machine.
class Measurement {
 public:
  // `body` and `calls` are borrowed: they must outlive the measurement.
  Measurement(FunctionRef<void()> body, MeasureOptions options);
  Measurement(TimedCalls calls, MeasureOptions options);
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // Calls the body until it is warm and the repetition's length is known. Once, before repeat().
  void warm_up();
  // One untimed call, after other work used the caches; a body so long that its own first part
  // warms them is not called.
  void rewarm();
  // One timed repetition.
  void repeat();
  // True when the spread is small enough or the budget is spent.
  bool done() const { return done_; }
  // Time this measurement has used so far.
  double spent_s() const { return spent_s_; }
  // What is known so far; n is 0 before the first repetition.
  Timing timing() const;

 private:
  void prepare();
  double call(std::int64_t times);
  double warm(std::int64_t times);
  void throw_if_cancelled() const;
  void decide();

  const MeasureOptions options_;
  const std::function<double(std::int64_t)> calls_;
  std::vector<double> times_s_;
  std::int64_t calls_per_repetition_ = 1;
  std::int64_t warmup_ = 0;
  std::int64_t next_check_ = 0;
  double timed_s_ = 0;
  double spent_s_ = 0;
  bool steady_ = false;
  bool done_ = false;
};

// Warm-up, then repetitions until done.
Timing measure(FunctionRef<void()> body, const MeasureOptions& options = {});
Timing measure(TimedCalls calls, const MeasureOptions& options);

// ---- The state of the machine around a measurement

// The time now and the clock of core `core` as the kernel shows it in /sys (cpufreq) or in
// /proc/cpuinfo. `root` replaces "/" in tests.
Conditions current_conditions(int core = 0, const std::string& root = "/");
// Of a measurement on a GPU.
Conditions conditions_of_gpu();

}  // namespace lab
