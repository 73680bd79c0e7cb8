#include "compute/experiments/matmul/matmul_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/core/error.h"

namespace lab {
namespace {

constexpr int kTurns = 4;  // slices of a rung's budget

double flop(std::int64_t n) {
  const auto x = static_cast<double>(n);
  return 2 * x * x * x;
}

}  // namespace

MatmulCase::MatmulCase(RunContext& ctx, Device device, MatmulSite& site,
                       const CaseSettings& settings, std::optional<double> peak_gflops)
    : ctx_(ctx), device_(device), site_(site), settings_(settings), peak_gflops_(peak_gflops) {}

void MatmulCase::verify() {
  std::vector<std::size_t> in_turn;
  for (const bool libraries : {true, false}) {
    for (std::size_t i = 0; i < site_.rungs().size(); ++i) {
      if (site_.rungs()[i].library == libraries) in_turn.push_back(i);
    }
  }
  for (const std::size_t rung : in_turn) {
    ctx_.checkpoint();
    if (const auto reason = site_.refusal(rung)) {
      ctx_.emit(Skipped{fmt::format("{} at {}", site_.rungs()[rung].name, settings_.n), *reason});
      continue;
    }
    prove(rung);
  }
}

void MatmulCase::prove(std::size_t rung) {
  const SiteRung& proven = site_.rungs()[rung];
  const MatmulCheck check = site_.prove(rung);
  ctx_.throw_if_cancelled();
  if (!check.ok) {
    throw Error(Errc::Internal,
                fmt::format("matmul: {} at {} is wrong: the error of C[{},{}] is {:.3g} times what "
                            "rounding explains; it was not timed",
                            proven.name, settings_.n, check.row, check.col, check.max_error));
  }
  Contender& contender = contenders_.emplace_back();
  contender.name = proven.name;
  contender.library = proven.library;
  contender.max_error = check.max_error;
  contender.calls = [this, rung](std::int64_t times) { return site_.time(rung, times); };
}

MeasureOptions MatmulCase::measure_options(double budget_s) const {
  MeasureOptions options = site_.options();
  options.budget_s = budget_s;
  options.min_time_s = std::min(0.05, budget_s / 2);
  options.cancelled = [stop = ctx_.stop_token()] { return stop.stop_requested(); };
  return options;
}

void MatmulCase::time_all(const ProgressFunction& progress) {
  for (Contender& c : contenders_)
    c.measurement.emplace(TimedCalls{c.calls}, measure_options(settings_.budget_s));
  const auto finished = [](const Contender& c) { return c.measurement->done(); };
  while (!std::all_of(contenders_.begin(), contenders_.end(), finished)) {
    for (Contender& c : contenders_) {
      if (c.measurement->done()) continue;
      time_slice(c, settings_.budget_s / kTurns, [&] { progress(share_done(), c.name); });
      emit_ready();
    }
  }
}

void MatmulCase::time_round(double seconds) {
  const double each_s = seconds / static_cast<double>(std::max<std::size_t>(rungs(), 1));
  for (Contender& c : contenders_) {
    c.measurement.emplace(TimedCalls{c.calls}, measure_options(each_s));
    time_slice(c, each_s, [] {});
  }
  for (const Contender& c : contenders_) emit_sample(c);
}

void MatmulCase::time_slice(Contender& contender, double seconds,
                            const std::function<void()>& tick) {
  ctx_.checkpoint();
  settle_after_library();
  Measurement& m = *contender.measurement;
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
  library_ran_last_ = contender.library;
}

void MatmulCase::settle_after_library() {
  if (!std::exchange(library_ran_last_, false)) return;
  site_.rest();
}

void MatmulCase::emit_ready() {
  const bool libraries_known =
      std::all_of(contenders_.begin(), contenders_.end(),
                  [](const Contender& c) { return !c.library || c.measurement->done(); });
  if (!libraries_known) return;
  for (Contender& c : contenders_) {
    if (c.emitted || !c.measurement->done()) continue;
    emit_sample(c);
    c.emitted = true;
  }
}

double MatmulCase::gflops(const Contender& contender) const {
  return flop(settings_.n) / contender.measurement->timing().median_s / 1e9;
}

std::optional<double> MatmulCase::library_gflops() const {
  std::optional<double> best;
  for (const Contender& c : contenders_) {
    if (c.library) best = std::max(best.value_or(0), gflops(c));
  }
  return best;
}

double MatmulCase::share_done() const {
  double done = 0;
  for (const Contender& c : contenders_) {
    done += c.measurement->done() ? 1 : c.measurement->spent_s() / settings_.budget_s;
  }
  return contenders_.empty() ? 1 : done / static_cast<double>(contenders_.size());
}

void MatmulCase::emit_sample(const Contender& contender) {
  MatmulSample sample;
  sample.device = device_;
  sample.kernel = contender.name;
  sample.library = contender.library;
  sample.dtype = settings_.precision;
  sample.m = sample.n = sample.k = settings_.n;
  sample.time = contender.measurement->timing();
  sample.gflops = gflops(contender);
  sample.verified = true;
  sample.max_error = contender.max_error;
  sample.conditions = site_.conditions();
  if (const auto library = library_gflops()) sample.share_of_library = sample.gflops / *library;
  if (peak_gflops_) sample.share_of_peak = sample.gflops / *peak_gflops_;
  ctx_.emit(std::move(sample));
}

}  // namespace lab
