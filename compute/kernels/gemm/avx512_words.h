#pragma once
// Helpers for 32-bit words in AVX-512 registers, for kernels that are compiled for it function by
// function. Internal to the gemm module.
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include <algorithm>
#include <cstdint>

// GCC 12 warns about the undefined vectors inside its own intrinsics.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace lab {

// Returns a mask of the first n of 16 lanes.
inline __mmask16 lanes_below(std::int64_t n) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(n, 0, 16)) - 1U);
}

// Quarter g of column[j] holds word 4g+j of four rows.
__attribute__((target("avx512f"))) inline void transpose_quarters(const __m512i (&row)[4],
                                                                  __m512i (&column)[4]) {
  const __m512i low01 = _mm512_unpacklo_epi32(row[0], row[1]);
  const __m512i high01 = _mm512_unpackhi_epi32(row[0], row[1]);
  const __m512i low23 = _mm512_unpacklo_epi32(row[2], row[3]);
  const __m512i high23 = _mm512_unpackhi_epi32(row[2], row[3]);
  column[0] = _mm512_unpacklo_epi64(low01, low23);
  column[1] = _mm512_unpackhi_epi64(low01, low23);
  column[2] = _mm512_unpacklo_epi64(high01, high23);
  column[3] = _mm512_unpackhi_epi64(high01, high23);
}

// Transposes 16 rows of 16 words: word i of row[p] becomes word p of out[i * stride].
__attribute__((target("avx512f"))) inline void transpose_rows(const __m512i (&row)[16], void* out,
                                                              long stride_bytes) {
  __m512i quarters[4][4];  // [g][j]: words 4g' + j of rows 4g to 4g + 3 in quarter g'
#pragma GCC unroll 4
  for (int g = 0; g < 4; ++g) {
    transpose_quarters({row[4 * g], row[4 * g + 1], row[4 * g + 2], row[4 * g + 3]}, quarters[g]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    constexpr int kEven = 0x88, kOdd = 0xdd;  // quarters 0 and 2, or 1 and 3, of both operands
    const __m512i even01 = _mm512_shuffle_i32x4(quarters[0][j], quarters[1][j], kEven);
    const __m512i odd01 = _mm512_shuffle_i32x4(quarters[0][j], quarters[1][j], kOdd);
    const __m512i even23 = _mm512_shuffle_i32x4(quarters[2][j], quarters[3][j], kEven);
    const __m512i odd23 = _mm512_shuffle_i32x4(quarters[2][j], quarters[3][j], kOdd);
    char* const at = static_cast<char*>(out) + j * stride_bytes;
    _mm512_storeu_si512(at, _mm512_shuffle_i32x4(even01, even23, kEven));
    _mm512_storeu_si512(at + 4 * stride_bytes, _mm512_shuffle_i32x4(odd01, odd23, kEven));
    _mm512_storeu_si512(at + 8 * stride_bytes, _mm512_shuffle_i32x4(even01, even23, kOdd));
    _mm512_storeu_si512(at + 12 * stride_bytes, _mm512_shuffle_i32x4(odd01, odd23, kOdd));
  }
}

}  // namespace lab

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
