#include "compute/matmul/matmul_experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compute/device/machine.h"
#include "compute/matmul/bandwidth.h"
#include "compute/matmul/bf16_kernels.h"
#include "compute/matmul/matmul_case.h"
#include "compute/matmul/peak.h"
#include "compute/matmul/rung.h"
#include "compute/run/run_context.h"
#include "compute/types/error.h"
#include "compute/types/units.h"

namespace lab {
namespace {

constexpr std::int64_t kLargestSize = 1 << 20;
constexpr double kPeakBudget_s = 0.3;
constexpr double kRound_s = 0.25;    // of a live run
constexpr double kRunsInBudget = 4;  // a single run may take so many times the budget

std::vector<std::int64_t> default_sizes() {
  return {64, 128, 256, 512, 1024, 2048, 4096};
}

std::vector<std::string> kernel_choices() {
  std::vector<std::string> names = {"all", "best"};
  for (const Rung& rung : cpu_ladder()) names.emplace_back(rung.name);
  return names;
}

// The rungs asked for, in ladder order, each once.
std::vector<const Rung*> select(const std::vector<std::string>& kernels) {
  const std::vector<std::string> choices = kernel_choices();
  for (const std::string& name : kernels) {
    if (std::find(choices.begin(), choices.end(), name) == choices.end()) {
      throw Error(Errc::Usage, fmt::format("matmul: there is no kernel \"{}\"; choose from {}",
                                           name, fmt::join(choices, ", ")));
    }
  }
  const auto asked = [&](std::string_view name) {
    return std::find(kernels.begin(), kernels.end(), name) != kernels.end();
  };
  const bool all = kernels.empty() || asked("all");
  std::vector<const Rung*> rungs;
  for (const Rung& rung : cpu_ladder()) {
    const bool best = asked("best") && std::string_view(rung.name) == kBestCpuRung;
    if (all || best || asked(rung.name)) rungs.push_back(&rung);
  }
  return rungs;
}

class MatmulLadder final : public Experiment {
 public:
  explicit MatmulLadder(const StartMatmul& request) : request_(request) {
    if (request_.sizes.empty()) request_.sizes = default_sizes();
    if (request_.live) request_.sizes.resize(1);
  }

  void run(RunContext& ctx) override {
    rungs_ = select(request_.kernels);
    devices_ = request_.devices.empty() ? ctx.machine().devices() : request_.devices;
    check_sizes();
    for (const Device device : devices_) check_memory(ctx.machine().at(device));
    for (const Device device : devices_) {
      run_device(ctx, ctx.machine().at(device));
      ++devices_done_;
    }
    ctx.progress(1, "done");
  }

 private:
  void check_sizes() const {
    for (const std::int64_t n : request_.sizes) {
      if (n >= 1 && n <= kLargestSize) continue;
      throw Error(Errc::Usage, fmt::format("matmul: size {} is out of range; sizes go from 1 to {}",
                                           n, kLargestSize));
    }
  }

  void check_memory(DeviceContext& context) const {
    const std::int64_t n = *std::max_element(request_.sizes.begin(), request_.sizes.end());
    const auto free_bytes =
        static_cast<double>(context.memory().limit_bytes() - context.memory().used_bytes());
    if (matmul_bytes(n, request_.dtype) <= free_bytes) return;
    throw Error(
        Errc::OutOfMemory,
        fmt::format("matmul: A, B and C of size {} need {}, but {} are free on {}; choose a "
                    "smaller size",
                    n, format_bytes(static_cast<std::int64_t>(matmul_bytes(n, request_.dtype))),
                    format_bytes(static_cast<std::int64_t>(std::max(free_bytes, 0.0))),
                    to_string(context.device())));
  }

  // True when this device cannot run what was asked; the reasons are emitted.
  bool skipped(RunContext& ctx, Device device) const {
    if (device.kind != DeviceKind::Cpu) {
      ctx.emit(Skipped{fmt::format("matmul on {}", to_string(device)),
                       "this build has matmul kernels for CPU devices only"});
      return true;
    }
    return false;
  }

  // Those that compute with factors of the type asked for; the reason is emitted for the others.
  std::vector<const Rung*> runnable(RunContext& ctx, Device device) const {
    std::vector<const Rung*> rungs;
    for (const Rung* rung : rungs_) {
      const bool has_bf16 = request_.dtype == DType::BF16 && rung->run_bf16 != nullptr;
      if (request_.dtype == DType::F32 || has_bf16) {
        rungs.push_back(rung);
        continue;
      }
      const char* dtype = to_string(request_.dtype);
      ctx.emit(Skipped{fmt::format("{} in {} on {}", rung->name, dtype, to_string(device)),
                       fmt::format("this rung computes in f32; {} is not available on it", dtype)});
    }
    return rungs;
  }

