#pragma once
// Which tile of C a block computes.
#include "compute/cuda/kernel/simt.h"
#include "compute/cuda/matmul/tiling.h"

namespace lab::cuda_matmul {

struct TileOrigin {
  int row, col;
};

// Tiles are numbered down bands of `kBand`: blocks that run at the same time then share rows of A
// and columns of B in the second cache, whatever the width of C. Bands of one tile are plain
// row-major order.
template <Tiling kTile, int kBand>
LAB_DEVICE TileOrigin tile_at(int index, int m, int n) {
  const int tiles_m = (m + kTile.m - 1) / kTile.m;
  const int tiles_n = (n + kTile.n - 1) / kTile.n;
  const int band = index / (kBand * tiles_n);
  const int in_band = index - band * kBand * tiles_n;
  const int below = tiles_m - band * kBand;
  const int rows = below < kBand ? below : kBand;
  return {(band * kBand + in_band % rows) * kTile.m, in_band / rows * kTile.n};
}

// Of this block.
template <Tiling kTile, int kBand = 1>
LAB_DEVICE TileOrigin tile_origin(int m, int n) {
  return tile_at<kTile, kBand>(simt::block_idx().x, m, n);
}

}  // namespace lab::cuda_matmul
