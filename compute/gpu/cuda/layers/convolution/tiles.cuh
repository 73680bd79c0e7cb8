#pragma once
// How a block multiplies a tile: the layout of its operands in shared memory, and the part of the
// product that each thread holds. A tile has kTerms terms, multiplied in kSteps steps.
//
// A layout stores 4 elements at once, which a thread has read from global memory:
//   put_terms(at, row, piece, four)   terms 4 * piece ... of a row
//   put_rows(at, term, piece, four)   rows 4 * piece ... of a term
#include <cstdint>

#include "compute/core/dtype.h"
#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/matmul/rungs/async_stage.cuh"

namespace lab::cuda {

using cuda_matmul::kChunk;

// ---- FP32 by scalar units

// [kTerms, kRows] with rows padded, so that neither storing terms nor reading rows causes bank
// conflicts.
template <int kRows, int kTerms>
struct SimtLayout {
  static constexpr int kPitch = kRows + 4;
  static constexpr int kWords = kTerms * kPitch;

  LAB_DEVICE static void put_terms(simt::SharedPtr<float> at, int row, int piece,
                                   const float (&four)[4]) {
    LAB_UNROLL
    for (int e = 0; e < 4; ++e) at[(piece * 4 + e) * kPitch + row] = four[e];
  }
  LAB_DEVICE static void put_rows(simt::SharedPtr<float> at, int term, int piece,
                                  const float (&four)[4]) {
    simt::store(at + (term * kPitch + piece * 4), simt::Float4{four[0], four[1], four[2], four[3]});
  }
};

// Each thread holds kTiling.thread_m x thread_n elements, in chunks of 4x4.
template <Tiling kTiling>
class SimtTile {
 public:
  using Word = float;
  static constexpr int kM = kTiling.m, kN = kTiling.n, kTerms = kTiling.k;
  static constexpr int kThreads = kTiling.threads();
  static constexpr int kBlocksPerSm = kTiling.blocks_per_sm;
  static constexpr int kSteps = 2;
  static constexpr int kRun = kChunk;  // neighbouring elements of a row of C
  template <bool kAlongTerms, int kRows>
  using Layout = SimtLayout<kRows, kTerms>;

  LAB_DEVICE SimtTile() {
    const auto lane = cuda_matmul::lane_place();
    row_ = simt::warp() / Warp::kAcross * Warp::kM + lane.down * kChunk;
    col_ = simt::warp() % Warp::kAcross * Warp::kN + lane.across * kChunk;
  }

  template <class LayoutA, class LayoutB>
  LAB_DEVICE void multiply(simt::SharedPtr<const float> a_tile, simt::SharedPtr<const float> b_tile,
                           int step) {
    LAB_UNROLL
    for (int i = 0; i < kTerms / kSteps; ++i) {
      const int term = step * (kTerms / kSteps) + i;
      float a[kTiling.thread_m], b[kTiling.thread_n];
      load(a, a_tile + (term * LayoutA::kPitch + row_), cuda_matmul::kLanesDown * kChunk);
      load(b, b_tile + (term * LayoutB::kPitch + col_), cuda_matmul::kLanesAcross * kChunk);
      LAB_UNROLL
      for (int r = 0; r < kTiling.thread_m; ++r) {
        LAB_UNROLL
        for (int c = 0; c < kTiling.thread_n; ++c) {
          sums_[r][c] = simt::fma(a[r], b[c], sums_[r][c]);
        }
      }
    }
  }

  // Calls use(row, col, sums) for each run of kRun elements.
  template <class Use>
  LAB_DEVICE void for_each_run(const Use& use) {
    LAB_UNROLL
    for (int r = 0; r < kTiling.thread_m; ++r) {
      const int row = row_ + r / kChunk * cuda_matmul::kLanesDown * kChunk + r % kChunk;
      LAB_UNROLL
      for (int c = 0; c < kTiling.thread_n; c += kChunk) {
        use(row, col_ + c * cuda_matmul::kLanesAcross, sums_[r] + c);
      }
    }
  }

 private:
  using Warp = cuda_matmul::WarpTile<kTiling>;

  template <int kCount>
  LAB_DEVICE static void load(float (&to)[kCount], simt::SharedPtr<const float> from, int stride) {
    LAB_UNROLL
    for (int i = 0; i < kCount / kChunk; ++i) {
      cuda_matmul::unpack(to + i * kChunk, simt::load<simt::Float4>(from + i * stride));
    }
  }

