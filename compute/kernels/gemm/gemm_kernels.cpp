#include "compute/kernels/gemm/gemm_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/gemm/gemm_kernels.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lab {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr int kLine = 16;  // floats per cache line
// Rows of B between the one in use and the one that is prefetched.
constexpr std::int64_t kRowsToPrefetch = 32;
// Whether B is prefetched where TileArgs::fetches_b asks for it, not only while it is packed. Zen 3
// loses up to a quarter of its peak by prefetching what L1 already has.
constexpr bool kFetchesB = HWY_TARGET <= HWY_AVX3;

// MR*NV accumulators, NV vectors of B and one of A must fit in the 32 registers of AVX-512 and
// 64-bit ARM, or in 16. A product of many rows, which streams A past B, takes fewer. On ARM, where
// GCC loads all rows of A before it uses them, 12 rows do not fit.
constexpr int kProductMr = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 8 : 6;
constexpr int kMr = HWY_TARGET <= HWY_AVX3 ? 12 : kProductMr;
constexpr int kNv = 2;
constexpr int kLanes = hn::MaxLanes(D());
constexpr int kNr = kNv * kLanes;
// Wide tiles load fewer numbers per multiplication, in 28 of 32 registers. With 16, as many tiles
// have too few rows to gain anything.
constexpr bool kHasWide = HWY_TARGET <= HWY_AVX3;
constexpr int kWideMr = kHasWide ? 8 : kMr;
constexpr int kWideProductMr = kHasWide ? 8 : kProductMr;
constexpr int kWideNv = kHasWide ? 3 : kNv;

// True if partial vector loads do not access the rest of the vector's memory.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr bool kLoadsParts = true;
#else
constexpr bool kLoadsParts = false;
#endif

// A whose rows are contiguous for each term: packed A, or A stored transposed.
struct ColumnsOfA {
  const float* p;
  std::int64_t k_stride;
  explicit ColumnsOfA(const TileArgs& t) : p(t.a), k_stride(t.a_k_stride) {}
  const float* row(int i) const { return p + i; }
  void next() { p += k_stride; }
};

struct RowsOfA {
  const float* p;
  std::int64_t row_stride, k_stride;
  explicit RowsOfA(const TileArgs& t)
      : p(t.a), row_stride(t.a_row_stride), k_stride(t.a_k_stride) {}
  const float* row(int i) const { return p + i * row_stride; }
  void next() { p += k_stride; }
};

// Accumulates all terms for all rows; stores the rows of B to `packed_b`, a strip of kStrip
// vectors, if `kPack`. If `kPartial`, the last vector of B has `partial` columns.
template <int kRows, int kVecs, int kStrip, bool kPartial, bool kPack, bool kFetch, class A>
HWY_INLINE void AddTerms(const TileArgs& t, V (&acc)[kRows][kVecs], int partial) {
  const D d;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(partial));
  A a(t);
  const float* HWY_RESTRICT b = t.b;
  float* HWY_RESTRICT packed = t.packed_b;
  for (std::int64_t p = 0; p < t.k; ++p) {
    if constexpr (kFetch) {
      const float* ahead = b + kRowsToPrefetch * t.b_k_stride;
#pragma GCC unroll 4
      for (int i = 0; i < kVecs * kLanes; i += kLine) {
        __builtin_prefetch(ahead + i, /*write=*/0, /*locality=*/2);  // a strip is larger than L1
      }
    }
    V bv[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      const float* from = b + v * kLanes;
      bv[v] = kPartial && v == kVecs - 1 ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from);
      if (kPack) hn::Store(bv[v], d, packed + v * kLanes);
    }
    if (kPack) packed += kStrip * kLanes;
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V ai = hn::Set(d, *a.row(i));
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) acc[i][v] = hn::MulAdd(ai, bv[v], acc[i][v]);
    }
    a.next();
    b += t.b_k_stride;
  }
}

// Stores to c[0, cols) the columns of the last vector that are inside the tile.
HWY_INLINE void StorePartial(const V value, int cols, bool accumulate, float* c) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const D d;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(cols));
  hn::BlendedStore(accumulate ? hn::Add(value, hn::MaskedLoad(mask, d, c)) : value, mask, d, c);
