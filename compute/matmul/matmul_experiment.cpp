#include "compute/matmul/matmul_experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compute/device/machine.h"
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
    if (matmul_bytes(n) <= free_bytes) return;
    throw Error(
        Errc::OutOfMemory,
        fmt::format("matmul: A, B and C of size {} need {}, but {} are free on {}; choose a "
                    "smaller size",
                    n, format_bytes(static_cast<std::int64_t>(matmul_bytes(n))),
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
    if (request_.dtype == DType::F32) return false;
    for (const Rung* rung : rungs_) {
      ctx.emit(Skipped{
          fmt::format("{} in {} on {}", rung->name, to_string(request_.dtype), to_string(device)),
          fmt::format("the CPU rungs compute in f32; {} is not available on them",
                      to_string(request_.dtype))});
    }
    return true;
  }

  void run_device(RunContext& ctx, DeviceContext& context) {
    const Device device = context.device();
    if (skipped(ctx, device)) return;
    for (const RungInfo& info : matmul_rungs(device)) {
      const bool chosen = std::any_of(rungs_.begin(), rungs_.end(),
                                      [&](const Rung* r) { return info.name == r->name; });
      if (chosen) ctx.emit(info);
    }
    ThreadPool& pool = context.threads();
    const ThreadPool::Guard bound = pool.bind_caller();
    CaseSettings settings{
        .device = device,
        .budget_s = request_.live ? kRound_s : request_.budget_s,
        .longest_run_s = request_.live ? kRound_s : kRunsInBudget * request_.budget_s,
        .peak_gflops = emit_peaks(ctx, device, pool),
        .seed = request_.seed};
    std::optional<CacheFlusher> flusher;
    if (request_.cache == CacheState::Cold) {
      flusher.emplace(pool, last_level_cache_bytes(context.info()));
      settings.flusher = &*flusher;
    }
    for (std::size_t i = 0; i < request_.sizes.size(); ++i) {
      settings.n = request_.sizes[i];
      run_size(ctx, context, settings, i);
    }
  }

  // The peak of one thread and of all; the last is what shares refer to.
  double emit_peaks(RunContext& ctx, Device device, ThreadPool& pool) const {
    const MeasureOptions options{.budget_s = kPeakBudget_s,
                                 .cancelled = [&ctx] { return ctx.stop_token().stop_requested(); }};
    report(ctx, 0, 0, fmt::format("peak of {}", to_string(device)));
    PeakSample peak = measure_peak(device, nullptr, options);
    ctx.emit(peak);
    if (pool.size() > 1) {
      peak = measure_peak(device, &pool, options);
      ctx.emit(peak);
    }
    return peak.gflops;
  }

  void run_size(RunContext& ctx, DeviceContext& context, const CaseSettings& settings,
                std::size_t index) const {
    const std::string where = fmt::format("at {} on {}", settings.n, to_string(settings.device));
    report(ctx, index, 0, fmt::format("verifying {}", where));
    MatmulCase bench(ctx, context, settings);
    bench.verify(rungs_);
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
