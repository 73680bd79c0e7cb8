#include "compute/kernels/ops/read_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/read_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// More sums than loads per cycle times the latency of an addition, and enough to make the loop
// overhead per load small.
constexpr int kSums = 8;

std::uint64_t ReadSum(const std::uint64_t* HWY_RESTRICT words, std::int64_t n,
                      std::int64_t passes) {
  const hn::ScalableTag<std::uint64_t> u;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(u));
  hn::Vec<decltype(u)> sums[kSums];
#pragma GCC unroll 8
  for (int s = 0; s < kSums; ++s) sums[s] = hn::Zero(u);
  const std::int64_t whole = n - n % (kSums * lanes);
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    for (std::int64_t i = 0; i < whole; i += kSums * lanes) {
#pragma GCC unroll 8
      for (int s = 0; s < kSums; ++s) {
        sums[s] = hn::Add(sums[s], hn::LoadU(u, words + i + s * lanes));
      }
    }
  }
#pragma GCC unroll 8
  for (int s = 1; s < kSums; ++s) sums[0] = hn::Add(sums[0], sums[s]);
  // Added as scalars: on AVX-512, Highway's SumOfLanes uses signed arithmetic internally, where
  // overflow is an error.
  HWY_ALIGN std::uint64_t parts[hn::MaxLanes(u)];
  hn::Store(sums[0], u, parts);
  std::uint64_t sum = 0;
  for (std::int64_t lane = 0; lane < lanes; ++lane) sum += parts[lane];
  for (std::int64_t i = whole; i < n; ++i) sum += words[i] * static_cast<std::uint64_t>(passes);
  return sum;
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(ReadSum);

std::uint64_t read_sum(const std::uint64_t* words, std::int64_t n, std::int64_t passes) {
  return HWY_DYNAMIC_DISPATCH(ReadSum)(words, n, passes);
}

}  // namespace lab::simd
#endif
