#include "compute/measure/gpu_peak.h"

#include "compute/gpu/gpu_matmul.h"
#include "compute/measure/gated_clock.h"

namespace lab {
namespace {

constexpr double kPeakRepetition_s = 5e-3;
constexpr std::int64_t kMaxRounds = std::int64_t{1} << 40;

// Number of rounds that makes one repetition take at least `seconds`.
std::int64_t rounds_for(double seconds, GpuMatmul& matmul, Precision precision, GatedClock& clock) {
  std::int64_t rounds = 256;
  while (rounds < kMaxRounds) {
    const double took_s =
        clock.gated_runs(1, [&](GpuStream& stream) { matmul.run_peak(precision, rounds, stream); });
    if (took_s >= seconds) break;
    rounds *= 2;
  }
  return rounds;
}

}  // namespace

std::optional<PeakSample> measure_gpu_peak(DeviceContext& device, Precision precision,
                                           const MeasureOptions& options) {
  GpuDevice& gpu = *device.gpu();
  GatedClock clock(gpu, 1);
  double flop = 0;
  bool able = false;
  // Kernels are loaded by their first run, which must not be gated.
  clock.by_host([&](int /*stream*/) {
    able = gpu.matmul().run_peak(precision, 1, clock.stream(0)).has_value();
  });
  if (!able) return std::nullopt;
  const std::int64_t rounds = rounds_for(kPeakRepetition_s, gpu.matmul(), precision, clock);
  const auto runs = [&](std::int64_t times) {
    return clock.gated_runs(times, [&](GpuStream& stream) {
      flop = gpu.matmul().run_peak(precision, rounds, stream).value_or(0);
    });
  };
  PeakSample sample;
  sample.device = device.device();
  sample.dtype = precision;
  sample.time = measure(TimedCalls{runs}, options);
  sample.gflops = flop / sample.time.min_s * 1e-9;
  return sample;
}

}  // namespace lab
