#include "compute/matmul/matmul_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "compute/matmul/bf16_kernels.h"
#include "compute/tensor/random.h"
#include "compute/types/units.h"

namespace lab {
namespace {

constexpr int kTurns = 4;  // slices of a rung's budget
// Libraries keep their threads spinning for a while after a call, on the cores of whoever is next.
constexpr std::chrono::milliseconds kSettle{30};
constexpr double kProbeFlop = 8e6;
constexpr double kLongestProbe_s = 0.1;

double flop(std::int64_t n) {
  const auto x = static_cast<double>(n);
  return 2 * x * x * x;
}

// Numbers [first, first + values.size()) of a stream of uniform ones in [-1, 1).
void fill_part(std::span<float> values, const RandomStream& random, std::size_t first) {
  random.fill_uniform(values, first);
  for (float& x : values) x = 2 * x - 1;
}

// The same rounded, a piece at a time.
void fill_part(std::span<Bf16> values, const RandomStream& random, std::size_t first) {
  std::array<float, 1024> exact{};
  while (!values.empty()) {
    const std::size_t n = std::min(values.size(), exact.size());
    fill_part(std::span(exact).first(n), random, first);
    to_bf16(exact.data(), &values.data()->bits, static_cast<std::int64_t>(n));
    values = values.subspan(n);
    first += n;
  }
}

// Pieces in turn, so that a large matrix does not hold up a cancel.
template <typename T>
void fill_symmetric(std::span<T> values, std::uint64_t seed, std::uint64_t stream, ThreadPool& pool,
                    const RunContext& ctx) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 22;
  const RandomStream random{.seed = seed, .stream = stream};
  const auto size = static_cast<std::int64_t>(values.size());
  for (std::int64_t first = 0; first < size; first += kPiece) {
    ctx.throw_if_cancelled();
    pool.parallel_for(
        std::min(kPiece, size - first), 4096, [&](std::int64_t begin, std::int64_t end) {
          const auto from = static_cast<std::size_t>(first + begin);
          fill_part(values.subspan(from, static_cast<std::size_t>(end - begin)), random, from);
        });
  }
}

}  // namespace

double matmul_bytes(std::int64_t n, DType dtype) {
  const auto elements = static_cast<double>(n) * static_cast<double>(n);
  return elements * (2.0 * static_cast<double>(size_of(dtype)) + sizeof(float));
}

MatmulCase::MatmulCase(RunContext& ctx, DeviceContext& device, const CaseSettings& settings)
    : ctx_(ctx), device_(device), settings_(settings), stop_(ctx.stop_token()) {
  const std::int64_t n = settings.n;
  a_ = Tensor(device, {n, n}, settings.dtype, "matmul A");
  b_ = Tensor(device, {n, n}, settings.dtype, "matmul B");
  c_ = Tensor(device, {n, n}, DType::F32, "matmul C");
  take_matrices();
}

void MatmulCase::take_matrices() {
  const auto fill = [&](auto a, auto b) {
    fill_symmetric(a, settings_.seed, 0, device_.threads(), ctx_);
    fill_symmetric(b, settings_.seed, 1, device_.threads(), ctx_);
  };
  const std::int64_t n = settings_.n;
  args_ = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .c = c_.values<float>().data(), .ldc = n};
  if (settings_.dtype == DType::BF16) {
    fill(a_.values<Bf16>(), b_.values<Bf16>());
    bf16_args_ = {.m = n,
                  .n = n,
                  .k = n,
                  .a = &a_.values<Bf16>().data()->bits,
                  .lda = n,
                  .b = &b_.values<Bf16>().data()->bits,
                  .ldb = n,
                  .c = args_.c,
                  .ldc = n};
  } else {
    fill(a_.values<float>(), b_.values<float>());
    args_.a = a_.values<float>().data();
    args_.b = b_.values<float>().data();
  }
}

void MatmulCase::run(const Rung& rung, std::int64_t rows) {
  if (settings_.dtype == DType::BF16) {
    Bf16GemmArgs part = bf16_args_;
    part.m = rows;
    rung.run_bf16(part, device_.threads(), stop_);
  } else {
    GemmArgs part = args_;
    part.m = rows;
    rung.run(part, device_.threads(), stop_);
  }
}

MatmulReference MatmulCase::make_reference() const {
  const auto cancelled = [this] { return stop_.stop_requested(); };
  return settings_.dtype == DType::BF16 ? MatmulReference(bf16_args_, cancelled)
                                        : MatmulReference(args_, cancelled);
}

// Processor time of this thread for the first `rows` rows, the better of two tries: what the rung
// would take on a quiet machine.
double MatmulCase::time_rows(const Rung& rung, std::int64_t rows) {
  double best_s = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 2; ++attempt) {
    const double begin_s = thread_cpu_s();
    run(rung, rows);
    ctx_.throw_if_cancelled();
    best_s = std::min(best_s, thread_cpu_s() - begin_s);
  }
  return best_s;
}

