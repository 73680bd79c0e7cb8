#include "compute/experiments/matmul/cpu_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/measure/measure.h"

namespace lab {
namespace {

// Libraries keep their threads spinning for a while after a call, on the cores of whoever is next.
constexpr std::chrono::milliseconds kSettle{30};
constexpr double kProbeFlop = 8e6;
constexpr double kLongestCpuProbe_s = 0.1;

}  // namespace

CpuSite::CpuSite(RunContext& ctx, DeviceContext& device, std::vector<const Rung*> rungs,
                 const CaseSettings& settings, CacheFlusher* flusher)
    : ctx_(ctx),
      device_(device),
      settings_(settings),
      stop_(ctx.stop_token()),
      rungs_(std::move(rungs)),
      flusher_(flusher),
      matrices_(ctx, device, settings.n, settings.precision, settings.seed) {
  for (const Rung* rung : rungs_) names_.push_back({rung->name, rung->library});
}

void CpuSite::run(const Rung& rung, std::int64_t rows) {
  if (matrices_.is_bf16()) {
    rung.run_bf16(matrices_.bf16_gemm(rows), device_.threads(), stop_);
  } else {
    rung.run(matrices_.gemm(rows), device_.threads(), stop_);
  }
}

// Processor time of this thread for the first `rows` rows, the better of two tries: what the rung
// would take on a quiet machine.
double CpuSite::time_rows(const Rung& rung, std::int64_t rows) {
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
std::optional<std::string> CpuSite::too_slow(const Rung& rung) {
  const std::int64_t n = settings_.n;
  const auto n2 = static_cast<double>(n) * static_cast<double>(n);
  auto rows = std::max<std::int64_t>(static_cast<std::int64_t>(kProbeFlop / (2 * n2)), 1);
  while (rows < n) {
    const double took_s = time_rows(rung, rows);
    const double all_s = took_s * static_cast<double>(n) / static_cast<double>(rows);
    if (all_s <= settings_.longest_run_s) return std::nullopt;
    if (took_s * 8 > kLongestCpuProbe_s || rows * 8 >= n) return would_take(all_s, settings_);
    rows *= 8;
  }
  return std::nullopt;
}

// A library says by its first call whether it has kernels for this processor.
std::optional<std::string> CpuSite::unsupported(const Rung& rung) {
  if (!rung.library || settings_.precision == Precision::F32) return std::nullopt;
  try {
    run(rung, 1);
    return std::nullopt;
  } catch (const Error& e) {
    if (e.code() != Errc::Unsupported) throw;
    return e.what();
  }
}

std::optional<std::string> CpuSite::refusal(std::size_t rung) {
  const Rung& asked = *rungs_.at(rung);
  if (auto reason = unsupported(asked)) return reason;
  return too_slow(asked);
}

MatmulCheck CpuSite::prove(std::size_t rung) {
  matrices_.poison();
  run(*rungs_.at(rung), settings_.n);
  ctx_.throw_if_cancelled();
  return matrices_.check();
}

double CpuSite::time(std::size_t rung, std::int64_t times) {
  const Rung& timed = *rungs_.at(rung);
  const double begin_s = monotonic_s();
  for (std::int64_t i = 0; i < times; ++i) run(timed, settings_.n);
  return monotonic_s() - begin_s;
}

void CpuSite::rest() {
  std::this_thread::sleep_for(kSettle);
  ctx_.throw_if_cancelled();
}

MeasureOptions CpuSite::options() {
  MeasureOptions options;
  if (settings_.cold) options.flush = [this] { flusher_->flush(); };
  return options;
}

Conditions CpuSite::conditions() const {
  return current_conditions(device_.threads().cores().front());
}

}  // namespace lab
