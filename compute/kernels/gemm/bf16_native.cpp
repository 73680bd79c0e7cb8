// The AVX512-BF16 kernels. Only functions marked LAB_BF16_TARGET use these instructions, so the
// program also runs on processors without them.
#include "compute/kernels/gemm/bf16_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "compute/kernels/gemm/avx512_words.h"
#include "compute/machine/simd_level.h"

// GCC 12 warns about the undefined vectors inside its own intrinsics.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define LAB_BF16_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

namespace lab {
namespace {

// 24 accumulators: two multiply-adds per cycle with a latency of six cycles need at least 12. Two
// vectors of B and the broadcast of A, a memory operand, still leave registers free.
constexpr int kMr = 12;
constexpr int kNv = 2;
constexpr int kLanes = 16;
constexpr int kNr = kNv * kLanes;
constexpr std::int64_t kBlockSteps = 512;

// Storage of the pairs of A: packed, row by row, or with any strides.
enum class Layout { Packed, Rows, Strided };

template <Layout kLayout>
struct PairsOfA {
  const std::uint32_t* a;
  std::int64_t row_stride, k_stride;
  explicit PairsOfA(const Bf16TileArgs& t)
      : a(t.a), row_stride(t.a_row_stride), k_stride(t.a_k_stride) {}
  // Four rows share a base address to save address registers.
  const std::uint32_t* at(int i) const {
    if constexpr (kLayout == Layout::Packed) return a + i;
    return a + i / 4 * 4 * row_stride + i % 4 * row_stride;
  }
  void next() {
    if constexpr (kLayout == Layout::Packed) {
      a += kMr;
    } else if constexpr (kLayout == Layout::Rows) {
      a += 1;
    } else {
      a += k_stride;
    }
  }
};

template <int kRows, int kVecs, Layout kLayout>
LAB_BF16_TARGET void tile(const Bf16TileArgs& t) {
  __m512 sum[kRows][kVecs];
#pragma GCC unroll 32
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      sum[i][v] = _mm512_setzero_ps();
      _mm_prefetch(reinterpret_cast<const char*>(t.c + i * t.ldc + v * kLanes), _MM_HINT_T0);
    }
  }

  PairsOfA<kLayout> a(t);
  const std::uint32_t* b = t.b;
  for (std::int64_t p = 0; p < t.steps; ++p) {
    __m512bh bv[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      bv[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + v * kLanes));
    }
#pragma GCC unroll 32
    for (int i = 0; i < kRows; ++i) {
      const auto ai = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(*a.at(i))));
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) sum[i][v] = _mm512_dpbf16_ps(sum[i][v], ai, bv[v]);
    }
    a.next();
    b += t.b_k_stride;
  }

  const int last = t.cols - (kVecs - 1) * kLanes;  // columns of the last vector, 1..lanes
  const auto last_mask = static_cast<__mmask16>((1U << last) - 1U);
#pragma GCC unroll 32
  for (int i = 0; i < kRows; ++i) {
    float* c = t.c + i * t.ldc;
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v, c += kLanes) {
      const __mmask16 mask = v + 1 < kVecs ? __mmask16{0xffff} : last_mask;
      const __m512 before = t.accumulate ? _mm512_maskz_loadu_ps(mask, c) : _mm512_setzero_ps();
      _mm512_mask_storeu_ps(c, mask, _mm512_add_ps(sum[i][v], before));
    }
  }
}

using TileFunction = void (*)(const Bf16TileArgs&);

// Every smaller tile has its own kernel, at index (rows - 1) * kNv + vectors - 1.
template <Layout kLayout, int... kIndex>
constexpr std::array<TileFunction, sizeof...(kIndex)> make_tiles(
    std::integer_sequence<int, kIndex...>) {
  return {&tile<kIndex / kNv + 1, kIndex % kNv + 1, kLayout>...};
}