  void run_device(RunContext& ctx, DeviceContext& context) {
    const Device device = context.device();
    if (skipped(ctx, device)) return;
    const std::vector<const Rung*> rungs = runnable(ctx, device);
    if (rungs.empty()) return;
    for (const RungInfo& info : matmul_rungs(device, request_.dtype)) {
      const bool chosen = std::any_of(rungs.begin(), rungs.end(),
                                      [&](const Rung* r) { return info.name == r->name; });
      if (chosen) ctx.emit(info);
    }
    say_how_bf16_runs(ctx, device);
    ThreadPool& pool = context.threads();
    const ThreadPool::Guard bound = pool.bind_caller();
    const std::vector<PeakSample> peaks = emit_peaks(ctx, device, pool);
    if (!request_.live) emit_ceilings(ctx, context, peaks);
    CaseSettings settings{
        .device = device,
        .budget_s = request_.live ? kRound_s : request_.budget_s,
        .longest_run_s = request_.live ? kRound_s : kRunsInBudget * request_.budget_s,
        .peak_gflops = peaks.back().gflops,
        .seed = request_.seed,
        .dtype = request_.dtype};
    std::optional<CacheFlusher> flusher;
    if (request_.cache == CacheState::Cold) {
      flusher.emplace(pool, last_level_cache_bytes(context.info()));
      settings.flusher = &*flusher;
    }
    for (std::size_t i = 0; i < request_.sizes.size(); ++i) {
      settings.n = request_.sizes[i];
      run_size(ctx, context, rungs, settings, i);
    }
  }

  void say_how_bf16_runs(RunContext& ctx, Device device) const {
    if (request_.dtype != DType::BF16 || bf16_kernels().native) return;
    ctx.emit(LogLine{Severity::Info,
                     fmt::format("{} has no AVX512-BF16 instructions: our rungs widen bf16 to f32 "
                                 "where they multiply, which saves memory but no arithmetic",
                                 to_string(device))});
  }

  // The peak of one thread and of all; the last is what shares refer to.
  std::vector<PeakSample> emit_peaks(RunContext& ctx, Device device, ThreadPool& pool) const {
    const MeasureOptions options{.budget_s = kPeakBudget_s,
                                 .cancelled = [&ctx] { return ctx.stop_token().stop_requested(); }};
    report(ctx, 0, 0, fmt::format("peak of {}", to_string(device)));
    std::vector<PeakSample> peaks;
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      if (threads != nullptr && pool.size() == 1) continue;
      peaks.push_back(measure_peak(device, threads, options, request_.dtype));
      ctx.emit(peaks.back());
    }
    return peaks;
  }

  void emit_ceilings(RunContext& ctx, DeviceContext& context,
                     const std::vector<PeakSample>& peaks) const {
    report(ctx, 0, 0, fmt::format("bandwidths of {}", to_string(context.device())));
    const MeasuredBandwidths& measured = bandwidths_of(context, ctx.stop_token());
    for (const MissingCeiling& level : measured.missing) {
      ctx.emit(
          Skipped{fmt::format("bandwidth of {} on {}", level.name, to_string(context.device())),
                  level.reason});
    }
    CeilingsMeasured ceilings{.device = context.device(), .threads = context.threads().size()};
    for (const PeakSample& peak : peaks) {
      ceilings.compute.push_back({fmt::format("FMA {}", to_string(peak.dtype)), peak.dtype,
                                  peak.threads, peak.gflops, peak.time});
    }
    ceilings.bandwidth = measured.levels;
    ctx.emit(std::move(ceilings));
  }

  void run_size(RunContext& ctx, DeviceContext& context, const std::vector<const Rung*>& rungs,
                const CaseSettings& settings, std::size_t index) const {
    const std::string where = fmt::format("at {} on {}", settings.n, to_string(settings.device));
    report(ctx, index, 0, fmt::format("verifying {}", where));
    MatmulCase bench(ctx, context, settings);
    bench.verify(rungs);
    if (!request_.live) {
      bench.time_all([&](double done, const char* rung) {
        report(ctx, index, done, fmt::format("{} {}", rung, where));
      });
      return;
    }
    while (bench.rungs() > 0) {
      report(ctx, 0, 0, fmt::format("live {}", where));
      bench.time_round(kRound_s);
    }
  }

  void report(RunContext& ctx, std::size_t size_index, double size_done, std::string what) const {
    const double sizes = static_cast<double>(request_.sizes.size());
    const double device_done = (static_cast<double>(size_index) + size_done) / sizes;
    ctx.progress((devices_done_ + device_done) / static_cast<double>(devices_.size()),
                 std::move(what));
  }

  StartMatmul request_;
  std::vector<const Rung*> rungs_;
  std::vector<Device> devices_;
  double devices_done_ = 0;
};

}  // namespace

std::unique_ptr<Experiment> make_matmul_experiment(const StartMatmul& request) {
  return std::make_unique<MatmulLadder>(request);
}

}  // namespace lab
