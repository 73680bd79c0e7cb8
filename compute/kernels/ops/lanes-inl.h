// Loops over float arrays of any length and alignment: whole vectors first, then four lanes, then
// single lanes. Compiled once per SIMD target; include after <hwy/highway.h>.
#if defined(LAB_CPU_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAB_CPU_LANES_INL_H_
#undef LAB_CPU_LANES_INL_H_
#else
#define LAB_CPU_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<float>;
using Quad = hn::CappedTag<float, 4>;
using Single = hn::CappedTag<float, 1>;

// Calls body(tag, i) for the lanes of `tag` that start at i; together the calls cover [0, n) once.
template <class Body>
HWY_INLINE void for_lanes(std::int64_t n, const Body& body) {
  const Wide wide;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(wide, i);
  const Quad quad;
  const std::int64_t quad_lanes = static_cast<std::int64_t>(hn::Lanes(quad));
  for (; i + quad_lanes <= n; i += quad_lanes) body(quad, i);
  const Single single;
  for (; i < n; ++i) body(single, i);
}

// As for_lanes(), for sums in FP64: body(float tag, double tag, i), both with the same number of
// lanes.
template <class Body>
HWY_INLINE void for_double_lanes(std::int64_t n, const Body& body) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> wide_float;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(wide_float, wide, i);
  const hn::CappedTag<double, 1> single;
  const hn::Rebind<float, decltype(single)> single_float;
  for (; i < n; ++i) body(single_float, single, i);
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
