#include "compute/experiments/matmul/matmul_experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/device_ladder.h"
#include "compute/experiments/matmul/host_matrices.h"
#include "compute/experiments/matmul/matmul_case.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/experiments/matmul/tensor_matmul.h"
#include "compute/experiments/matmul/together.h"
#include "compute/gpu/cuda/matmul/ladder.h"
#include "compute/machine/machine.h"
#include "compute/run/run_context.h"

namespace lab {
namespace {

constexpr std::int64_t kLargestSize = 1 << 20;
constexpr double kPeakBudget_s = 0.3;
constexpr double kRound_s = 0.25;    // per round of a live run
constexpr double kRunsInBudget = 4;  // limit of a single run, in budgets

void check_names(const std::vector<std::string>& kernels) {
  std::vector<std::string> choices = matmul_kernel_names();
  choices.insert(choices.begin(), {"all", "best"});
  for (const std::string& name : kernels) {
    if (std::find(choices.begin(), choices.end(), name) != choices.end()) continue;
    throw Error(Errc::Usage, trf("matmul: unknown kernel \"{}\"; choose one of {}", name,
                                 fmt::join(choices, ", ")));
  }
}

// For example "FMA f32", "AMX bf16" or "tensor cores bf16".
std::string name_of_units(const PeakSample& peak) {
  const bool gpu = peak.threads == 0;
  const char* units = gpu && peak.dtype != Precision::F32 ? "tensor cores"
                      : peak.amx                          ? "AMX"
                                                          : "FMA";
  return fmt::format("{} {}", units, to_string(peak.dtype));
}

std::vector<RungInfo> rungs_of(DeviceContext& device, Precision precision) {
  return device.gpu() == nullptr ? cpu_rungs(device.device(), precision)
                                 : gpu_rungs(device, precision);
}

std::unique_ptr<DeviceLadder> make_ladder(Machine& machine, Device device, Precision precision) {
  DeviceContext& context = machine.at(device);
  return context.gpu() == nullptr ? make_cpu_ladder(context, precision)
                                  : make_gpu_ladder(machine, context, precision);
}

// Reason why a rung that lacks the precision cannot multiply in it.
std::string why_unsupported(const RungInfo& rung, Precision precision) {
  if (rung.device.kind != DeviceKind::Cpu) {
    return trf("this rung multiplies in {}", to_string(rung.takes.front()));
  }
  if (precision == Precision::TF32) return tr("tf32 is available on GPUs only; choose f32 or bf16");
  return trf("this rung computes in f32; {} is not available on it", to_string(precision));
}

class MatmulLadder final : public Experiment {
 public:
  explicit MatmulLadder(const StartMatmul& request) : request_(request) {
    if (request_.sizes.empty()) request_.sizes = default_matmul_sizes();
    if (request_.live) request_.sizes.resize(1);
  }

  void run(RunContext& ctx) override {
    check_names(request_.kernels);
    require_timed("matmul", request_.devices);
    check_matmul_sizes(request_.sizes);
    devices_ = choose_devices(ctx);
    for (const Device device : devices_) check_memory(ctx.machine(), device);
    std::vector<std::vector<RungInfo>> rungs;
    for (const Device device : devices_) {
      rungs.push_back(choose_rungs(ctx, device));
      for (const std::int64_t n : request_.sizes) expected_s_ += size_s(rungs.back(), n);
    }
    if (!request_.live) ctx.expect(expected_s_);
    for (std::size_t i = 0; i < devices_.size(); ++i) run_or_skip(ctx, devices_[i], rungs[i]);
    if (!failed_.empty()) {
      throw Error(Errc::Internal,
                  trf("matmul: {} failed; failed cases have no times", fmt::join(failed_, ", ")));
    }
    ctx.progress(1, tr("done"));
  }

 private:
  // Leaves out emulated GPUs and, where no device was asked for, GPUs that cannot be used now.
  std::vector<Device> choose_devices(RunContext& ctx) const {
    Machine& machine = ctx.machine();
    const bool all = request_.devices.empty();
    std::vector<Device> devices = all ? machine.devices() : request_.devices;
    std::erase_if(devices, [&](Device device) {
      DeviceContext& context = machine.at(device);
      std::optional<std::string> why;
      if (!is_timed(device)) {
        why = tr(kNeverTimed);
      } else if (all) {
        why = why_unusable(context);
      }
      if (why) ctx.emit(Skipped{to_string(device), *why});
      return why.has_value();
    });
    return devices;
  }

  // The operands of a GPU are also kept in main memory, where products are verified.
  void check_memory(Machine& machine, Device device) const {
    check_memory_of(machine.at(device));
    if (device.kind != DeviceKind::Cpu) check_memory_of(machine.at(cpu()));
  }