#else
  HWY_ALIGN float lanes[kLanes];
  hn::Store(value, D(), lanes);
  // A loop to `cols` makes GCC 14 warn of lanes beyond the last one.
  for (int j = 0; j < kLanes; ++j) {
    if (j < cols) c[j] = accumulate ? c[j] + lanes[j] : lanes[j];
  }
#endif
}

// Computes the first tile, which has `cols` columns.
template <int kRows, int kVecs, int kStrip, class A, bool kPack>
HWY_INLINE void OneTile(const TileArgs& t, int cols) {
  const D d;
  V acc[kRows][kVecs];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) acc[i][v] = hn::Zero(d);
  }

  if (t.accumulate) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) hwy::Prefetch(t.c + i * t.ldc + v * kLanes);
    }
  }

  const int partial = cols - (kVecs - 1) * kLanes;  // columns of the last vector, 1..lanes
  if (kLoadsParts && partial < kLanes) {
    AddTerms<kRows, kVecs, kStrip, kLoadsParts, kPack, false, A>(t, acc, partial);
  } else if (kPack || (kFetchesB && t.fetches_b)) {
    AddTerms<kRows, kVecs, kStrip, false, kPack, kPack || kFetchesB, A>(t, acc, kLanes);
  } else {
    AddTerms<kRows, kVecs, kStrip, false, kPack, false, A>(t, acc, kLanes);
  }

  float* c = t.c;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i, c += t.ldc) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      float* to = c + v * kLanes;
      if (v == kVecs - 1 && partial < kLanes) {
        StorePartial(acc[i][v], partial, t.accumulate, to);
      } else if (t.accumulate) {
        hn::StoreU(hn::Add(acc[i][v], hn::LoadU(d, to)), d, to);
      } else {
        hn::StoreU(acc[i][v], d, to);
      }
    }
  }
}

// kVecs of the last tile, of kStrip in each of the others.
template <int kRows, int kVecs, int kStrip, class A, bool kPack = false>
void Tile(const TileArgs& t) {
  constexpr int kColumns = kStrip * kLanes;
  TileArgs args = t;  // a copy, which stores to C cannot change
  if constexpr (kVecs < kStrip) {
    if (t.tiles > 1) {
      args.tiles = t.tiles - 1;
      args.cols = kColumns;
      Tile<kRows, kStrip, kStrip, A>(args);
      args.b += args.tiles * args.b_tile_stride;
      args.c += args.tiles * kColumns;
      args.tiles = 1;
    }
  }
  for (; args.tiles > 0; --args.tiles, args.b += args.b_tile_stride, args.c += kColumns) {
    OneTile<kRows, kVecs, kStrip, A, kPack>(args, args.tiles > 1 ? kColumns : t.cols);
  }
}

using TileFunction = void (*)(const TileArgs&);

// Every smaller tile has its own kernel, at index (rows - 1) * kStrip + vectors - 1.
template <int kStrip, class A, int... kIndex>
constexpr std::array<TileFunction, sizeof...(kIndex)> MakeTiles(
    std::integer_sequence<int, kIndex...>) {
  return {&Tile<kIndex / kStrip + 1, kIndex % kStrip + 1, kStrip, A>...};
}

template <int kMostRows, int kStrip, class A>
void AnyTile(const TileArgs& t) {
  static constexpr auto kTiles =
      MakeTiles<kStrip, A>(std::make_integer_sequence<int, kMostRows * kStrip>());
  const int vectors = (t.cols + kLanes - 1) / kLanes;
  kTiles[static_cast<std::size_t>((t.rows - 1) * kStrip + vectors - 1)](t);
}

// Supports any strides of A.
template <int kMostRows, int kStrip>
void AnyTileOfRows(const TileArgs& t) {
  if (t.a_row_stride == 1) return AnyTile<kMostRows, kStrip, ColumnsOfA>(t);
  AnyTile<kMostRows, kStrip, RowsOfA>(t);
}

