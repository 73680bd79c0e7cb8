#include "compute/experiments/matmul/matmul_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace {

constexpr int kTurns = 4;       // slices of a rung's budget
constexpr int kShortTurns = 3;  // slices of the shortest measurement, after a turn that warms up

double flop(std::int64_t n) {
  const auto x = static_cast<double>(n);
  return 2 * x * x * x;
}

}  // namespace

std::string would_take(double seconds, const CaseSettings& settings) {
  return trf("would take about {} per run, judging by its first rows; the time budget is {}",
             format_seconds(seconds), format_seconds(settings.budget_s));
}

MatmulCase::MatmulCase(RunContext& ctx, MatmulSite& site, const std::vector<RungInfo>& rungs,
                       const CaseSettings& settings, std::optional<double> peak_gflops)
    : ctx_(ctx), site_(site), rungs_(rungs), settings_(settings), peak_gflops_(peak_gflops) {}

void MatmulCase::verify() {
  std::vector<std::size_t> in_turn;
  for (const bool libraries : {true, false}) {
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
      if (rungs_[i].library == libraries) in_turn.push_back(i);
    }
  }
  for (const std::size_t rung : in_turn) {
    ctx_.checkpoint();
    try {
      verify(rung);
    } catch (const Error& error) {
      fail(rungs_[rung], error);
    }
  }
}

void MatmulCase::verify(std::size_t rung) {
  const RungInfo& asked = rungs_[rung];
  if (const auto reason = site_.refusal(rung)) {
    ctx_.emit(
        Skipped{trf("{} at {} on {}", asked.name, settings_.n, to_string(asked.device)), *reason});
    return;
  }
  const MatmulCheck check = site_.verify(rung);
  ctx_.throw_if_cancelled();
  if (!check.ok) {
    const bool within = check.max_error <= 1;
    fail(asked,
         within ? trf("errors are typically {:.3g} times the most that FP32 sums explain, as if "
                      "operands were rounded",
                      check.typical_error)
                : trf("the error of C[{},{}] is {:.3g} times the rounding bound", check.row,
                      check.col, check.max_error),
         check.max_error);
    return;
  }
  verified_.emplace_back(asked, check.max_error,
                         [this, rung](std::int64_t times) { return site_.time(rung, times); });
}

void MatmulCase::fail(const RungInfo& rung, const Error& error) {
  if (error.code() != Errc::Cuda) throw;
  fail(rung, error.what(), std::nullopt);
}

void MatmulCase::fail(const RungInfo& rung, std::string reason, std::optional<double> max_error) {
  ctx_.emit(RungFailed{rung.device, rung.name, settings_.precision, settings_.n, std::move(reason),
                       max_error});
  failed_.push_back(&rung);
}

void MatmulCase::each_verified(const std::function<void(Verified&)>& time) {
  for (auto at = verified_.begin(); at != verified_.end();) {
    try {
      time(*at);
      ++at;
    } catch (const Error& error) {
      fail(at->rung, error);
      at = verified_.erase(at);
    }
  }
}

MeasureOptions MatmulCase::measure_options(double budget_s) const {
  MeasureOptions options = site_.options();
  options.budget_s = budget_s;
  options.min_time_s = std::min(0.05, budget_s / 2);
  options.cancelled = [stop = ctx_.stop_token()] { return stop.stop_requested(); };
  return options;
}

void MatmulCase::time_all(const ProgressFunction& progress) {
  for (Verified& c : verified_)
    c.measurement.emplace(TimedCalls{c.calls}, measure_options(settings_.budget_s));
  // A steady rung too is timed in several turns, so that a change of clock speed affects it as it
  // does the others.
  const double least_s = measure_options(settings_.budget_s).min_time_s;
  const auto finished = [](const Verified& c) { return c.measurement->done(); };
  for (int turn = 0; !std::all_of(verified_.begin(), verified_.end(), finished); ++turn) {
    const double slice_s =
        turn <= kShortTurns ? least_s / kShortTurns : settings_.budget_s / kTurns;
    each_verified([&](Verified& c) {
      if (c.measurement->done()) return;
      time_slice(c, slice_s, [&] { progress(share_done(), c.rung.name); });
      emit_ready();
    });
    emit_ready();  // what waited for a library that failed
  }
}

void MatmulCase::time_round(double seconds) {
  const double each_s = seconds / static_cast<double>(std::max<std::size_t>(verified_rungs(), 1));
  each_verified([&](Verified& c) {
    c.measurement.emplace(TimedCalls{c.calls}, measure_options(each_s));
    time_slice(c, each_s, [] {});
  });
  for (const Verified& c : verified_) emit_sample(c);
}

void MatmulCase::time_slice(Verified& one, double seconds, const std::function<void()>& tick) {
  ctx_.checkpoint();
  settle_after_library();
  Measurement& m = *one.measurement;
  const double begin_s = m.spent_s();
  if (m.timing().warmup == 0) {
    m.warm_up();
  } else {
    m.rewarm();
  }
  do {
    m.repeat();
    tick();
  } while (!m.done() && m.spent_s() - begin_s < seconds);
  library_ran_last_ = one.rung.library;
}

void MatmulCase::settle_after_library() {
  if (!std::exchange(library_ran_last_, false)) return;
  site_.rest();
}

void MatmulCase::emit_ready() {
  const bool libraries_known =
      std::all_of(verified_.begin(), verified_.end(),
                  [](const Verified& c) { return !c.rung.library || c.measurement->done(); });
  if (!libraries_known) return;
  for (Verified& c : verified_) {
    if (c.emitted || !c.measurement->done()) continue;
    emit_sample(c);
    c.emitted = true;
  }
}

double MatmulCase::gflops(const Verified& one) const {
  return flop(settings_.n) / one.measurement->timing().median_s / 1e9;
}

std::optional<double> MatmulCase::library_gflops() const {
  std::optional<double> best;
  for (const Verified& c : verified_) {
    if (c.rung.library) best = std::max(best.value_or(0), gflops(c));
  }
  return best;
}

double MatmulCase::share_done() const {
  double done = 0;
  for (const Verified& c : verified_) {
    done += c.measurement->done() ? 1 : c.measurement->spent_s() / settings_.budget_s;
  }
  return verified_.empty() ? 1 : done / static_cast<double>(verified_.size());
}

void MatmulCase::emit_sample(const Verified& one) {
  MatmulSample sample;
  sample.device = one.rung.device;
  sample.kernel = one.rung.name;
  sample.library = one.rung.library;
  sample.dtype = settings_.precision;
  sample.m = sample.n = sample.k = settings_.n;
  sample.time = one.measurement->timing();
  sample.gflops = gflops(one);
  sample.verified = true;
  sample.max_error = one.max_error;
  sample.conditions = site_.conditions();
  if (const auto library = library_gflops()) sample.share_of_library = sample.gflops / *library;
  if (peak_gflops_) sample.share_of_peak = sample.gflops / *peak_gflops_;
  ctx_.emit(std::move(sample));
}

}  // namespace lab
