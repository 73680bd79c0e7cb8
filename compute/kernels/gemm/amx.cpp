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

#include "compute/kernels/gemm/avx512_words.h"
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

// The most words of a row that are copied at a time, so that they stay in L1.
constexpr std::int64_t kBlockSteps = 240;

// Rows of A: pieces of 16 words in place, and a copy of the last words that is zero past the end.
struct RowsOfA {
  const std::uint32_t* whole = nullptr;
  std::int64_t stride = 0;
  const std::uint32_t* rest = nullptr;  // rows of 16 words; null if the pieces are all
};

// Copies up to 16 words of each row.
LAB_AMX_TARGET void copy_rest(const std::uint32_t* from, std::int64_t stride, int rows,
                              std::int64_t words, std::uint32_t* to) {
  for (int i = 0; i < rows; ++i) {
    const __m512i row = _mm512_maskz_loadu_epi32(lanes_below(words), from + i * stride);
    _mm512_store_si512(to + i * kWords, row);
  }
}

// Copies A, whose columns are contiguous, to rows of `stride` words, whole pieces.
LAB_AMX_TARGET void copy_columns(const Bf16TileArgs& t, std::uint32_t* to, std::int64_t stride) {
  for (int i = 0; i < t.rows; i += kRows) {
    const __mmask16 rows = lanes_below(t.rows - i);
    for (std::int64_t p = 0; p < stride; p += kWords) {
      __m512i column[kWords];
#pragma GCC unroll 16
      for (int q = 0; q < kWords; ++q) {
        const __mmask16 mask = p + q < t.steps ? rows : __mmask16{0};
        column[q] = _mm512_maskz_loadu_epi32(mask, t.a + i + (p + q) * t.a_k_stride);
      }
      transpose_rows(column, to + i * stride + p, stride * static_cast<long>(sizeof(*to)));
    }
  }
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
  alignas(64) std::array<std::uint32_t, std::size_t{kRows} * kNr> rest_of_b;
  if (a.rest != nullptr) {
    const std::uint32_t* const from = b + t.steps / kWords * kWords * t.b_k_stride;
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
    if constexpr (kHigh) _tile_loadd(2, c + kRows * ldc, c_stride);
    if constexpr (kHigh && kWide) _tile_loadd(3, c + kRows * ldc + kWords, c_stride);
  } else {
    _tile_zero(0);
    if constexpr (kWide) _tile_zero(1);
    if constexpr (kHigh) _tile_zero(2);
    if constexpr (kHigh && kWide) _tile_zero(3);
  }
  const std::uint32_t* of_b = b;
  const std::uint32_t* of_a = a.whole;
  for (std::int64_t p = 0; p < t.steps / kWords; ++p) {
    add_products<kHigh, kWide>(of_a, a_stride, of_b, b_stride);
    of_a += kWords;
    of_b += kWords * t.b_k_stride;
  }
  if (a.rest != nullptr) {
    add_products<kHigh, kWide>(a.rest, kRowBytes, rest_of_b.data(),
                               kNr * static_cast<long>(sizeof(*b)));
  }
  _tile_stored(0, c, c_stride);
  if constexpr (kWide) _tile_stored(1, c + kWords, c_stride);
  if constexpr (kHigh) _tile_stored(2, c + kRows * ldc, c_stride);
  if constexpr (kHigh && kWide) _tile_stored(3, c + kRows * ldc + kWords, c_stride);
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

// `a`, `stride`: the rows of A.
LAB_AMX_TARGET void multiply_row(const Bf16TileArgs& t, const std::uint32_t* a,
                                 std::int64_t stride) {
  alignas(64) std::array<std::uint32_t, std::size_t{kMr} * kWords> last;
  RowsOfA rows{.whole = a, .stride = stride};
  if (const std::int64_t rest = t.steps % kWords; rest != 0) {
    copy_rest(a + t.steps - rest, stride, t.rows, rest, last.data());
    rows.rest = last.data();
  }
  const TileConfig config = config_for(t.rows);
  publish(&config);
  publish(a);
  publish(last.data());
  _tile_loadconfig(&config);
  for (std::int64_t i = 0; i < t.tiles; ++i) {
    const int cols = i + 1 < t.tiles ? kNr : t.cols;
    const std::uint32_t* const b = t.b + i * t.b_tile_stride;
    float* const c = t.c + i * kNr;
    if (cols % kWords == 0) {
      multiply_whole(t, rows, b, c, t.ldc, cols);
    } else {
      multiply_part(t, rows, b, c, cols);
    }
  }
  _tile_release();
}

// Tiles whose A is stored by columns: a block of its steps becomes rows at a time.
void multiply_columns(Bf16TileArgs t) {
  alignas(64) std::array<std::uint32_t, kMr * kBlockSteps> rows;
  std::int64_t left = t.steps;
  do {
    t.steps = std::min(left, kBlockSteps);
    const std::int64_t stride = (t.steps + kWords - 1) / kWords * kWords;
    copy_columns(t, rows.data(), stride);
    multiply_row(t, rows.data(), stride);
    t.accumulate = true;
    t.a += t.steps * t.a_k_stride;
    t.b += t.steps * t.b_k_stride;
    left -= t.steps;
  } while (left > 0);
}

void tile_row(const Bf16TileArgs& t) {
  if (t.a_k_stride == 1) {
    multiply_row(t, t.a, t.a_row_stride);
  } else {
    multiply_columns(t);
  }
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
    kernels.block_steps = amx::kBlockSteps;
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
