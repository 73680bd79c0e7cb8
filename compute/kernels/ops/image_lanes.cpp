#include "compute/kernels/ops/image_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/image_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "compute/kernels/ops/lane_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kMaxImageLanes>;
using V = hn::Vec<D>;
constexpr int kLanes = hn::MaxLanes(D());

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void Transpose(V* /*rows*/) {}
#else
// Transposes each 4 x 4 block of four rows: row r receives column r of its block.
HWY_INLINE void TransposeBlocks(V* rows) {
  const D d;
  const auto zip = [&](V a, V b, V& low, V& high) HWY_ATTR {
    low = hn::InterleaveLower(d, a, b);
    high = hn::InterleaveUpper(d, a, b);
  };
  V low02, high02, low13, high13;
  zip(rows[0], rows[2], low02, high02);
  zip(rows[1], rows[3], low13, high13);
  zip(low02, low13, rows[0], rows[1]);
  zip(high02, high13, rows[2], rows[3]);
}

// Transposes kLanes rows: row r receives column r.
HWY_INLINE void Transpose(V* rows) {
  const D d;
#pragma GCC unroll 4
  for (int r = 0; r < kLanes; r += 4) TransposeBlocks(rows + r);
#if HWY_MAX_BYTES >= 64
  if constexpr (kLanes == 16) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {  // the blocks of rows r, r + 4, r + 8, r + 12
      const V a = rows[r], b = rows[r + 4], e = rows[r + 8], f = rows[r + 12];
      const V even_ab = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
      const V odd_ab = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
      const V even_ef = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(f), e);
      const V odd_ef = hn::OddEvenBlocks(f, hn::SwapAdjacentBlocks(e));
      rows[r] = hn::ConcatLowerLower(d, even_ef, even_ab);
      rows[r + 4] = hn::ConcatLowerLower(d, odd_ef, odd_ab);
      rows[r + 8] = hn::ConcatUpperUpper(d, even_ef, even_ab);
      rows[r + 12] = hn::ConcatUpperUpper(d, odd_ef, odd_ab);
    }
  }
#endif
  if constexpr (kLanes == 8) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const V a = rows[r], b = rows[r + 4];
      rows[r] = hn::ConcatLowerLower(d, b, a);
      rows[r + 4] = hn::ConcatUpperUpper(d, b, a);
    }
  }
}
#endif

std::int64_t Lanes() {
  return kLanes;
}

// Converts values [e, e + kLanes) of all images; `n` of them are needed.
template <bool kWhole>
HWY_INLINE void ToLanes(const ImageRuns<const float>& runs, std::int64_t e, std::int64_t n,
                        float* block) {
  const D d;
  V rows[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    rows[i] = kWhole || i < runs.images ? hn::LoadU(d, runs.data + i * runs.image_stride + e)
                                        : hn::Zero(d);
  }
  Transpose(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if (kWhole || i < n) hn::StoreU(rows[i], d, block + (e + i) * kLanes);
  }
}

void ImagesToLanes(const ImageRuns<const float>& runs, float* block) {
  std::int64_t e = 0;
  if (runs.images == kLanes) {
    for (; e + kLanes <= runs.size; e += kLanes) ToLanes<true>(runs, e, kLanes, block);
  }
  for (; e < runs.size; e += kLanes) {
    ToLanes<false>(runs, e, std::min<std::int64_t>(kLanes, runs.size - e), block);
  }
}

template <bool kAccumulate>
HWY_INLINE void StoreRow(V row, float* to, std::int64_t n) {
  const D d;
  if (n == kLanes) {
    hn::StoreU(kAccumulate ? hn::Add(row, hn::LoadU(d, to)) : row, d, to);
    return;
  }
  HWY_ALIGN float values[kLanes];
  hn::Store(row, d, values);
  for (std::int64_t i = 0; i < n; ++i) to[i] = kAccumulate ? to[i] + values[i] : values[i];
}

template <bool kWhole, bool kAccumulate>
HWY_INLINE void ToImages(const float* block, const ImageRuns<float>& runs, std::int64_t e,
                         std::int64_t n) {
  const D d;
  V rows[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    rows[i] = kWhole || i < n ? hn::LoadU(d, block + (e + i) * kLanes) : hn::Zero(d);
  }
  Transpose(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if (!kWhole && i >= runs.images) break;
    StoreRow<kAccumulate>(rows[i], runs.data + i * runs.image_stride + e, kWhole ? kLanes : n);
  }
}

template <bool kAccumulate>
HWY_INLINE void AllToImages(const float* block, const ImageRuns<float>& runs) {
  std::int64_t e = 0;
  if (runs.images == kLanes) {
    for (; e + kLanes <= runs.size; e += kLanes) {
      ToImages<true, kAccumulate>(block, runs, e, kLanes);
    }
  }
  for (; e < runs.size; e += kLanes) {
    ToImages<false, kAccumulate>(block, runs, e, std::min<std::int64_t>(kLanes, runs.size - e));
  }
}

void LanesToImages(const float* block, const ImageRuns<float>& runs, bool accumulate) {
  if (accumulate) {
    AllToImages<true>(block, runs);
  } else {
    AllToImages<false>(block, runs);
  }
}

void TransposeVectors(const float* from, std::int64_t rows, std::int64_t columns, float* to) {
  const D d;
  for (std::int64_t c = 0; c < columns; ++c, from += kLanes) {
    for (std::int64_t r = 0; r < rows; ++r, to += kLanes) {
      hn::Store(hn::Load(d, from + r * columns * kLanes), d, to);
    }
  }
}

void SumLanes(const float* block, float* sums, std::int64_t n) {
  const D d;
  std::int64_t e = 0;
  for (; e + kLanes <= n; e += kLanes) {
    V rows[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) rows[i] = hn::LoadU(d, block + (e + i) * kLanes);
    hn::StoreU(SumsOfRows(d, rows), d, sums + e);
  }
  for (; e < n; ++e) sums[e] = hn::GetLane(hn::SumOfLanes(d, hn::LoadU(d, block + e * kLanes)));
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(Lanes);
HWY_EXPORT(ImagesToLanes);
HWY_EXPORT(LanesToImages);
HWY_EXPORT(TransposeVectors);
HWY_EXPORT(SumLanes);

std::int64_t image_lanes() {
  return HWY_DYNAMIC_DISPATCH(Lanes)();
}

void images_to_lanes(const ImageRuns<const float>& runs, float* block) {
  HWY_DYNAMIC_DISPATCH(ImagesToLanes)(runs, block);
}

void lanes_to_images(const float* block, const ImageRuns<float>& runs, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(LanesToImages)(block, runs, accumulate);
}

void transpose_vectors(const float* from, std::int64_t rows, std::int64_t columns, float* to) {
  HWY_DYNAMIC_DISPATCH(TransposeVectors)(from, rows, columns, to);
}

void sum_lanes(const float* block, float* sums, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(SumLanes)(block, sums, n);
}

}  // namespace lab::simd
#endif
