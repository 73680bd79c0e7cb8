#include "compute/kernels/gemm/peak.h"

#include <vector>

#include "compute/kernels/gemm/amx.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/measure/own_rates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/gemm/peak.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lab {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// FMA latency times FMA units is 8 to 10 on x86, whose AVX2 has 16 registers, and up to 16 on
// 64-bit ARM, which has 32, as AVX-512 has.
constexpr int kChains = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 24 : 12;

double FmaLoop(std::int64_t iterations, float seed, float* result) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V factor = hn::Set(d, 0.5F);
  const V term = hn::Set(d, seed);
  V chain[kChains];
#pragma GCC unroll 24
  for (int c = 0; c < kChains; ++c) chain[c] = hn::Set(d, seed + static_cast<float>(c));
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 24
    for (int c = 0; c < kChains; ++c) chain[c] = hn::MulAdd(chain[c], factor, term);
  }
  V sum = hn::Zero(d);
#pragma GCC unroll 24
  for (int c = 0; c < kChains; ++c) sum = hn::Add(sum, chain[c]);
  const auto lanes = static_cast<double>(hn::Lanes(d));
  // The mean of all chains, which is near 2 * seed.
  *result = hn::GetLane(hn::SumOfLanes(d, sum)) / static_cast<float>(kChains * lanes);
  return 2.0 * kChains * lanes * static_cast<double>(iterations);
}

}  // namespace HWY_NAMESPACE
}  // namespace lab
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab {

HWY_EXPORT(FmaLoop);

double fma_loop(std::int64_t iterations, float seed, float* result) {
  return HWY_DYNAMIC_DISPATCH(FmaLoop)(iterations, seed, result);
}

PeakSample measure_peak(Device device, ThreadPool* pool, const MeasureOptions& options,
                        Precision precision) {
  // Up to a millisecond: an iteration takes 6 to 12 cycles with FMA and 64 with AMX.
  constexpr std::int64_t kIterations = 100'000, kAmxIterations = 50'000;
  struct alignas(64) Slot {
    float result = 0;
    double flop = 0;
  };
  PeakSample sample;
  sample.device = device;
  sample.dtype = precision;
  sample.threads = pool == nullptr ? 1 : pool->size();
  std::vector<Slot> slots(static_cast<std::size_t>(sample.threads));
  sample.amx = precision == Precision::BF16 && uses_amx();
  const auto loop = precision == Precision::BF16 ? bf16_kernels().peak_loop : &fma_loop;
  const std::int64_t iterations = sample.amx ? kAmxIterations : kIterations;
  const auto compute = [&](int t, std::int64_t times) {
    Slot& slot = slots[static_cast<std::size_t>(t)];
    // Each call continues from the previous result; the values stay near 1/2.
    return loop(times, slot.result * 0.25F + 0.25F, &slot.result);
  };
  const auto work = [&](int t) {
    slots[static_cast<std::size_t>(t)].flop = compute(t, iterations);
  };
  const auto go_on = [&](int t) { compute(t, iterations / 32); };
  if (pool == nullptr) {
    sample.time = measure([&] { work(0); }, options);
  } else {
    const auto calls = [&](std::int64_t times) {
      double seconds = 0;
      for (std::int64_t i = 0; i < times; ++i) seconds += time_at_own_rates(*pool, work, go_on);
      return seconds;
    };
    sample.time = measure(TimedCalls{calls}, options);
  }
  double flop = 0;
  for (const Slot& slot : slots) flop += slot.flop;
  sample.gflops = flop / sample.time.min_s / 1e9;
  return sample;
}

}  // namespace lab
#endif