  int row_, col_;
  float sums_[kTiling.thread_m][kTiling.thread_n] = {};
};

// ---- Tensor cores

// A row's terms of a tile are 64 bytes, four pieces of 16, in either precision.
inline constexpr int kPieceWords = 4;
inline constexpr int kRowWords = 4 * kPieceWords;

// A fragment is 16 rows of the 32 bytes of terms of a step, in four registers. Registers of A's are
// ordered by halves of the terms, then of the rows; those of B's, which are two fragments of
// mma.sync with 8 columns each, by halves of the rows, then of the terms.
enum class Side { A, B };
struct Halves {
  int row, term;
};
template <Side kSide>
LAB_DEVICE constexpr Halves halves_of(int index) {
  return kSide == Side::A ? Halves{index % 2, index / 2} : Halves{index / 2, index % 2};
}

// Row-major, for operands along terms: piece p of a row is stored at p ^ swizzle(row), so that 8
// rows read at the same piece cover all 32 banks, and so do 4 rows written at half of theirs.
LAB_DEVICE constexpr int swizzle(int row) {
  return row / 2 % 2 * 2 + row / 4 % 2;
}

template <Side kSide>
LAB_DEVICE void row_major_fragment(std::uint32_t (&to)[4], simt::SharedPtr<const std::uint32_t> at,
                                   int row, int step) {
  const Halves half = halves_of<kSide>(simt::lane() / 8);
  const int r = row + half.row * 8 + simt::lane() % 8;
  const int piece = 2 * step + half.term;
  simt::ldmatrix(to, at + (r * kRowWords + (piece ^ swizzle(r)) * kPieceWords));
}

template <Precision kPrecision, bool kAlongTerms, int kRows>
struct TensorLayout;

template <int kRows>
struct TensorLayout<Precision::TF32, true, kRows> {
  static constexpr int kWords = kRows * kRowWords;

  LAB_DEVICE static void put_terms(simt::SharedPtr<std::uint32_t> at, int row, int piece,
                                   const float (&four)[4]) {
    simt::store(at + (row * kRowWords + (piece ^ swizzle(row)) * kPieceWords),
                simt::Uint4{simt::to_tf32(four[0]), simt::to_tf32(four[1]), simt::to_tf32(four[2]),
                            simt::to_tf32(four[3])});
  }
  template <Side kSide>
  LAB_DEVICE static void fragment(std::uint32_t (&to)[4], simt::SharedPtr<const std::uint32_t> at,
                                  int row, int step) {
    row_major_fragment<kSide>(to, at, row, step);
  }
};

// [16 terms, kRows]; the padding separates the banks of the terms of a fragment.
template <int kRows>
struct TensorLayout<Precision::TF32, false, kRows> {
  static constexpr int kPitch = kRows + 8;
  static constexpr int kWords = 16 * kPitch;

  LAB_DEVICE static void put_rows(simt::SharedPtr<std::uint32_t> at, int term, int piece,
                                  const float (&four)[4]) {
    simt::store(at + (term * kPitch + piece * 4),
                simt::Uint4{simt::to_tf32(four[0]), simt::to_tf32(four[1]), simt::to_tf32(four[2]),
                            simt::to_tf32(four[3])});
  }
  template <Side kSide>
  LAB_DEVICE static void fragment(std::uint32_t (&to)[4], simt::SharedPtr<const std::uint32_t> at,
                                  int row, int step) {
    const auto from = at + ((step * 8 + simt::lane() % 4) * kPitch + row + simt::lane() / 4);
    LAB_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Halves half = halves_of<kSide>(i);
      to[i] = from[half.term * 4 * kPitch + half.row * 8];
    }
  }
};

template <int kRows>
struct TensorLayout<Precision::BF16, true, kRows> {
  static constexpr int kWords = kRows * kRowWords;

  LAB_DEVICE static void put_terms(simt::SharedPtr<std::uint32_t> at, int row, int piece,
                                   const float (&four)[4]) {
    const int to = (piece / 2 ^ swizzle(row)) * kPieceWords + piece % 2 * 2;
    simt::store(at + (row * kRowWords + to),
                simt::Uint2{simt::pack_bf16(four[0], four[1]), simt::pack_bf16(four[2], four[3])});
  }
  template <Side kSide>
  LAB_DEVICE static void fragment(std::uint32_t (&to)[4], simt::SharedPtr<const std::uint32_t> at,
                                  int row, int step) {
    row_major_fragment<kSide>(to, at, row, step);
  }
};

