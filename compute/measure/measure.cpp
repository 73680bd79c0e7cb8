#include "compute/measure/measure.h"

#include <time.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/machine/sensors.h"
#include "compute/measure/statistics.h"

namespace lab {
namespace {

// The body counts as warm after this share of the budget, or after one call if that takes longer.
constexpr double kWarmUpShare = 0.1;
constexpr double kLongBody_s = 0.01;  // above this, cold caches at the start are negligible

}  // namespace

double thread_cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Measurement::Measurement(FunctionRef<void()> body, MeasureOptions options)
    : options_(std::move(options)), calls_([this, body](std::int64_t times) {
        const double begin = options_.now_s();
        for (std::int64_t i = 0; i < times; ++i) body();
        return options_.now_s() - begin;
      }) {
  prepare();
}

Measurement::Measurement(TimedCalls calls, MeasureOptions options)
    : options_(std::move(options)), calls_(calls.make) {
  prepare();
}

void Measurement::prepare() {
  times_s_.reserve(
      static_cast<std::size_t>(std::min<std::int64_t>(options_.max_repetitions, 4096)));
  next_check_ = options_.min_repetitions;
}

void Measurement::throw_if_cancelled() const {
  if (options_.cancelled && options_.cancelled()) throw Error(Errc::Cancelled, tr("cancelled"));
}

// Returns the total seconds of `times` calls. A body that detects cancellation returns early and
// its time is meaningless, so cancellation is also checked afterwards.
double Measurement::call(std::int64_t times) {
  const double took_s = calls_(times);
  throw_if_cancelled();
  return took_s;
}

// Makes calls that do not count as a repetition; returns their total seconds.
double Measurement::warm(std::int64_t times) {
  const double begin = options_.now_s();
  const double took_s = call(times);
  ++warmup_;
  spent_s_ += options_.now_s() - begin;
  return took_s;
}

void Measurement::warm_up() {
  throw_if_cancelled();
  const double enough_s = std::min(kWarmUpShare * options_.budget_s, options_.min_time_s);
  const bool batched = !options_.flush;
  while (true) {
    const double took_s = warm(calls_per_repetition_);
    if (batched && took_s < options_.min_repetition_s &&
        calls_per_repetition_ < options_.max_calls) {
      calls_per_repetition_ = std::min(2 * calls_per_repetition_, options_.max_calls);
    } else if (spent_s_ >= enough_s) {
      return;
    }
  }
}

void Measurement::rewarm() {
  if (!times_s_.empty() && times_s_.back() > kLongBody_s) return;
  warm(1);
}

void Measurement::repeat() {
  const double begin = options_.now_s();
  if (options_.flush) options_.flush();
  const double took_s = call(calls_per_repetition_);
  times_s_.push_back(took_s / static_cast<double>(calls_per_repetition_));
  timed_s_ += took_s;
  decide();
  spent_s_ += options_.now_s() - begin;
  const auto n = static_cast<std::int64_t>(times_s_.size());
  done_ = steady_ || spent_s_ >= options_.budget_s || n >= options_.max_repetitions;
}

// Checks the spread only when the number of repetitions has grown by a tenth: sorting after every
// repetition would cost more than a short body.
void Measurement::decide() {
  const auto n = static_cast<std::int64_t>(times_s_.size());
  if (n < next_check_ || timed_s_ < std::min(options_.min_time_s, options_.budget_s / 2)) return;
  next_check_ = n + 1 + n / 10;
  std::vector<double> sorted = times_s_;
  std::sort(sorted.begin(), sorted.end());
  steady_ = median_spread(sorted) < options_.max_spread;
}

Timing Measurement::timing() const {
  std::vector<double> times_s = times_s_;
  Timing t = summarise(times_s);
  t.warmup = warmup_;
  // summarise() sorts the times. The budget may have ended between two checks of the spread.
  t.unstable = !(median_spread(times_s) < options_.max_spread);
  return t;
}

namespace {

Timing run_to_end(Measurement& m) {
  m.warm_up();
  do m.repeat();
  while (!m.done());
  return m.timing();
}

}  // namespace

Timing measure(FunctionRef<void()> body, const MeasureOptions& options) {
  Measurement m(body, options);
  return run_to_end(m);
}

Timing measure(TimedCalls calls, const MeasureOptions& options) {
  Measurement m(calls, options);
  return run_to_end(m);
}

Conditions current_conditions(int core, const std::string& root) {
  Conditions now;
  now.unix_time_s = static_cast<std::int64_t>(std::time(nullptr));
  static const bool virtual_here = is_virtual_machine();  // reading it takes long on many cores
  now.clock_nominal = root == "/" ? virtual_here : is_virtual_machine(root);
  const auto clocks = read_clocks_mhz(root, {core});
  const auto clock = clocks.find(core);
  now.clock_mhz = clock != clocks.end()
                      ? Maybe<double>(clock->second)
                      : Maybe<double>::missing(tr("the kernel reports no clock for this core"));
  return now;
}

Conditions conditions_of_gpu() {
  Conditions now;
  now.unix_time_s = static_cast<std::int64_t>(std::time(nullptr));
  now.clock_mhz = Maybe<double>::missing(tr("GPU clocks are shown on the Devices page"));
  return now;
}

}  // namespace lab
