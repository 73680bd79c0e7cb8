// Sums over the lanes of several vectors. Compiled once per SIMD target; include after
// <hwy/highway.h>.
#if defined(LAB_CPU_LANE_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAB_CPU_LANE_SUMS_INL_H_
#undef LAB_CPU_LANE_SUMS_INL_H_
#else
#define LAB_CPU_LANE_SUMS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lane r of the result is the sum of the lanes of rows[r]; as many rows as lanes, at most 16. Takes
// about two shuffles and one addition per row.
#if HWY_TARGET == HWY_SCALAR
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SumsOfRows(D /*d*/, const V* rows) {
  return rows[0];
}
#else
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SumsOfRows(D d, const V* rows) {
  constexpr int kLanes = hn::MaxLanes(d);
  static_assert(kLanes == 4 || kLanes == 8 || kLanes == 16);
  const auto add_halves = [&](V a, V b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  V sums[kLanes / 4];  // of each block of four lanes
#pragma GCC unroll 4
  for (int i = 0; i < kLanes / 4; ++i) {
    const V* r = rows + 4 * i;
    sums[i] = add_halves(add_halves(r[0], r[2]), add_halves(r[1], r[3]));
  }
#if HWY_MAX_BYTES >= 64
  if constexpr (kLanes == 16) {
    const auto add_pairs = [&](V a, V b) HWY_ATTR {  // of adjacent blocks
      return hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a),
                     hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)));
    };
    const V low = add_pairs(sums[0], sums[1]), high = add_pairs(sums[2], sums[3]);
    return hn::Add(hn::ConcatLowerLower(d, high, low), hn::ConcatUpperUpper(d, high, low));
  }
#endif
  if constexpr (kLanes == 8) {
    return hn::Add(hn::ConcatLowerLower(d, sums[1], sums[0]),
                   hn::ConcatUpperUpper(d, sums[1], sums[0]));
  }
  return sums[0];
}
#endif

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
