#include "compute/experiments/transfers/stream_kernels.h"

#include "compute/kernels/ops/read_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/experiments/transfers/stream_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lab::stream::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(D()));
}

// Number of elements before the first vector-aligned address of `a`, where streaming may start.
std::int64_t unaligned_head(const double* a, std::int64_t n) {
  const auto vector_bytes = static_cast<std::uintptr_t>(lanes()) * sizeof(double);
  const auto over = reinterpret_cast<std::uintptr_t>(a) % vector_bytes;
  const auto head =
      static_cast<std::int64_t>((vector_bytes - over) % vector_bytes / sizeof(double));
  return head < n ? head : n;
}

// Writes vector(i) to whole vectors of `a` and scalar(i) to the remaining elements.
template <typename Vector, typename Scalar>
HWY_INLINE void store_all(double* HWY_RESTRICT a, std::int64_t n, Stores stores,
                          const Vector& vector, const Scalar& scalar) {
  const D d;
  const std::int64_t step = lanes();
  std::int64_t i = 0;
  if (stores == Stores::Streaming) {
    for (const std::int64_t head = unaligned_head(a, n); i < head; ++i) a[i] = scalar(i);
    for (; i + 4 * step <= n; i += 4 * step) {
      const V v0 = vector(i), v1 = vector(i + step), v2 = vector(i + 2 * step),
              v3 = vector(i + 3 * step);
      hn::Stream(v0, d, a + i);
      hn::Stream(v1, d, a + i + step);
      hn::Stream(v2, d, a + i + 2 * step);
      hn::Stream(v3, d, a + i + 3 * step);
    }
    hwy::FlushStream();
  }
  for (; i + step <= n; i += step) hn::StoreU(vector(i), d, a + i);
  for (; i < n; ++i) a[i] = scalar(i);
}

void Write(double* a, double value, std::int64_t n, Stores stores) {
  const V v = hn::Set(D(), value);
  store_all(
      a, n, stores, [&](std::int64_t) HWY_ATTR { return v; },
      [&](std::int64_t) HWY_ATTR { return value; });
}

void Copy(double* to, const double* from, std::int64_t n, Stores stores) {
  store_all(
      to, n, stores, [&](std::int64_t i) HWY_ATTR { return hn::LoadU(D(), from + i); },
      [&](std::int64_t i) HWY_ATTR { return from[i]; });
}

void Triad(double* a, const double* b, const double* c, double q, std::int64_t n, Stores stores) {
  const D d;
  const V factor = hn::Set(d, q);
  store_all(
      a, n, stores,
      [&](std::int64_t i)
          HWY_ATTR { return hn::MulAdd(factor, hn::LoadU(d, c + i), hn::LoadU(d, b + i)); },
      [&](std::int64_t i) HWY_ATTR { return b[i] + q * c[i]; });
}

}  // namespace lab::stream::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab {
namespace stream {

HWY_EXPORT(Write);
HWY_EXPORT(Copy);
HWY_EXPORT(Triad);

std::uint64_t read(const double* a, std::int64_t n) {
  return simd::read_sum(reinterpret_cast<const std::uint64_t*>(a), n);
}
void write(double* a, double value, std::int64_t n, Stores stores) {
  HWY_DYNAMIC_DISPATCH(Write)(a, value, n, stores);
}
void copy(double* to, const double* from, std::int64_t n, Stores stores) {
  HWY_DYNAMIC_DISPATCH(Copy)(to, from, n, stores);
}
void triad(double* a, const double* b, const double* c, double q, std::int64_t n, Stores stores) {
  HWY_DYNAMIC_DISPATCH(Triad)(a, b, c, q, n, stores);
}

}  // namespace stream

const StreamKernels& stream_kernels() {
  static constexpr StreamKernels kKernels = {stream::read, stream::write, stream::copy,
                                             stream::triad};
  return kKernels;
}

}  // namespace lab
#endif
