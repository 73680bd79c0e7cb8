#include "compute/matmul/gemm_kernels.h"

#include <array>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/matmul/gemm_kernels.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lab {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

// Registers: MR*NV accumulators, NV of B and one of A must fit the 32 (AVX-512) or 16 there are.
#if HWY_TARGET <= HWY_AVX3
constexpr int kMr = 12;
constexpr int kNv = 2;
#else
constexpr int kMr = 6;
constexpr int kNv = 2;
#endif
constexpr int kLanes = hn::MaxLanes(D());
constexpr int kNr = kNv * kLanes;

struct PackedA {
  const float* p;
  explicit PackedA(const TileArgs& t) : p(t.a) {}
  const float* row(int i) const { return p + i; }
  void next() { p += kMr; }
};

struct StridedA {
  const float* p;
  std::int64_t row_stride, k_stride;
  explicit StridedA(const TileArgs& t)
      : p(t.a), row_stride(t.a_row_stride), k_stride(t.a_k_stride) {}
  const float* row(int i) const { return p + i * row_stride; }
  void next() { p += k_stride; }
};

// Columns of the last vector that are inside the tile.
HWY_INLINE void AddPartial(const V value, int cols, bool accumulate, float* c) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(value, D(), lanes);
  for (int j = 0; j < cols; ++j) c[j] = accumulate ? c[j] + lanes[j] : lanes[j];
}

template <int kRows, int kVecs, class A>
void Tile(const TileArgs& t) {
  const D d;
  V acc[kRows][kVecs];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) acc[i][v] = hn::Zero(d);
  }

#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) hwy::Prefetch(t.c + i * t.ldc + v * kLanes);
  }

  A a(t);
  const float* HWY_RESTRICT b = t.b;
  for (std::int64_t p = 0; p < t.k; ++p) {
    V bv[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) bv[v] = hn::LoadU(d, b + v * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V ai = hn::Set(d, *a.row(i));
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) acc[i][v] = hn::MulAdd(ai, bv[v], acc[i][v]);
    }
    a.next();
    b += t.b_k_stride;
  }

  const int partial = t.cols - (kVecs - 1) * kLanes;  // columns of the last vector, 1..lanes
  const int whole = partial == kLanes ? kVecs : kVecs - 1;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    float* c = t.c + i * t.ldc;
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      if (v >= whole) {
        AddPartial(acc[i][v], partial, t.accumulate, c + v * kLanes);
      } else if (t.accumulate) {
        hn::StoreU(hn::Add(acc[i][v], hn::LoadU(d, c + v * kLanes)), d, c + v * kLanes);
      } else {
        hn::StoreU(acc[i][v], d, c + v * kLanes);
      }
    }
  }
}

using TileFunction = void (*)(const TileArgs&);

// Every smaller tile has a kernel of its own: index (rows - 1) * kNv + vectors - 1.
template <class A, int... kIndex>
constexpr std::array<TileFunction, sizeof...(kIndex)> MakeTiles(
    std::integer_sequence<int, kIndex...>) {
  return {&Tile<kIndex / kNv + 1, kIndex % kNv + 1, A>...};
}

template <class A>
void AnyTile(const TileArgs& t) {
  static constexpr auto kTiles = MakeTiles<A>(std::make_integer_sequence<int, kMr * kNv>());
  const int vectors = (t.cols + kLanes - 1) / kLanes;
  kTiles[static_cast<std::size_t>((t.rows - 1) * kNv + vectors - 1)](t);
}

// The strip lies side by side in memory: copy row after row.
void PackAlongStrip(const PackArgs& p) {
  for (std::int64_t k = 0; k < p.k; ++k) {
    const float* from = p.source + k * p.k_stride;
    float* to = p.out + k * p.width;
    int i = 0;
    for (; i + kLanes <= p.valid; i += kLanes) hn::StoreU(hn::LoadU(D(), from + i), D(), to + i);
    for (; i < p.valid; ++i) to[i] = from[i];
    for (; i < p.width; ++i) to[i] = 0;
  }
}

// One number after the other: [rows i, i_end) of the strip, terms [k, k_end).
void PackScalars(const PackArgs& p, int i, int i_end, std::int64_t k, std::int64_t k_end) {
  for (; i < i_end; ++i) {
    const float* from = p.source + i * p.strip_stride;
    for (std::int64_t q = k; q < k_end; ++q) p.out[q * p.width + i] = i < p.valid ? from[q] : 0;
  }
}

#if HWY_TARGET == HWY_SCALAR
constexpr int kBlock = 1;
void PackBlock(const PackArgs& p, int i, std::int64_t k) {
  PackScalars(p, i, i + 1, k, k + 1);
}
#else
constexpr int kBlock = 4;
// Four rows by four terms, transposed in registers.
HWY_INLINE void PackBlock(const PackArgs& p, int i, std::int64_t k) {
  const hn::FixedTag<float, 4> d;
  const float* from = p.source + i * p.strip_stride + k;
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + p.strip_stride);
  const auto r2 = hn::LoadU(d, from + 2 * p.strip_stride);
  const auto r3 = hn::LoadU(d, from + 3 * p.strip_stride);
  const auto low01 = hn::InterleaveLower(d, r0, r1);
  const auto low23 = hn::InterleaveLower(d, r2, r3);
  const auto high01 = hn::InterleaveUpper(d, r0, r1);
  const auto high23 = hn::InterleaveUpper(d, r2, r3);
  float* to = p.out + k * p.width + i;
  hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
  hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + p.width);
  hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * p.width);
  hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * p.width);
}
#endif

// The strip is strided and k is side by side: transpose in small blocks.
void PackAcrossStrip(const PackArgs& p) {
  const int whole_rows = p.valid / kBlock * kBlock;
  const std::int64_t whole_terms = p.k / kBlock * kBlock;
  for (std::int64_t k = 0; k < whole_terms; k += kBlock) {
    for (int i = 0; i < whole_rows; i += kBlock) PackBlock(p, i, k);
  }
  PackScalars(p, 0, whole_rows, whole_terms, p.k);
  PackScalars(p, whole_rows, p.width, 0, p.k);
}

void Pack(const PackArgs& p) {
  if (p.strip_stride == 1) {
    PackAlongStrip(p);
  } else {
    PackAcrossStrip(p);
  }
}

const GemmKernels* Kernels() {
  static constexpr GemmKernels kKernels{HWY_TARGET,         kMr,  kNr, kLanes, &AnyTile<PackedA>,
                                        &AnyTile<StridedA>, &Pack};
  return &kKernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace lab
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab {

HWY_EXPORT(Kernels);

const GemmKernels& gemm_kernels() {
  return *HWY_DYNAMIC_DISPATCH(Kernels)();
}

}  // namespace lab
#endif
