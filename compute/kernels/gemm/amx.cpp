// The AMX kernels. Only functions marked LAB_AMX_TARGET use these instructions, so the program also
// runs on processors without them.
#include "compute/kernels/gemm/amx.h"

#include "compute/kernels/gemm/bf16_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "compute/kernels/gemm/avx512_transpose.h"
#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/machine/simd_level.h"

// GCC 12 warns about the undefined vectors inside its own intrinsics.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define LAB_AMX_TARGET __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl")))

namespace lab {
namespace amx {
namespace {

// A tile register holds 16 rows of 16 words. C has 2x2 of them, registers 0 to 3 row by row; A has
// registers 4 and 5, B 6 and 7. Four independent sums hide the latency: a product can start every
// 16 cycles and takes 52 to complete.
constexpr int kRows = 16, kWords = 16;
constexpr int kRowBytes = 64;
constexpr int kMr = 2 * kRows, kNr = 2 * kWords;

struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved = {};
  std::array<std::uint16_t, 16> row_bytes = {};
  std::array<std::uint8_t, 16> rows = {};
};
static_assert(sizeof(TileConfig) == 64);

// Linux grants a process the 8 KiB of tile registers only on request.
bool kernel_grants_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Makes the compiler write the object to memory: GCC's tile intrinsics do not declare that they
// read it.
void publish(const void* object) {
  asm volatile("" : : "r"(object) : "memory");
}

// Shapes for `rows` rows of A and C, 1 to kMr.
TileConfig config_for(int rows) {
  TileConfig config;
  const auto upper = static_cast<std::uint8_t>(std::min(rows, kRows));
  const auto lower = static_cast<std::uint8_t>(std::max(rows - kRows, 0));
  for (const int t : {0, 1, 4}) config.rows[static_cast<std::size_t>(t)] = upper;
  for (const int t : {2, 3, 5}) config.rows[static_cast<std::size_t>(t)] = lower;
  for (const int t : {6, 7}) config.rows[static_cast<std::size_t>(t)] = kRows;
  for (std::size_t t = 0; t < 8; ++t) config.row_bytes[t] = config.rows[t] == 0 ? 0 : kRowBytes;
  return config;
}

// The rows of A: pieces of 16 words in place or copied, and those of the last words, which are zero
// past the end.
struct RowsOfA {
  const std::uint32_t* whole = nullptr;
  std::int64_t stride = 0;
  std::int64_t pieces = 0;
  const std::uint32_t* rest = nullptr;  // null if the pieces are all
  std::int64_t rest_stride = 0;
};

__mmask16 lanes_below(std::int64_t n) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(n, 0, kWords)) - 1U);
}

// Copies `rows` rows of up to 16 words to rows of 16, zero past the last.
LAB_AMX_TARGET void copy_words(const std::uint32_t* from, std::int64_t stride, int rows,
                               std::int64_t words, std::uint32_t* to) {
  for (int i = 0; i < rows; ++i) {
    const __m512i row = _mm512_maskz_loadu_epi32(lanes_below(words), from + i * stride);
    _mm512_storeu_si512(to + i * kWords, row);
  }
}

// Copies A, of which a column is contiguous or strided, to rows of whole pieces.
LAB_AMX_TARGET void copy_columns(const Bf16TileArgs& t, std::uint32_t* to, std::int64_t stride) {
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i places =
      _mm512_mullo_epi32(lanes, _mm512_set1_epi32(static_cast<int>(t.a_row_stride)));
  for (int i = 0; i < t.rows; i += kRows) {
    const __mmask16 valid = lanes_below(t.rows - i);
    const std::uint32_t* const block = t.a + i * t.a_row_stride;
    for (std::int64_t p = 0; p < stride; p += kWords) {
      __m512i row[kWords];
#pragma GCC unroll 16
      for (int q = 0; q < kWords; ++q) {
        const __mmask16 mask = p + q < t.steps ? valid : __mmask16{0};
        const std::uint32_t* const at = block + (p + q) * t.a_k_stride;
        row[q] = t.a_row_stride == 1 ? _mm512_maskz_loadu_epi32(mask, at)
                                     : _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask,
                                                                   places, at, sizeof(*at));
      }
      transpose_rows(row, to + i * stride + p, stride * static_cast<long>(sizeof(*to)));
    }
  }
}