  void check_memory_of(DeviceContext& context) const {
    const std::int64_t n = *std::max_element(request_.sizes.begin(), request_.sizes.end());
    const auto free_bytes =
        static_cast<double>(context.memory().limit_bytes() - context.memory().used_bytes());
    const double bytes = matmul_bytes(n, request_.dtype);
    if (bytes <= free_bytes) return;
    throw Error(Errc::OutOfMemory,
                trf("matmul: A, B and C of size {} need {}, but {} are free on {}; choose a "
                    "smaller size",
                    n, format_bytes(static_cast<std::int64_t>(bytes)),
                    format_bytes(static_cast<std::int64_t>(std::max(free_bytes, 0.0))),
                    to_string(context.device())));
  }

  bool asked(std::string_view name) const {
    return std::find(request_.kernels.begin(), request_.kernels.end(), name) !=
           request_.kernels.end();
  }

  // The rungs that "best" selects: the lab's fastest own rung at each size.
  std::set<std::string> best_rungs(DeviceContext& device) const {
    if (device.gpu() == nullptr) return {kBestCpuRung};
    std::set<std::string> names;
    for (const std::int64_t n : request_.sizes) {
      const GpuProduct square{.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
      const RungInfo* best = gpu_rung_for(*device.gpu(), request_.dtype, square);
      if (best != nullptr) names.insert(best->name);
    }
    return names;
  }

  // Emits and returns the requested rungs that support the precision; emits a Skipped for the
  // others.
  std::vector<RungInfo> choose_rungs(RunContext& ctx, Device device) const {
    DeviceContext& context = ctx.machine().at(device);
    const bool cpu = context.gpu() == nullptr;
    const bool all = request_.kernels.empty() || asked("all");
    const auto best = asked("best") ? best_rungs(context) : std::set<std::string>{};
    std::set<std::string> unknown(request_.kernels.begin(), request_.kernels.end());
    std::vector<RungInfo> chosen;
    for (RungInfo& rung : rungs_of(context, request_.dtype)) {
      unknown.erase(rung.name);
      const bool fit = takes(rung, request_.dtype);
      // GPU rungs are precision-specific: with "all", those of other precisions are omitted
      // silently.
      const bool wanted = asked(rung.name) || (all && (fit || cpu)) || best.contains(rung.name);
      if (!wanted) continue;
      if (fit) {
        ctx.emit(rung);
        chosen.push_back(std::move(rung));
      } else {
        ctx.emit(
            Skipped{trf("{} in {} on {}", rung.name, to_string(request_.dtype), to_string(device)),
                    why_unsupported(rung, request_.dtype)});
      }
    }
    if (asked("best") && best.empty()) {
      ctx.emit(Skipped{trf("best in {} on {}", to_string(request_.dtype), to_string(device)),
                       tr("the lab has no kernel for these operands on this device")});
    }
    for (const std::string& name : unknown) {
      if (name == "all" || name == "best") continue;
      ctx.emit(
          Skipped{trf("{} on {}", name, to_string(device)),
                  cpu ? tr("this kernel runs on GPUs only") : tr("this kernel runs on CPUs only")});
    }
    return chosen;
  }

  // Expected time of all rungs of a device at one size.
  double size_s(const std::vector<RungInfo>& rungs, std::int64_t n) const {
    double sum_s = 0;
    for (const RungInfo& rung : rungs) sum_s += matmul_case_s(rung.device, n, request_.budget_s);
    return sum_s;
  }

  // Where no device was asked for, one whose memory others use does not stop the rest.
  void run_or_skip(RunContext& ctx, Device device, const std::vector<RungInfo>& rungs) {
    double end_s = done_s_;
    for (const std::int64_t n : request_.sizes) end_s += size_s(rungs, n);
    try {
      run_device(ctx, device, rungs);
    } catch (const Error& error) {
      const bool may_skip = request_.devices.empty() && ++skipped_ < devices_.size();
      if (error.code() != Errc::OutOfMemory || !may_skip) throw;
      ctx.emit(Skipped{to_string(device), error.what()});
      done_s_ = end_s;
    }
  }

  void run_device(RunContext& ctx, Device device, const std::vector<RungInfo>& rungs) {
    if (rungs.empty()) return;
    const auto ladder = make_ladder(ctx.machine(), device, request_.dtype);
    if (const std::string remark = ladder->remark(); !remark.empty()) {
      ctx.emit(LogLine{Severity::Info, remark});
    }
    report(ctx, 0, trf("peak of {}", to_string(device)));
    const std::vector<PeakSample> peaks =
        ladder->peaks({.budget_s = kPeakBudget_s,
                       .cancelled = [stop = ctx.stop_token()] { return stop.stop_requested(); }});
    for (const PeakSample& peak : peaks) ctx.emit(peak);
    if (!request_.live) emit_ceilings(ctx, device, *ladder, peaks);
    const auto peak_gflops = peaks.empty() ? std::nullopt : std::optional(peaks.back().gflops);
    CaseSettings settings{
        .budget_s = request_.live ? kRound_s : request_.budget_s,
        .longest_run_s = request_.live ? kRound_s : kRunsInBudget * request_.budget_s,
        .seed = request_.seed,
        .precision = request_.dtype,
        .cold = request_.cache == CacheState::Cold};
    for (std::size_t i = 0; i < request_.sizes.size(); ++i) {
      settings.n = request_.sizes[i];
      report(ctx, 0, trf("verifying at {} on {}", settings.n, to_string(device)));
      const auto site = ladder->site(ctx, rungs, settings);
      MatmulCase bench(ctx, *site, rungs, settings, peak_gflops);
      bench.verify();
      note_failed(bench, device);
      if (i == 0) emit_chosen(ctx, *ladder, rungs);
      run_size(ctx, device, bench, rungs, settings.n);
      note_failed(bench, device);
      done_s_ += size_s(rungs, settings.n);
    }
  }

  void note_failed(const MatmulCase& bench, Device device) {
    for (const RungInfo* rung : bench.failed_rungs()) {
      failed_.insert(trf("{} on {}", rung->name, to_string(device)));
    }
  }

  // Libraries have chosen their kernels by their first product.
  static void emit_chosen(RunContext& ctx, const DeviceLadder& ladder,
                          const std::vector<RungInfo>& rungs) {
    for (RungInfo rung : rungs) {
      rung.chosen = ladder.chosen(rung);
      if (!rung.chosen.empty()) ctx.emit(std::move(rung));
    }
  }

  void emit_ceilings(RunContext& ctx, Device device, DeviceLadder& ladder,
                     const std::vector<PeakSample>& peaks) const {
    report(ctx, 0, trf("bandwidths of {}", to_string(device)));
    const MeasuredBandwidths& measured = ladder.bandwidths(ctx.stop_token());
    for (const MissingCeiling& level : measured.missing) {
      ctx.emit(Skipped{trf("bandwidth of {} on {}", level.name, to_string(device)), level.reason});
    }
    CeilingsMeasured ceilings{.device = device};
    for (const PeakSample& peak : peaks) {
      ceilings.threads = peak.threads;
      ceilings.compute.push_back(
          {name_of_units(peak), peak.dtype, peak.threads, peak.gflops, peak.time});
    }
    ceilings.bandwidth = measured.levels;
    ctx.emit(std::move(ceilings));
  }

  void run_size(RunContext& ctx, Device device, MatmulCase& bench,
                const std::vector<RungInfo>& rungs, std::int64_t n) const {
    if (!request_.live) {
      bench.time_all([&](double done, const std::string& rung) {
        const auto info = std::ranges::find(rungs, rung, &RungInfo::name);
        const std::string title = info == rungs.end() ? rung : tr(info->title);
        report(ctx, done * size_s(rungs, n), trf("{} at {} on {}", title, n, to_string(device)));
      });
      return;
    }
    while (bench.verified_rungs() > 0) {
      report(ctx, 0, trf("live at {} on {}", n, to_string(device)));
      bench.time_round(kRound_s);
    }
  }

  // `size_done_s`: the part of the present size's expected time that is done.
  void report(RunContext& ctx, double size_done_s, std::string what) const {
    ctx.progress((done_s_ + size_done_s) / expected_s_, std::move(what));
  }

  StartMatmul request_;
  std::vector<Device> devices_;
  double expected_s_ = 0;         // of all devices, kernels and sizes
  double done_s_ = 0;             // the part of it whose sizes are done
  std::size_t skipped_ = 0;       // devices
  std::set<std::string> failed_;  // "vector on cuda:0"
};

}  // namespace

std::vector<std::int64_t> default_matmul_sizes() {
  return {64, 128, 256, 512, 1024, 2048, 4096};
}

void check_matmul_sizes(const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t n : sizes) {
    if (n >= 1 && n <= kLargestSize) continue;
    throw Error(Errc::Usage,
                trf("matmul: size {} is out of range; choose 1 to {}", n, kLargestSize));
  }
}

std::unique_ptr<Experiment> make_matmul_experiment(const StartMatmul& request) {
  if (request.together) return make_together_experiment(request);
  return std::make_unique<MatmulLadder>(request);
}

std::vector<std::string> matmul_kernel_names() {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Rung& rung : cpu_ladder()) add(rung.name);
  for (const RungInfo& rung : cuda_rungs()) add(rung.name);
  return names;
}

std::vector<RungInfo> matmul_rungs(DeviceContext& device) {
  return rungs_of(device, Precision::F32);
}

}  // namespace lab