template <int kRows, int kVecs, int kStrip>
void TileAndPackVectors(const TileArgs& t) {
  if constexpr (kVecs > 1) {
    if (t.cols <= (kVecs - 1) * kLanes) return TileAndPackVectors<kRows, kVecs - 1, kStrip>(t);
  }
  Tile<kRows, kVecs, kStrip, RowsOfA, /*kPack=*/true>(t);
}

template <int kMostRows, int kProductRows, int kStrip>
void TileAndPack(const TileArgs& t) {
  if (t.rows == kProductRows) return TileAndPackVectors<kProductRows, kStrip, kStrip>(t);
  TileAndPackVectors<kMostRows, kStrip, kStrip>(t);
}

// Copies kWidth floats, whole vectors first.
template <int kWidth>
HWY_INLINE void CopyRow(const float* from, float* to) {
  const D d;
  const hn::CappedTag<float, 4> quad;
  constexpr int kVectors = kWidth / kLanes * kLanes;
  constexpr int kQuad = hn::MaxLanes(quad);
  constexpr int kQuads = kWidth / kQuad * kQuad;
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; i += kLanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
#pragma GCC unroll 4
  for (int i = kVectors; i < kQuads; i += kQuad) {
    hn::StoreU(hn::LoadU(quad, from + i), quad, to + i);
  }
  for (int i = kQuads; i < kWidth; ++i) to[i] = from[i];
}

// Packs whole strips with contiguous rows. Each row is copied for all strips before the next row,
// since rows may be pages apart, where hardware prefetchers do not follow.
template <int kWidth>
void PackWholeStrips(const PackArgs& p, int strips) {
  constexpr std::int64_t kAhead = 8;
  for (std::int64_t k = 0; k < p.k; ++k) {
    const float* from = p.source + k * p.k_stride;
    const float* ahead = p.source + std::min(k + kAhead, p.k - 1) * p.k_stride;
    for (int i = 0; i < strips * kWidth; i += kLine) hwy::Prefetch(ahead + i);
    float* to = p.out + k * kWidth;
    for (int s = 0; s < strips; ++s, from += kWidth, to += p.k * kWidth) {
      CopyRow<kWidth>(from, to);
    }
  }
}

// Returns whether the strips have one of these widths.
template <int... kWidths>
bool PackWholeStripsOf(const PackArgs& p, int strips) {
  return ((p.width == kWidths && (PackWholeStrips<kWidths>(p, strips), true)) || ...);
}

void PackAlongStrip(const PackArgs& p) {
  const int strips = p.valid / p.width;
  const bool known =
      PackWholeStripsOf<kNr, kWideNv * kLanes, kProductMr, kMr, kWideProductMr, kWideMr>(p, strips);
  for (int first = known ? strips * p.width : 0; first < p.valid; first += p.width) {
    const int valid = std::min(p.valid - first, p.width);
    float* to = p.out + first * p.k;
    for (std::int64_t k = 0; k < p.k; ++k, to += p.width) {
      const float* from = p.source + k * p.k_stride + first;
      for (int i = 0; i < valid; ++i) to[i] = from[i];
      for (int i = valid; i < p.width; ++i) to[i] = 0;
    }
  }
}

// Packs rows [i, i_end) of the strip, terms [k, k_end), one number at a time.
void PackScalars(const PackArgs& p, int i, int i_end, std::int64_t k, std::int64_t k_end) {
  for (; i < i_end; ++i) {
    const float* from = p.source + i * p.strip_stride;
    for (std::int64_t q = k; q < k_end; ++q) p.out[q * p.width + i] = from[q];
  }
}

#if HWY_TARGET == HWY_SCALAR
constexpr int kRowsAtOnce = 1;
constexpr int kTermsPerPass = 1;
void PackBlock(const float* from, std::int64_t /*stride*/, float* to, std::int64_t /*width*/) {
  *to = *from;
}
#else
constexpr int kRowsAtOnce = 4;
using Block = hn::CappedTag<float, 8>;
constexpr int kTermsPerPass = hn::MaxLanes(Block());