template <Layout kLayout>
void tile_of(const Bf16TileArgs& t) {
  static constexpr auto kTiles = make_tiles<kLayout>(std::make_integer_sequence<int, kMr * kNv>());
  const int vectors = (t.cols + kLanes - 1) / kLanes;
  kTiles[static_cast<std::size_t>((t.rows - 1) * kNv + vectors - 1)](t);
}

void any_tile(const Bf16TileArgs& t) {
  if (t.tiles > 1) {
    Bf16TileArgs one = t;
    one.tiles = 1;
    for (std::int64_t i = 0; i < t.tiles; ++i) {
      one.cols = i + 1 < t.tiles ? kNr : t.cols;
      any_tile(one);
      one.b += t.b_tile_stride;
      one.c += kNr;
    }
    return;
  }
  if (t.a_row_stride == 1 && t.a_k_stride == kMr) {
    tile_of<Layout::Packed>(t);
  } else if (t.a_k_stride == 1) {
    tile_of<Layout::Rows>(t);
  } else {
    tile_of<Layout::Strided>(t);
  }
}

// Returns the first n of 32 numbers as bf16, the rest zero.
LAB_BF16_TARGET inline __m512i load_pairs(const float* x, std::int64_t n) {
  const __mmask32 mask = n >= 32 ? ~0U : (1U << n) - 1U;
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), x);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), x + 16);
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

LAB_BF16_TARGET inline __m512i load_pairs(const std::uint16_t* x, std::int64_t n) {
  return _mm512_maskz_loadu_epi16(n >= 32 ? ~0U : (1U << n) - 1U, x);
}

// Permutation 0, 16, 1, 17, ..., 15, 31.
alignas(64) constexpr auto kZipped = [] {
  std::array<std::uint16_t, 2 * kLanes> order{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * kLanes);
  }
  return order;
}();

// Returns 16 pairs of one number of `even` and one of `odd`, zero where the mask bit is 0.
LAB_BF16_TARGET inline __m512i zip(const float* even, const float* odd, __mmask16 even_mask,
                                   __mmask16 odd_mask) {
  const __m512 low = _mm512_maskz_loadu_ps(even_mask, even);
  const __m512 high = _mm512_maskz_loadu_ps(odd_mask, odd);
  const __m512i both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
  return _mm512_permutexvar_epi16(_mm512_load_si512(kZipped.data()), both);
}

LAB_BF16_TARGET inline __m512i zip(const std::uint16_t* even, const std::uint16_t* odd,
                                   __mmask16 even_mask, __mmask16 odd_mask) {
  const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(even_mask, even));
  const __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(odd_mask, odd));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

// The strip is contiguous in memory: two rows at a time become one row of pairs.
template <int kVecs, typename T>
LAB_BF16_TARGET void pack_along_strip(const Bf16PackArgs<T>& p) {
  __mmask16 valid[kVecs], inside[kVecs];
  for (int v = 0; v < kVecs; ++v) {
    valid[v] = lanes_below(p.valid - v * kLanes);
    inside[v] = lanes_below(p.width - v * kLanes);
  }
  std::uint32_t* out = p.out;
  for (std::int64_t q = 0; q < p.terms; q += 2, out += p.width) {
    const T* even = p.source + q * p.k_stride;
    const bool is_pair = q + 1 < p.terms;
    const T* odd = is_pair ? even + p.k_stride : even;
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      const __m512i pairs =
          zip(even + v * kLanes, odd + v * kLanes, valid[v], is_pair ? valid[v] : __mmask16{0});
      _mm512_mask_storeu_epi32(out + v * kLanes, inside[v], pairs);
    }
  }
}

// Stores pairs 4*kQuarter to 4*kQuarter + 3, those below `pairs`; consecutive pairs are `width`
// words apart.
template <int kQuarter>
LAB_BF16_TARGET inline void store_quarter(const __m512i (&column)[4], std::int64_t pairs, int width,
                                          std::uint32_t* out) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    if (4 * kQuarter + j >= pairs) return;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + (4 * kQuarter + j) * width),
                     _mm512_extracti32x4_epi32(column[j], kQuarter));
  }
}