RowsOfA rows_of_a(const Bf16TileArgs& t) {
  const std::int64_t rest = t.steps % kWords;
  std::uint32_t* const scratch =
      gemm_scratch().tile_rows.at_least<std::uint32_t>(kMr * (t.steps - rest + kWords));
  RowsOfA a{.whole = t.a, .stride = t.a_row_stride, .pieces = t.steps / kWords};
  if (t.a_k_stride == 1) {
    if (rest == 0) return a;
    copy_words(t.a + t.steps - rest, t.a_row_stride, t.rows, rest, scratch);
    a.rest = scratch;
    a.rest_stride = kWords;
    return a;
  }
  a.whole = scratch;
  a.stride = t.steps - rest + (rest == 0 ? 0 : kWords);
  copy_columns(t, scratch, a.stride);
  if (rest != 0) {
    a.rest = scratch + a.pieces * kWords;
    a.rest_stride = a.stride;
  }
  return a;
}

// Adds the products of 16 words of A and of B; strides are in bytes.
template <bool kHigh, bool kWide>
LAB_AMX_TARGET inline void add_products(const std::uint32_t* a, long a_stride,
                                        const std::uint32_t* b, long b_stride) {
  _tile_loadd(6, b, b_stride);
  _tile_loadd(4, a, a_stride);
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (kWide) {
    _tile_loadd(7, b + kWords, b_stride);
    _tile_dpbf16ps(1, 4, 7);
  }
  if constexpr (kHigh) {
    _tile_loadd(5, reinterpret_cast<const char*>(a) + kRows * a_stride, a_stride);
    _tile_dpbf16ps(2, 5, 6);
    if constexpr (kWide) _tile_dpbf16ps(3, 5, 7);
  }
}

// C (+)= A * B of one tile, whose C is readable and writable in whole vectors.
template <bool kHigh, bool kWide>
LAB_AMX_TARGET void multiply_tile(const Bf16TileArgs& t, const RowsOfA& a, const std::uint32_t* b,
                                  float* c, std::int64_t ldc) {
  const long c_stride = ldc * static_cast<long>(sizeof(*c));
  const long a_stride = a.stride * static_cast<long>(sizeof(*b));
  const long b_stride = t.b_k_stride * static_cast<long>(sizeof(*b));
  float* const lower = c + kRows * ldc;
  alignas(64) std::array<std::uint32_t, std::size_t{kRows} * kNr> rest_of_b;
  if (a.rest != nullptr) {
    const std::uint32_t* const from = b + a.pieces * kWords * t.b_k_stride;
    for (int p = 0; p < kRows; ++p) {
      const __mmask16 mask = p < t.steps % kWords ? __mmask16{0xffff} : __mmask16{0};
      for (int j = 0; j < (kWide ? kNr : kWords); j += kWords) {
        _mm512_store_si512(rest_of_b.data() + p * kNr + j,
                           _mm512_maskz_loadu_epi32(mask, from + p * t.b_k_stride + j));
      }
    }
  }
  publish(rest_of_b.data());
  publish(c);
  if (t.accumulate) {
    _tile_loadd(0, c, c_stride);
    if constexpr (kWide) _tile_loadd(1, c + kWords, c_stride);
    if constexpr (kHigh) _tile_loadd(2, lower, c_stride);
    if constexpr (kHigh && kWide) _tile_loadd(3, lower + kWords, c_stride);
  } else {
    _tile_zero(0);
    if constexpr (kWide) _tile_zero(1);
    if constexpr (kHigh) _tile_zero(2);
    if constexpr (kHigh && kWide) _tile_zero(3);
  }
  const std::uint32_t* of_b = b;
  const std::uint32_t* of_a = a.whole;
  for (std::int64_t p = 0; p < a.pieces; ++p) {
    add_products<kHigh, kWide>(of_a, a_stride, of_b, b_stride);
    of_a += kWords;
    of_b += kWords * t.b_k_stride;
  }
  if (a.rest != nullptr) {
    add_products<kHigh, kWide>(a.rest, a.rest_stride * static_cast<long>(sizeof(*b)),
                               rest_of_b.data(), kNr * static_cast<long>(sizeof(*b)));
  }
  _tile_stored(0, c, c_stride);
  if constexpr (kWide) _tile_stored(1, c + kWords, c_stride);
  if constexpr (kHigh) _tile_stored(2, lower, c_stride);
  if constexpr (kHigh && kWide) _tile_stored(3, lower + kWords, c_stride);
  publish(c);
}

void multiply_whole(const Bf16TileArgs& t, const RowsOfA& a, const std::uint32_t* b, float* c,
                    std::int64_t ldc, int cols) {
  const bool high = t.rows > kRows, wide = cols > kWords;
  if (high && wide) return multiply_tile<true, true>(t, a, b, c, ldc);
  if (high) return multiply_tile<true, false>(t, a, b, c, ldc);
  if (wide) return multiply_tile<false, true>(t, a, b, c, ldc);
  return multiply_tile<false, false>(t, a, b, c, ldc);
}

