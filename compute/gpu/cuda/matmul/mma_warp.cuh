#pragma once
// What the tensor core rungs share: fragments of A, and which lane holds which rows of C.
#include "compute/gpu/cuda/matmul/async_stage.cuh"
#include "compute/gpu/cuda/matmul/warp_place.cuh"

namespace lab::cuda_matmul {

constexpr int kMmaM = 16;  // rows of C that one instruction computes
constexpr int kMmaN = 8;   // columns

// A warp's tile of C in fragments of mma.sync.
template <Tiling kTile>
struct MmaWarpTile : WarpTile<kTile> {
  static constexpr int kDown = WarpTile<kTile>::kM / kMmaM;
  static constexpr int kAcross = WarpTile<kTile>::kN / kMmaN;
  static_assert(WarpTile<kTile>::kM % kMmaM == 0);
  LAB_DEVICE static int row() {
    return simt::warp() / WarpTile<kTile>::kAcross * WarpTile<kTile>::kM;
  }
  LAB_DEVICE static int col() {
    return simt::warp() % WarpTile<kTile>::kAcross * WarpTile<kTile>::kN;
  }
};

// Calls multiply(i, j) for each fragment of C: there and back again, so that neighbours in time
// share an operand's registers.
template <class Tile, class Multiply>
LAB_DEVICE void for_fragments(const Multiply& multiply) {
  LAB_UNROLL
  for (int i = 0; i < Tile::kDown; ++i) {
    LAB_UNROLL
    for (int jj = 0; jj < Tile::kAcross; ++jj) {
      multiply(i, i % 2 == 0 ? jj : Tile::kAcross - 1 - jj);
    }
  }
}

// The fragment of A for rows `row`..row+15 of its tile and the 32 bytes of terms of step s.
// ldmatrix moves 16-byte pieces of rows, be they 8 numbers of bf16 or 4 of tf32: a lane gets the
// 4 bytes that mma.sync wants of it for either.
template <Tiling kTile, class T>
LAB_DEVICE void load_fragment_a(std::uint32_t (&to)[4], simt::SharedPtr<const T> stage, int row,
                                int s) {
  constexpr int kPiece = kPieceBytes / int(sizeof(T));
  const int r = row + simt::lane() % kMmaM;
  const int piece = 2 * s + simt::lane() / kMmaM;
  simt::ldmatrix(to, stage + (r * kTile.k + (piece ^ swizzle_a(r)) * kPiece));
}

}  // namespace lab::cuda_matmul