// The strip is strided and its terms are contiguous: four rows by 16 pairs are transposed in
// registers.
template <typename T>
LAB_BF16_TARGET void pack_across_strip(const Bf16PackArgs<T>& p) {
  const std::int64_t pairs = (p.terms + 1) / 2;
  for (std::int64_t q = 0; q < pairs; q += kLanes) {
    const std::int64_t terms = std::min<std::int64_t>(2 * kLanes, p.terms - 2 * q);
    for (int i = 0; i < p.width; i += 4) {
      __m512i row[4], column[4];
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        row[r] = i + r < p.valid ? load_pairs(p.source + (i + r) * p.strip_stride + 2 * q, terms)
                                 : _mm512_setzero_si512();
      }
      transpose_quarters(row, column);
      std::uint32_t* out = p.out + q * p.width + i;
      store_quarter<0>(column, pairs - q, p.width, out);
      store_quarter<1>(column, pairs - q, p.width, out);
      store_quarter<2>(column, pairs - q, p.width, out);
      store_quarter<3>(column, pairs - q, p.width, out);
    }
  }
}

template <typename T>
void pack(const Bf16PackArgs<T>& p) {
  if (p.strip_stride == 1 && p.width <= kLanes) {
    pack_along_strip<1>(p);
  } else if (p.strip_stride == 1) {
    pack_along_strip<kNv>(p);
  } else {
    pack_across_strip(p);
  }
}

LAB_BF16_TARGET void round_row(const float* in, std::uint32_t* out, std::int64_t terms) {
  for (; terms > 0; terms -= 2 * kLanes, in += 2 * kLanes, out += kLanes) {
    const auto pairs = static_cast<int>(std::min<std::int64_t>(kLanes, (terms + 1) / 2));
    _mm512_mask_storeu_epi32(out, lanes_below(pairs), load_pairs(in, terms));
  }
}

LAB_BF16_TARGET double peak_loop(std::int64_t iterations, float seed, float* result) {
  constexpr int kChains = 16;  // more than latency times units, which is 12
  __m512 chain[kChains];
#pragma GCC unroll 16
  for (int c = 0; c < kChains; ++c) {  // distinct, so the compiler keeps all; mean 2 * seed
    chain[c] = _mm512_set1_ps(seed * static_cast<float>(2 * c + 1) * (2.0F / kChains));
  }
  // 1 * 1 + 1 * -1, so that the sums do not change.
  const auto ones = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3f803f80));
  const auto signs = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3f80bf80));
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (__m512& c : chain) c = _mm512_dpbf16_ps(c, ones, signs);
  }
  __m512 sum = _mm512_setzero_ps();
#pragma GCC unroll 16
  for (const __m512& c : chain) sum = _mm512_add_ps(sum, c);
  *result = _mm512_reduce_add_ps(sum) / (kChains * kLanes);
  return 4.0 * kChains * kLanes * static_cast<double>(iterations);
}

}  // namespace

const Bf16Kernels* avx512_bf16_kernels() {
  static constexpr Bf16Kernels kKernels{.name = "AVX512-BF16",
                                        .terms_per_word = 2,
                                        .mr = kMr,
                                        .nr = kNr,
                                        .lanes = kLanes,
                                        .by_rows = false,
                                        .block_steps = kBlockSteps,
                                        .tile = &any_tile,
                                        .pack_f32 = &pack<float>,
                                        .pack_bf16 = &pack<std::uint16_t>,
                                        .round_row = &round_row,
                                        .peak_loop = &peak_loop};
  static const bool kSupported = why_no_avx512_bf16().empty();
  return kSupported ? &kKernels : nullptr;
}

}  // namespace lab

#undef LAB_BF16_TARGET
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#else
namespace lab {

const Bf16Kernels* avx512_bf16_kernels() {
  return nullptr;
}

}  // namespace lab
#endif