// [32 terms, kRows] in bf16; the padding separates the banks of 8 neighbouring terms.
template <int kRows>
struct TensorLayout<Precision::BF16, false, kRows> {
  static constexpr int kPitch = (kRows + 8) / 2;  // words
  static constexpr int kWords = 32 * kPitch;

  LAB_DEVICE static void put_rows(simt::SharedPtr<std::uint32_t> at, int term, int piece,
                                  const float (&four)[4]) {
    simt::store(at + (term * kPitch + piece * 2),
                simt::Uint2{simt::pack_bf16(four[0], four[1]), simt::pack_bf16(four[2], four[3])});
  }
  template <Side kSide>
  LAB_DEVICE static void fragment(std::uint32_t (&to)[4], simt::SharedPtr<const std::uint32_t> at,
                                  int row, int step) {
    const Halves half = halves_of<kSide>(simt::lane() / 8);
    const int term = step * 16 + half.term * 8 + simt::lane() % 8;
    const int r = row + half.row * 8;
    simt::ldmatrix_transposed(to, at + (term * kPitch + r / 2));
  }
};

// Each warp holds a part of C in fragments of mma.sync.
template <Precision kPrecision, Tiling kTiling>
class TensorTile {
 public:
  using Word = std::uint32_t;
  static constexpr int kM = kTiling.m, kN = kTiling.n;
  static constexpr int kTerms = kPrecision == Precision::BF16 ? 32 : 16;
  static constexpr int kThreads = kTiling.threads();
  static constexpr int kBlocksPerSm = kTiling.blocks_per_sm;
  static constexpr int kSteps = 2;
  static constexpr int kRun = 2;
  template <bool kAlongTerms, int kRows>
  using Layout = TensorLayout<kPrecision, kAlongTerms, kRows>;

  template <class LayoutA, class LayoutB>
  LAB_DEVICE void multiply(simt::SharedPtr<const std::uint32_t> a_tile,
                           simt::SharedPtr<const std::uint32_t> b_tile, int step) {
    std::uint32_t a[Warp::kDown][4];
    LAB_UNROLL
    for (int i = 0; i < Warp::kDown; ++i) {
      LayoutA::template fragment<Side::A>(a[i], a_tile, Warp::row() + i * cuda_matmul::kMmaM, step);
    }
    LAB_UNROLL
    for (int j = 0; j < Warp::kAcross; j += 2) {
      std::uint32_t two[4];
      LayoutB::template fragment<Side::B>(two, b_tile, Warp::col() + j * cuda_matmul::kMmaN, step);
      const std::uint32_t b[2][2] = {{two[0], two[1]}, {two[2], two[3]}};
      LAB_UNROLL
      for (int i = 0; i < Warp::kDown; ++i) {
        LAB_UNROLL
        for (int e = 0; e < 2; ++e) multiply_add(sums_[i][j + e], a[i], b[e]);
      }
    }
  }

  template <class Use>
  LAB_DEVICE void for_each_run(const Use& use) {
    const int first = Warp::row() + simt::lane() / 4;
    const int col = Warp::col() + simt::lane() % 4 * 2;
    LAB_UNROLL
    for (int i = 0; i < 2 * Warp::kDown; ++i) {
      LAB_UNROLL
      for (int j = 0; j < Warp::kAcross; ++j) {
        use(first + 8 * i, col + j * cuda_matmul::kMmaN, sums_[i / 2][j] + i % 2 * 2);
      }
    }
  }

 private:
  using Warp = cuda_matmul::MmaWarpTile<kTiling>;
  static_assert(Warp::kAcross % 2 == 0);

  LAB_DEVICE static void multiply_add(float (&sums)[4], const std::uint32_t (&a)[4],
                                      const std::uint32_t (&b)[2]) {
    if constexpr (kPrecision == Precision::BF16) {
      simt::mma_m16n8k16_bf16(sums, a, b);
    } else {
      simt::mma_m16n8k8_tf32(sums, a, b);
    }
  }

  float sums_[Warp::kDown][Warp::kAcross][4] = {};
};

}  // namespace lab::cuda
