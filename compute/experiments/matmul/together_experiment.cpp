// Products on several devices at once: what each device reaches, and the speed-up over one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/events/measured_cases.h"
#include "compute/core/language.h"
#include "compute/core/monotonic_clock.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/experiments/matmul/together.h"
#include "compute/measure/statistics.h"
#include "compute/run/run_context.h"

namespace lab {
namespace {

// True if work on one of the devices is a measure for work on the other.
bool alike(Machine& machine, Device a, Device b) {
  if (a.kind != b.kind) return false;
  return a.kind == DeviceKind::Cpu || machine.at(a).info().name == machine.at(b).info().name;
}

std::vector<Device> choose_together(Machine& machine, const std::vector<Device>& asked) {
  std::vector<Device> devices = asked;
  if (!std::all_of(asked.begin(), asked.end(), is_timed)) {
    throw Error(Errc::Usage, trf("matmul --together: an emulated GPU is never timed; name CPUs "
                                 "or NVIDIA GPUs"));
  }
  if (devices.empty()) devices = alike_devices(machine.info().devices);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device device = devices[i];
    const DeviceInfo& info = machine.at(device).info();
    if (std::count(devices.begin(), devices.end(), device) > 1) {
      throw Error(Errc::Usage, trf("matmul --together: {} is named twice; name each device once",
                                   to_string(device)));
    }
    if (alike(machine, devices.front(), device)) continue;
    throw Error(Errc::Usage,
                trf("matmul --together: {} ({}) and {} ({}) are of different kinds, so one is no "
                    "measure for the other; choose devices of one kind",
                    to_string(devices.front()), machine.at(devices.front()).info().name,
                    to_string(device), info.name));
  }
  if (devices.size() >= 2) return devices;
  throw Error(Errc::Unsupported, trf("matmul --together: needs two devices of one kind, but {} is "
                                     "the only one; split the CPU with --cpu-devices 2",
                                     to_string(devices.front())));
}

void check_together_settings(const StartMatmul& request) {
  const bool own_kernels =
      !request.kernels.empty() && request.kernels != std::vector<std::string>{"best"};
  if (own_kernels) {
    throw Error(
        Errc::Usage,
        trf("matmul --together: multiplies with the lab's fastest kernel, not with {}; omit "
            "--kernels",
            fmt::join(request.kernels, ", ")));
  }
  if (request.dtype != Precision::F32) {
    throw Error(Errc::Usage, trf("matmul --together: multiplies in f32, not in {}; omit --dtype",
                                 to_string(request.dtype)));
  }
}

// Every round runs both orders, so that a change of the clock affects both.
struct TogetherRounds {
  std::vector<double> in_sequence_s, at_once_s, speedups;
  std::vector<std::vector<double>> product_s;  // [device][round], at once

  int count() const { return static_cast<int>(speedups.size()); }
};

void run_round(TogetherProducts& work, TogetherRounds& rounds) {
  const bool sequence_first = rounds.count() % 2 == 0;
  std::vector<DeviceProducts> in_sequence;
  if (sequence_first) in_sequence = work.run_in_sequence();
  const std::vector<DeviceProducts> at_once = work.run_at_once();
  if (!sequence_first) in_sequence = work.run_in_sequence();
  rounds.in_sequence_s.push_back(span_s(in_sequence));
  rounds.at_once_s.push_back(span_s(at_once));
  rounds.speedups.push_back(span_s(in_sequence) / span_s(at_once));
  rounds.product_s.resize(at_once.size());
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    rounds.product_s[i].push_back((at_once[i].end_s - at_once[i].begin_s) /
                                  static_cast<double>(work.products_per_batch()));
  }
}

class MatmulTogether final : public Experiment {
 public:
  explicit MatmulTogether(const StartMatmul& request) : request_(request) {
    if (request_.sizes.empty()) request_.sizes = default_matmul_sizes();
  }

  void run(RunContext& ctx) override {
    check_together_settings(request_);
    check_matmul_sizes(request_.sizes);
    const std::vector<Device> devices = choose_together(ctx.machine(), request_.devices);
    if (const std::string unequal = unequal_cores(ctx.machine(), devices); !unequal.empty()) {
      ctx.emit(LogLine{Severity::Warning,
                       trf("matmul --together: the devices are not equally fast ({}); the slowest "
                           "limits the speed-up over {}",
                           unequal, to_string(devices.front()))});
    }
    double all_s = 0, done_s = 0;
    for (const std::int64_t n : request_.sizes) all_s += size_s(devices, n);
    ctx.expect(all_s);
    for (const std::int64_t n : request_.sizes) {
      ctx.progress(done_s / all_s, trf("N = {} on {} devices", n, devices.size()));
      run_size(ctx, devices, n);
      done_s += size_s(devices, n);
    }
    ctx.progress(1, tr("done"));
  }

 private:
  double size_s(const std::vector<Device>& devices, std::int64_t n) const {
    return together_size_s(devices.front(), devices.size(), n, request_.budget_s);
  }

  void run_size(RunContext& ctx, const std::vector<Device>& devices, std::int64_t n) const {
    ctx.checkpoint();
    TogetherProducts work(ctx.machine(), devices, n,
                          together_batch_s(devices.size(), request_.budget_s), ctx.stop_token());
    TogetherRounds rounds;
    const double ends_s = monotonic_s() + request_.budget_s;
    while (rounds.count() < kLeastTogetherRounds ||
           (rounds.count() < kMostTogetherRounds && monotonic_s() < ends_s)) {
      ctx.checkpoint();
      run_round(work, rounds);
    }
    emit(ctx, devices, n, work, std::move(rounds));
  }

  static void emit(RunContext& ctx, const std::vector<Device>& devices, std::int64_t n,
                   const TogetherProducts& work, TogetherRounds rounds) {
    const auto size = static_cast<double>(n);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      TogetherSample sample{.device = devices[i], .together = devices, .n = n};
      sample.time = summarise(rounds.product_s[i]);
      sample.time.warmup = TogetherProducts::kWarmup;
      sample.gflops = 2e-9 * size * size * size / sample.time.median_s;
      sample.verified = work.consistent();
      ctx.emit(sample);
    }
    const Timing speedup = summarise(rounds.speedups);
    const double in_sequence_s = median(rounds.in_sequence_s);
    const double at_once_s = median(rounds.at_once_s);
    ctx.emit(TogetherSpeedup{.devices = devices,
                             .n = n,
                             .products = work.products_per_batch(),
                             .rounds = rounds.count(),
                             .in_sequence_s = in_sequence_s,
                             .at_once_s = at_once_s,
                             .speedup = in_sequence_s / at_once_s,
                             .p10 = speedup.p10_s,
                             .p90 = speedup.p90_s,
                             .shares_cores = core_load(ctx.machine(), devices) > 1});
  }

  StartMatmul request_;
};

}  // namespace

std::unique_ptr<Experiment> make_together_experiment(const StartMatmul& request) {
  return std::make_unique<MatmulTogether>(request);
}

}  // namespace lab
