#pragma once
// Inner parts of matrix products with bf16 operands and FP32 accumulation: a register-blocked
// micro-kernel, the packing that feeds it, and rounding.
//
// Sets of kernels differ in the 32-bit word that a step of the micro-kernel takes from a row of
// A and from a column of B:
//   native  two adjacent terms as bf16, the even one in the low half; an odd last term is paired
//           with zero: AMX, AVX512-BF16
//   FP32    one term, rounded to bf16 and widened again; gemm_kernels() multiply it
//
// Numerics  Rounds to nearest, ties to even; NaN stays NaN, values beyond the largest bf16 become
//           infinity. Products are exact; sums are rounded to FP32. The native kernels treat
//           subnormal numbers as zero in rounding, operands and sums; the others keep them.
// Source    Intel, "BFLOAT16 - Hardware Numerics Definition", 2018
#include <cstdint>

namespace lab {

// A row of tiles: C[rows,cols] = A*B (+ C when accumulate) over `steps` words of each row and
// column.
//   a  word (i, p) at a[i * a_row_stride + p * a_k_stride]; one of the strides is 1
//   b  word (p, j) at b[p * b_k_stride + j]; each row readable up to the next multiple of `lanes`
//      past cols
//   c  element (i, j) at c[i * ldc + j]; only rows x cols are read or written
// Fastest if A is packed (a_row_stride 1, a_k_stride mr; for AMX by rows) or stored by rows
// (a_k_stride 1).
struct Bf16TileArgs {
  std::int64_t steps = 0;
  const std::uint32_t* a = nullptr;
  std::int64_t a_row_stride = 0;
  std::int64_t a_k_stride = 0;
  const std::uint32_t* b = nullptr;
  std::int64_t b_k_stride = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
  int rows = 0;  // 1..mr
  int cols = 0;  // 1..nr, of the last tile; the others have nr
  // Tiles side by side, whose strips of B are `b_tile_stride` words apart.
  std::int64_t tiles = 1;
  std::int64_t b_tile_stride = 0;
  bool accumulate = false;
};

// Packing of a strip of `width` rows of A or columns of B into the order in which the micro-kernel
// reads it:
//   out[p * width + i] = word p of row or column i
// which is zero for i in [valid, width) and for a term past the last. Term q of row or column i is
// source[i * strip_stride + q * k_stride]; one of the strides is 1.
// T is float, rounded while packed, or std::uint16_t, the bits of a bf16 number.
template <typename T>
struct Bf16PackArgs {
  const T* source = nullptr;
  std::int64_t strip_stride = 0;
  std::int64_t k_stride = 0;
  std::int64_t terms = 0;
  int valid = 0;
  int width = 0;                 // mr or nr
  std::uint32_t* out = nullptr;  // words(terms) * width words
};

struct Bf16Kernels {
  const char* name;    // "AMX", "AVX512-BF16" or "FP32"
  int terms_per_word;  // 2 if native, otherwise 1
  int mr;              // rows of a full tile
  int nr;              // columns of a full tile, a multiple of lanes
  int lanes;           // 32-bit words per vector
  // AMX: tile registers load rows of A, and loading their shapes takes as long as a small tile, so
  // that rows of tiles are computed by one call.
  bool by_rows;
  std::int64_t block_steps;  // most steps of a product whose sums stay in the tile
  void (*tile)(const Bf16TileArgs&);
  void (*pack_f32)(const Bf16PackArgs<float>&);
  void (*pack_bf16)(const Bf16PackArgs<std::uint16_t>&);
  // Writes the words of one row: words(terms) of them. `out` may be `in` if a word is one term.
  void (*round_row)(const float* in, std::uint32_t* out, std::int64_t terms);
  // Multiply-adds in registers only, to measure the peak; same contract as fma_loop() in peak.h.
  double (*peak_loop)(std::int64_t iterations, float seed, float* result);

  bool native() const { return terms_per_word == 2; }
  std::int64_t words(std::int64_t terms) const {
    return (terms + terms_per_word - 1) / terms_per_word;
  }
};

// Returns the fastest kernels for this processor and LAB_SIMD: AMX, AVX512-BF16 or, for the reason
// that why_bf16_products_are_f32() gives, FP32.
const Bf16Kernels& bf16_kernels();

// Returns the kernels that multiply as FP32, for the best available instruction set.
const Bf16Kernels& f32_kernels_of_bf16();

// Return null if this processor or this build cannot run them, or if LAB_SIMD excludes them.
const Bf16Kernels* avx512_bf16_kernels();
const Bf16Kernels* amx_kernels();

// Rounds n numbers to bf16; `out` must not overlap `in`.
void to_bf16(const float* in, std::uint16_t* out, std::int64_t n);

}  // namespace lab
