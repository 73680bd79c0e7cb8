#include "compute/kernels/ops/sum_arrays.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/sum_arrays.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

// Two arrays are the usual case: no loop inside of the loop.
void SumPair(const float* a, const float* b, float* x, float* y, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto sum = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::StoreU(sum, d, x + i);
    hn::StoreU(sum, d, y + i);
  });
}

void SumArrays(std::span<const float* const> sources, std::span<float* const> targets,
               std::int64_t begin, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    auto sum = hn::Zero(d);
    if (!sources.empty()) sum = hn::LoadU(d, sources[0] + begin + i);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      sum = hn::Add(sum, hn::LoadU(d, sources[s] + begin + i));
    }
    for (float* target : targets) hn::StoreU(sum, d, target + begin + i);
  });
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(SumPair);
HWY_EXPORT(SumArrays);

void sum_arrays(std::span<const float* const> sources, std::span<float* const> targets,
                std::int64_t begin, std::int64_t end) {
  if (sources.size() == 2 && targets.size() == 2) {
    HWY_DYNAMIC_DISPATCH(SumPair)
    (sources[0] + begin, sources[1] + begin, targets[0] + begin, targets[1] + begin, end - begin);
  } else {
    HWY_DYNAMIC_DISPATCH(SumArrays)(sources, targets, begin, end - begin);
  }
}

}  // namespace lab::simd
#endif