// Transposes four rows, `stride` apart, by one vector of at most eight terms in registers, each
// 128-bit part separately. Consecutive terms are `width` apart in `to`.
HWY_INLINE void PackBlock(const float* from, std::int64_t stride, float* to, std::int64_t width) {
  const Block d;
  const hn::Repartition<double, Block> pairs;
  const hn::FixedTag<float, 4> quad;
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride);
  const auto r3 = hn::LoadU(d, from + 3 * stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  const decltype(r0) terms[4] = {hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)),
                                 hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)),
                                 hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)),
                                 hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23))};
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    hn::StoreU(hn::LowerHalf(quad, terms[q]), quad, to + q * width);
    hn::StoreU(hn::UpperHalf(quad, terms[q]), quad, to + (q + 4) * width);
#else
    hn::StoreU(terms[q], quad, to + q * width);
#endif
  }
}
#endif

// The strip is strided and its terms are contiguous: transposes in small blocks, along a few rows
// at a time, since rows that are pages apart may not fit in L1 together. If the rows are not a
// multiple of a block's, the last block repeats some of the one before it.
void PackAcrossStrip(const PackArgs& p) {
  constexpr std::int64_t kTermsPerRun = 64;
  const int whole_rows = p.valid < kRowsAtOnce ? 0 : p.valid;
  const std::int64_t whole_terms = p.k / kTermsPerPass * kTermsPerPass;
  const std::int64_t width = p.width;
  for (std::int64_t first = 0; first < whole_terms; first += kTermsPerRun) {
    const std::int64_t end = std::min(first + kTermsPerRun, whole_terms);
    for (int i = 0; i < whole_rows; i += kRowsAtOnce) {
      const int row = std::min(i, whole_rows - kRowsAtOnce);
      const float* from = p.source + row * p.strip_stride + first;
      float* to = p.out + first * width + row;
      for (std::int64_t k = first; k < end;
           k += kTermsPerPass, from += kTermsPerPass, to += kTermsPerPass * width) {
        PackBlock(from, p.strip_stride, to, width);
      }
    }
  }
  PackScalars(p, 0, whole_rows, whole_terms, p.k);
  PackScalars(p, whole_rows, p.valid, 0, p.k);
  for (std::int64_t k = 0; k < p.k && p.valid < p.width; ++k) {
    std::fill(p.out + k * p.width + p.valid, p.out + (k + 1) * p.width, 0.0F);
  }
}

void Pack(const PackArgs& p) {
  if (p.strip_stride == 1) return PackAlongStrip(p);
  PackArgs strip = p;
  for (int left = p.valid; left > 0; left -= p.width) {
    strip.valid = std::min(left, p.width);
    PackAcrossStrip(strip);
    strip.source += p.width * p.strip_stride;
    strip.out += p.width * p.k;
  }
}

template <int kMostRows, int kProductRows, int kStrip>
const GemmKernels* KernelsOf() {
  static constexpr GemmKernels kKernels{HWY_TARGET,
                                        kMostRows,
                                        kProductRows,
                                        kStrip * kLanes,
                                        kLanes,
                                        kLoadsParts,
                                        &AnyTileOfRows<kMostRows, kStrip>,
                                        &TileAndPack<kMostRows, kProductRows, kStrip>,
                                        &Pack};
  return &kKernels;
}

const GemmKernels* Kernels() {
  return KernelsOf<kMr, kProductMr, kNv>();
}
const GemmKernels* WideKernels() {
  return KernelsOf<kWideMr, kWideProductMr, kWideNv>();
}

}  // namespace HWY_NAMESPACE
}  // namespace lab
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab {

HWY_EXPORT(Kernels);
HWY_EXPORT(WideKernels);

const GemmKernels& gemm_kernels() {
  return *HWY_DYNAMIC_DISPATCH(Kernels)();
}

const GemmKernels& wide_gemm_kernels() {
  return *HWY_DYNAMIC_DISPATCH(WideKernels)();
}

}  // namespace lab
#endif
