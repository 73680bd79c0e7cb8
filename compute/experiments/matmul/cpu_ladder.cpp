// The CPU ladder: its rungs, and their products on the threads of a device.
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/ceilings.h"
#include "compute/experiments/matmul/device_ladder.h"
#include "compute/experiments/matmul/host_matrices.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/peak.h"
#include "compute/machine/simd_level.h"
#include "compute/measure/cache_flusher.h"
#include "compute/measure/measure.h"

namespace lab {
namespace {

constexpr double kLargeFlop = 40e9;
constexpr double kBlockFlop = 24e9;
constexpr std::int64_t kFewestRows = 512;

// Library threads keep spinning for a while after a call, on cores that the next rung needs.
constexpr std::chrono::milliseconds kSettle{30};
constexpr double kProbeFlop = 8e6;
constexpr double kLongestCpuProbe_s = 0.1;

class CpuSite final : public MatmulSite {
 public:
  // Every rung must have a function for the settings' precision. The calling thread must be bound
  // to the device's threads and be the only one that uses the site. `flusher` is used only if the
  // settings are cold. Throws Error(OutOfMemory), Error(Cancelled).
  CpuSite(RunContext& ctx, DeviceContext& device, std::vector<const Rung*> rungs,
          const CaseSettings& settings, CacheFlusher* flusher);

  // Refuses a rung that would take too long or whose library cannot run here.
  std::optional<std::string> refusal(std::size_t rung) override;
  MatmulCheck verify(std::size_t rung) override;
  double time(std::size_t rung, std::int64_t times) override;
  void rest() override;
  MeasureOptions options() override;
  Conditions conditions() const override;

 private:
  // Computes the first `rows` rows.
  void run(const Rung& rung, std::int64_t rows);
  double time_rows(const Rung& rung, std::int64_t rows);
  std::optional<std::string> too_slow(const Rung& rung);