// A tile whose columns end within a vector.
LAB_AMX_TARGET void multiply_part(const Bf16TileArgs& t, const RowsOfA& a, const std::uint32_t* b,
                                  float* c, int cols) {
  alignas(64) std::array<float, std::size_t{kMr} * kNr> whole;
  const auto copy = [&](bool to_c) LAB_AMX_TARGET {
    for (int i = 0; i < t.rows; ++i) {
      for (int j = 0; j < cols; j += kWords) {
        const __mmask16 mask = lanes_below(cols - j);
        float* const in_c = c + i * t.ldc + j;
        float* const in_whole = whole.data() + i * kNr + j;
        if (to_c) {
          _mm512_mask_storeu_ps(in_c, mask, _mm512_load_ps(in_whole));
        } else {
          _mm512_store_ps(in_whole, _mm512_maskz_loadu_ps(mask, in_c));
        }
      }
    }
  };
  if (t.accumulate) copy(false);
  multiply_whole(t, a, b, whole.data(), kNr, cols);
  copy(true);
}

LAB_AMX_TARGET void tile_row(const Bf16TileArgs& t) {
  const RowsOfA a = rows_of_a(t);
  const TileConfig config = config_for(t.rows);
  publish(&config);
  publish(a.whole);
  publish(a.rest);
  _tile_loadconfig(&config);
  for (std::int64_t i = 0; i < t.tiles; ++i) {
    const int cols = i + 1 < t.tiles ? kNr : t.cols;
    const std::uint32_t* const b = t.b + i * t.b_tile_stride;
    float* const c = t.c + i * kNr;
    if (cols % kWords == 0) {
      multiply_whole(t, a, b, c, t.ldc, cols);
    } else {
      multiply_part(t, a, b, c, cols);
    }
  }
  _tile_release();
}

// Independent products in registers. Both terms of a pair of A are equal and those of B opposite,
// so that each product adds zero.
LAB_AMX_TARGET double peak_loop(std::int64_t iterations, float seed, float* result) {
  const TileConfig config = config_for(kMr);
  alignas(64) std::array<std::uint16_t, std::size_t{2} * kRows * kWords> a{}, b{};
  alignas(64) std::array<float, std::size_t{4} * kRows * kWords> sums{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::uint16_t>(0x3F00 + i / 2 % 128);  // 0.5 to 1
    b[i] = i % 2 == 0 ? 0x3F80 : 0xBF80;                      // 1, -1
  }
  sums.fill(2 * seed);
  publish(&config);
  publish(sums.data());
  publish(a.data());
  publish(b.data());
  _tile_loadconfig(&config);
  _tile_loadd(0, sums.data(), kRowBytes);
  _tile_loadd(1, sums.data(), kRowBytes);
  _tile_loadd(2, sums.data(), kRowBytes);
  _tile_loadd(3, sums.data(), kRowBytes);
  _tile_loadd(4, a.data(), kRowBytes);
  _tile_loadd(5, a.data(), kRowBytes);
  _tile_loadd(6, b.data(), kRowBytes);
  _tile_loadd(7, b.data(), kRowBytes);
  for (std::int64_t i = 0; i < iterations; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  constexpr std::size_t kTile = std::size_t{kRows} * kWords;
  _tile_stored(0, sums.data(), kRowBytes);
  _tile_stored(1, sums.data() + kTile, kRowBytes);
  _tile_stored(2, sums.data() + 2 * kTile, kRowBytes);
  _tile_stored(3, sums.data() + 3 * kTile, kRowBytes);
  _tile_release();
  publish(sums.data());
  *result = std::accumulate(sums.begin(), sums.end(), 0.0F) / static_cast<float>(sums.size());
  constexpr double kFlop = 2.0 * kRows * kWords * 2 * kWords;
  return 4 * kFlop * static_cast<double>(iterations);
}

}  // namespace
}  // namespace amx

const Bf16Kernels* amx_kernels() {
  static const Bf16Kernels* const kKernels = []() -> const Bf16Kernels* {
    const Bf16Kernels* const vectors = avx512_bf16_kernels();  // which pack and round
    if (vectors == nullptr || !has_amx_bf16() || !amx::kernel_grants_tiles()) return nullptr;
    static Bf16Kernels kernels = *vectors;
    kernels.name = "AMX";
    kernels.mr = amx::kMr;
    kernels.nr = amx::kNr;
    kernels.by_rows = true;
    kernels.block_steps = 240;
    kernels.tile = &amx::tile_row;
    kernels.peak_loop = &amx::peak_loop;
    return &kernels;
  }();
  return kKernels;
}

}  // namespace lab

#undef LAB_AMX_TARGET
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#else
namespace lab {

const Bf16Kernels* amx_kernels() {
  return nullptr;
}

}  // namespace lab
#endif

namespace lab {

bool uses_amx() {
  return &bf16_kernels() == amx_kernels();
}

}  // namespace lab