// A few rows tell how long all would take; kernels that gain from more rows get more of them.
bool MatmulCase::fast_enough(const Rung& rung) {
  const std::int64_t n = settings_.n;
  const auto n2 = static_cast<double>(n) * static_cast<double>(n);
  auto rows = std::max<std::int64_t>(static_cast<std::int64_t>(kProbeFlop / (2 * n2)), 1);
  while (rows < n) {
    const double took_s = time_rows(rung, rows);
    const double all_s = took_s * static_cast<double>(n) / static_cast<double>(rows);
    if (all_s <= settings_.longest_run_s) return true;
    if (took_s * 8 > kLongestProbe_s || rows * 8 >= n) {
      ctx_.emit(Skipped{fmt::format("{} at {}", rung.name, n),
                        fmt::format("would take about {} a run; the time budget is {}",
                                    format_seconds(all_s), format_seconds(settings_.budget_s))});
      return false;
    }
    rows *= 8;
  }
  return true;
}

// A library says by its first call whether it has kernels for this processor.
bool MatmulCase::supported(const Rung& rung) {
  if (!rung.library || settings_.dtype == DType::F32) return true;
  try {
    run(rung, 1);
    return true;
  } catch (const Error& e) {
    if (e.code() != Errc::Unsupported) throw;
    ctx_.emit(Skipped{fmt::format("{} at {}", rung.name, settings_.n), e.what()});
    return false;
  }
}

void MatmulCase::verify(std::span<const Rung* const> rungs) {
  const MatmulReference reference = make_reference();
  ctx_.throw_if_cancelled();
  std::vector<const Rung*> in_turn(rungs.begin(), rungs.end());
  std::stable_partition(in_turn.begin(), in_turn.end(), [](const Rung* r) { return r->library; });
  for (const Rung* rung : in_turn) {
    ctx_.checkpoint();
    if (!supported(*rung) || !fast_enough(*rung)) continue;
    MatmulReference::poison(args_);
    run(*rung, settings_.n);
    ctx_.throw_if_cancelled();
    const MatmulCheck check = reference.check(args_);
    if (!check.ok) {
      throw Error(
          Errc::Internal,
          fmt::format("matmul: {} at {} is wrong: the error of C[{},{}] is {:.3g} times what "
                      "rounding explains; it was not timed",
                      rung->name, settings_.n, check.row, check.col, check.max_error));
    }
    Contender& contender = contenders_.emplace_back();
    contender.rung = rung;
    contender.max_error = check.max_error;
    contender.body = [this, rung] { run(*rung, settings_.n); };
  }
}

MeasureOptions MatmulCase::measure_options(double budget_s) const {
  return {.budget_s = budget_s,
          .min_time_s = std::min(0.05, budget_s / 2),
          .flusher = settings_.flusher,
          .cancelled = [this] { return stop_.stop_requested(); }};
}

void MatmulCase::time_all(const ProgressFunction& progress) {
  for (Contender& c : contenders_)
    c.measurement.emplace(c.body, measure_options(settings_.budget_s));
  const auto finished = [](const Contender& c) { return c.measurement->done(); };
  while (!std::all_of(contenders_.begin(), contenders_.end(), finished)) {
    for (Contender& c : contenders_) {
      if (c.measurement->done()) continue;
      time_slice(c, settings_.budget_s / kTurns, [&] { progress(share_done(), c.rung->name); });
      emit_ready();
    }
  }
}

void MatmulCase::time_round(double seconds) {
  const double each_s = seconds / static_cast<double>(std::max<std::size_t>(rungs(), 1));
  for (Contender& c : contenders_) {
    c.measurement.emplace(c.body, measure_options(each_s));
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
  library_ran_last_ = contender.rung->library;
}

void MatmulCase::settle_after_library() {
  if (!std::exchange(library_ran_last_, false)) return;
  std::this_thread::sleep_for(kSettle);
  ctx_.throw_if_cancelled();
}

void MatmulCase::emit_ready() {
  const bool libraries_known =
      std::all_of(contenders_.begin(), contenders_.end(),
                  [](const Contender& c) { return !c.rung->library || c.measurement->done(); });
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
    if (c.rung->library) best = std::max(best.value_or(0), gflops(c));
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
  sample.device = settings_.device;
  sample.kernel = contender.rung->name;
  sample.library = contender.rung->library;
  sample.dtype = settings_.dtype;
  sample.m = sample.n = sample.k = settings_.n;
  sample.time = contender.measurement->timing();
  sample.gflops = gflops(contender);
  sample.verified = true;
  sample.max_error = contender.max_error;
  sample.conditions = current_conditions(device_.threads().cores().front());
  if (const auto library = library_gflops()) sample.share_of_library = sample.gflops / *library;
  if (settings_.peak_gflops) sample.share_of_peak = sample.gflops / *settings_.peak_gflops;
  ctx_.emit(std::move(sample));
}

}  // namespace lab
