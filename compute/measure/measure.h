#pragma once
// Times a piece of work until its median is known precisely enough.
//
//   const Timing t = measure([&] { kernel(a, b, c); }, {.budget_s = 0.5, .cancelled = cancelled});
//
// Warm-up    Untimed calls come first. They also determine the number of calls per repetition, so
//            that a repetition is long relative to the clock's resolution. All times are per call.
// Stops      When the spread of the median is below `max_spread`, where
//            spread = (x[u] - x[l]) / median, and x[l], x[u] are the order statistics that enclose
//            the true median with 95 % confidence for any distribution (binomial ranks, so at least
//            6 repetitions); or when the time budget ends, in which case `unstable` is set.
// Cold       `flush` is called before each repetition, outside the timing, to empty the caches; a
//            repetition is then one call.
// Cancel     `cancelled` is polled between repetitions; a body longer than 50 ms must poll it and
//            return early. Throws Error(Cancelled).
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compute/core/events/stats.h"
#include "compute/core/monotonic_clock.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// Returns the CPU time of the calling thread in seconds, which excludes time taken by other
// processes.
double thread_cpu_s();

struct MeasureOptions {
  double budget_s = 0.5;                 // includes warm-up and flushing
  double max_spread = 0.02;              // relative spread of the median, as defined above
  std::int64_t min_repetitions = 10;     // within the budget; at least one
  std::int64_t max_repetitions = 20000;  // sufficient for any median
  double min_time_s = 0.05;              // minimum total timed, capped at half of the budget
  double min_repetition_s = 50e-6;       // shorter bodies are called several times per repetition
  std::int64_t max_calls = 1 << 24;      // per repetition
  std::function<void()> flush = {};      // if set: cold caches
  std::function<bool()> cancelled = {};  // returns true to stop
  std::function<double()> now_s = monotonic_s;  // replaceable in tests
};

// Work with its own clock: makes `times` calls and returns their total time in seconds.
struct TimedCalls {
  FunctionRef<double(std::int64_t times)> make;
};

// A measurement performed in steps, so that several can be interleaved under the same machine
// conditions.
class Measurement {
 public:
  // `body` and `calls` are borrowed and must outlive the measurement.
  Measurement(FunctionRef<void()> body, MeasureOptions options);
  Measurement(TimedCalls calls, MeasureOptions options);
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // Calls the body until it is warm and the number of calls per repetition is known. Call once,
  // before repeat().
  void warm_up();
  // Makes one untimed call after other work has used the caches. Skipped for a body so long that
  // its own first part warms them.
  void rewarm();
  // Performs one timed repetition.
  void repeat();
  // Returns true if the spread is small enough or the budget is spent.
  bool done() const { return done_; }
  // Time used by this measurement so far.
  double spent_s() const { return spent_s_; }
  // Result so far; n is 0 before the first repetition.
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

// Warms up, then repeats until done.
Timing measure(FunctionRef<void()> body, const MeasureOptions& options = {});
Timing measure(TimedCalls calls, const MeasureOptions& options);

// ---- Machine conditions of a measurement

// Returns the current time and the clock of core `core` as reported by the kernel in /sys (cpufreq)
// or /proc/cpuinfo. `root` replaces "/" in tests.
Conditions current_conditions(int core = 0, const std::string& root = "/");
// Returns the conditions of a measurement on a GPU.
Conditions conditions_of_gpu();

}  // namespace lab
