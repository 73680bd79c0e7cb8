#include "compute/kernels/ops/batch_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/batch_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

void CentredSums(const float* x, const float* centre, std::int64_t rows, std::int64_t cols,
                 double* sums, double* squares) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    for_double_lanes(cols, [&](auto df, auto d, std::int64_t c) HWY_ATTR {
      const auto v = hn::Sub(hn::PromoteTo(d, hn::LoadU(df, row + c)),
                             hn::PromoteTo(d, hn::LoadU(df, centre + c)));
      hn::StoreU(hn::Add(v, hn::LoadU(d, sums + c)), d, sums + c);
      hn::StoreU(hn::MulAdd(v, v, hn::LoadU(d, squares + c)), d, squares + c);
    });
  }
}

// The output before relu and without a residual. Used for every pass, so that all compute the same
// bits.
template <class D>
HWY_INLINE hn::Vec<D> Normalised(D d, hn::Vec<D> centred, const NormArgs& args, std::int64_t c) {
  return hn::MulAdd(centred, hn::LoadU(d, args.scale + c), hn::LoadU(d, args.shift + c));
}

void Normalise(const float* x, const float* residual, float* y, const NormArgs& args,
               std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* from = x + r * cols;
    float* to = y + r * cols;
    for_lanes(cols, [&](auto d, std::int64_t c) HWY_ATTR {
      const auto centred = hn::Sub(hn::LoadU(d, from + c), hn::LoadU(d, args.mean + c));
      auto v = Normalised(d, centred, args, c);
      if (residual != nullptr) v = hn::Add(v, hn::LoadU(d, residual + r * cols + c));
      const auto off = hn::Lt(v, hn::Zero(d));
      hn::StoreU(args.relu ? hn::IfThenZeroElse(off, v) : v, d, to + c);
    });
  }
}

// dy at `at` in column c; under relu, 0 where y <= 0. `centred` is x - mean.
template <class D>
HWY_INLINE hn::Vec<D> Gradient(D d, hn::Vec<D> centred, const float* y, const float* dy,
                               const NormArgs& args, std::int64_t at, std::int64_t c) {
  const auto g = hn::LoadU(d, dy + at);
  if (!args.relu) return g;
  const auto v = y == nullptr ? Normalised(d, centred, args, c) : hn::LoadU(d, y + at);
  return hn::IfThenZeroElse(hn::Le(v, hn::Zero(d)), g);
}

void NormBackwardSums(const float* x, const float* y, const float* dy, const NormArgs& args,
                      std::int64_t rows, std::int64_t cols, double* sum_g, double* sum_gx,
                      float* g_out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t at = r * cols;
    for_double_lanes(cols, [&](auto df, auto d, std::int64_t c) HWY_ATTR {
      const auto centred = hn::Sub(hn::LoadU(df, x + at + c), hn::LoadU(df, args.mean + c));
      const auto g = Gradient(df, centred, y, dy, args, at + c, c);
      if (g_out != nullptr) hn::StoreU(g, df, g_out + at + c);
      const auto wide = hn::PromoteTo(d, g);
      hn::StoreU(hn::Add(wide, hn::LoadU(d, sum_g + c)), d, sum_g + c);
      hn::StoreU(hn::MulAdd(wide, hn::PromoteTo(d, centred), hn::LoadU(d, sum_gx + c)), d,
                 sum_gx + c);
    });
  }
}

void NormBackward(const float* x, const float* dy, float* dx, const NormArgs& args,
                  const float* mean_g, const float* slope, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t at = r * cols;
    for_lanes(cols, [&](auto d, std::int64_t c) HWY_ATTR {
      const auto v = hn::Sub(hn::LoadU(d, x + at + c), hn::LoadU(d, args.mean + c));
      const auto g = Gradient(d, v, nullptr, dy, args, at + c, c);
      const auto rest = hn::MulAdd(v, hn::LoadU(d, slope + c), hn::LoadU(d, mean_g + c));
      hn::StoreU(hn::Mul(hn::LoadU(d, args.scale + c), hn::Sub(g, rest)), d, dx + at + c);
    });
  }
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(CentredSums);
HWY_EXPORT(Normalise);
HWY_EXPORT(NormBackwardSums);
HWY_EXPORT(NormBackward);

void centred_sums(const float* x, const float* centre, std::int64_t rows, std::int64_t cols,
                  double* sums, double* squares) {
  HWY_DYNAMIC_DISPATCH(CentredSums)(x, centre, rows, cols, sums, squares);
}

void normalise(const float* x, const float* residual, float* y, const NormArgs& args,
               std::int64_t rows, std::int64_t cols) {
  HWY_DYNAMIC_DISPATCH(Normalise)(x, residual, y, args, rows, cols);
}

void norm_backward_sums(const float* x, const float* y, const float* dy, const NormArgs& args,
                        std::int64_t rows, std::int64_t cols, double* sum_g, double* sum_gx,
                        float* g_out) {
  HWY_DYNAMIC_DISPATCH(NormBackwardSums)(x, y, dy, args, rows, cols, sum_g, sum_gx, g_out);
}

void norm_backward(const float* x, const float* dy, float* dx, const NormArgs& args,
                   const float* mean_g, const float* slope, std::int64_t rows, std::int64_t cols) {
  HWY_DYNAMIC_DISPATCH(NormBackward)(x, dy, dx, args, mean_g, slope, rows, cols);
}

}  // namespace lab::simd
#endif