  RunContext& ctx_;
  DeviceContext& device_;
  const CaseSettings settings_;
  const std::stop_token stop_;
  const std::vector<const Rung*> rungs_;
  CacheFlusher* const flusher_;
  HostMatrices matrices_;
};

CpuSite::CpuSite(RunContext& ctx, DeviceContext& device, std::vector<const Rung*> rungs,
                 const CaseSettings& settings, CacheFlusher* flusher)
    : ctx_(ctx),
      device_(device),
      settings_(settings),
      stop_(ctx.stop_token()),
      rungs_(std::move(rungs)),
      flusher_(flusher),
      matrices_(ctx, device, settings.n, settings.precision, settings.seed) {}

void CpuSite::run(const Rung& rung, std::int64_t rows) {
  if (matrices_.is_bf16()) {
    rung.run_bf16(matrices_.bf16_gemm(rows), device_.threads(), stop_);
  } else {
    rung.run(matrices_.gemm(rows), device_.threads(), stop_);
  }
}

// CPU time of this thread for the first `rows` rows, the better of two attempts: an estimate of the
// time on a quiet machine.
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

// Extrapolates from a few rows. Retries with more rows before refusing, because some kernels are
// faster per row on larger blocks.
std::optional<std::string> CpuSite::too_slow(const Rung& rung) {
  const std::int64_t n = settings_.n;
  const auto n2 = static_cast<double>(n) * static_cast<double>(n);
  auto rows = std::clamp<std::int64_t>(static_cast<std::int64_t>(kProbeFlop / (2 * n2)), 1, n);
  for (;; rows *= 8) {
    const double took_s = time_rows(rung, rows);
    const double all_s = took_s * static_cast<double>(n) / static_cast<double>(rows);
    if (all_s <= settings_.longest_run_s) return std::nullopt;
    if (took_s * 8 > kLongestCpuProbe_s || rows * 8 >= n) return would_take(all_s, settings_);
  }
}

// A library reports only when called whether it is installed and has kernels for this processor.
std::optional<std::string> CpuSite::refusal(std::size_t rung) {
  const Rung& asked = *rungs_.at(rung);
  try {
    return too_slow(asked);
  } catch (const Error& e) {
    if (!asked.library || e.code() != Errc::Unsupported) throw;
    return e.what();
  }
}

MatmulCheck CpuSite::verify(std::size_t rung) {
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

class CpuLadder final : public DeviceLadder {
 public:
  CpuLadder(DeviceContext& device, Precision precision)
      : device_(device), precision_(precision), bound_(device.threads().bind_caller()) {}

  std::string remark() const override {
    std::string text;
    if (const SimdLevel level = simd_level(); level.capped) {
      text =
          trf("LAB_SIMD={} limits the lab's kernels and the measured peak, but not the libraries",
              level.cap);
    }
    const std::string bf16 = precision_ == Precision::BF16 ? bf16_remark() : "";
    return text + (text.empty() || bf16.empty() ? "" : "; ") + bf16;
  }

  std::vector<PeakSample> peaks(const MeasureOptions& options) override {
    ThreadPool& pool = device_.threads();
    std::vector<PeakSample> found;
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      if (threads != nullptr && pool.size() == 1) continue;
      found.push_back(measure_peak(device_.device(), threads, options, precision_));
    }
    return found;
  }

  std::string chosen(const RungInfo& info) const override {
    for (const Rung& rung : cpu_ladder()) {
      if (rung.name == info.name && rung.chosen != nullptr) return rung.chosen(device_.threads());
    }
    return {};
  }

  const MeasuredBandwidths& bandwidths(const std::stop_token& stop) override {
    return bandwidths_of(device_, stop);
  }

  std::unique_ptr<MatmulSite> site(RunContext& ctx, const std::vector<RungInfo>& infos,
                                   const CaseSettings& settings) override {
    std::vector<const Rung*> rungs;
    for (const RungInfo& info : infos) {
      for (const Rung& rung : cpu_ladder()) {
        if (rung.name == info.name) rungs.push_back(&rung);
      }
    }
    if (settings.cold && !flusher_) {
      flusher_.emplace(device_, last_level_cache_bytes(device_.info()));
    }
    return std::make_unique<CpuSite>(ctx, device_, std::move(rungs), settings,
                                     flusher_ ? &*flusher_ : nullptr);
  }

 private:
  std::string bf16_remark() const {
    if (bf16_kernels().native()) return {};
    return trf(
        "the lab's kernels multiply bf16 as f32 on {}: {}; rounding saves no arithmetic there",
        to_string(device_.device()), why_bf16_products_are_f32());
  }

  DeviceContext& device_;
  const Precision precision_;
  const ThreadPool::Guard bound_;
  std::optional<CacheFlusher> flusher_;
};

}  // namespace

template <class Args>
void for_row_blocks(const Args& args, const std::stop_token& stop,
                    FunctionRef<void(const std::type_identity_t<Args>&)> product) {
  const double flop_per_row = 2.0 * static_cast<double>(args.n) * static_cast<double>(args.k);
  if (flop_per_row * static_cast<double>(args.m) <= kLargeFlop) return product(args);
  const auto limit = std::max(static_cast<std::int64_t>(kBlockFlop / flop_per_row), kFewestRows);
  const std::int64_t rows = even_piece(args.m, limit, 1);
  for (std::int64_t i = 0; i < args.m && !stop.stop_requested(); i += rows) {
    Args block = args;
    block.m = std::min(rows, args.m - i);
    block.a += i * args.lda;
    block.c += i * args.ldc;
    product(block);
  }
}

template void for_row_blocks(const GemmArgs&, const std::stop_token&,
                             FunctionRef<void(const GemmArgs&)>);
template void for_row_blocks(const Bf16GemmArgs&, const std::stop_token&,
                             FunctionRef<void(const Bf16GemmArgs&)>);

std::span<const Rung> cpu_ladder() {
  static const std::array kLadder = {naive_rung(),  loop_order_rung(), tiles_rung(),
                                     simd_rung(),   packed_rung(),     parallel_rung(),
                                     onednn_rung(), openblas_rung()};
  return kLadder;
}

std::vector<RungInfo> cpu_rungs(Device device, Precision precision) {
  std::vector<RungInfo> found;
  for (const Rung& rung : cpu_ladder()) {
    const bool bf16 = precision == Precision::BF16 && rung.run_bf16 != nullptr;
    found.push_back({device,
                     rung.name,
                     rung.title,
                     bf16 ? rung.bf16_sentence : rung.sentence,
                     rung.library,
                     {Precision::F32}});
    if (rung.run_bf16 != nullptr) found.back().takes.push_back(Precision::BF16);
  }
  return found;
}

std::unique_ptr<DeviceLadder> make_cpu_ladder(DeviceContext& device, Precision precision) {
  return std::make_unique<CpuLadder>(device, precision);
}

}  // namespace lab
