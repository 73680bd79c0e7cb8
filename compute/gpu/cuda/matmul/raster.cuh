#pragma once
// Which tile of C a block computes.
#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/matmul/tiling.h"

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

// For blocks that stay: calls work(tile) for the tiles of this one, which has this rank in its
// cluster. A cluster takes kTile.cluster tiles at a time, one below the other. The lower of them
// may lie outside of C: all blocks of a cluster get as many.
template <Tiling kTile, int kBand, class Work>
LAB_DEVICE void for_my_tiles(int m, int n, int rank, const Work& work) {
  constexpr Tiling kWhole = kTile.of_cluster();
  const int count = ((m + kWhole.m - 1) / kWhole.m) * ((n + kWhole.n - 1) / kWhole.n);
  const int step = simt::grid_dim().x / kTile.cluster;
  for (int i = simt::block_idx().x / kTile.cluster; i < count; i += step) {
    TileOrigin tile = tile_at<kWhole, kBand / kTile.cluster>(i, m, n);
    tile.row += rank * kTile.m;
    work(tile);
  }
}

}  // namespace lab::cuda_matmul
