#pragma once
// Small kernels that cover the whole vocabulary: run by the tests, compiled by nvcc.
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::simt_examples {

// out[c, r] = in[r, c]; block [kTile, kTile].
struct TransposeArgs {
  const float* in = nullptr;  // [rows, cols]
  float* out = nullptr;       // [cols, rows]
  int rows = 0, cols = 0;
};

template <int kTile>
LAB_DEVICE void transpose_body(TransposeArgs args) {
  LAB_SHARED(float, tile, kTile*(kTile + 1));
  const auto in = simt::global(args.in);
  const auto out = simt::global(args.out);
  const auto [tx, ty, tz] = simt::thread_idx();
  const int x = simt::block_idx().x * kTile;
  const int y = simt::block_idx().y * kTile;
  if (y + ty < args.rows && x + tx < args.cols)
    tile[ty * (kTile + 1) + tx] = in[(y + ty) * args.cols + x + tx];
  simt::sync_threads();
  if (x + ty < args.cols && y + tx < args.rows)
    out[(x + ty) * args.rows + y + tx] = tile[tx * (kTile + 1) + ty];
}

// sum += in[0] + ... + in[n-1], max = the largest element; any grid of blocks [kThreads].
struct ReduceArgs {
  const int* in = nullptr;
  int n = 0;
  int* sum = nullptr;
  int* max = nullptr;
};

template <int kThreads>
LAB_DEVICE void reduce_body(ReduceArgs args) {
  static_assert(kThreads % 32 == 0);
  constexpr int kWarps = kThreads / 32;
  LAB_SHARED(int, sums, kWarps);
  const auto in = simt::global(args.in);
  int sum = 0;
  int max = -2147483647 - 1;
  const int step = kThreads * simt::grid_dim().x;
  for (int i = simt::block_idx().x * kThreads + simt::thread_idx().x; i < args.n; i += step) {
    const int x = simt::load_readonly<int>(in + i);
    sum += x;
    max = x > max ? x : max;
  }
  sum = simt::warp_sum(sum);
  max = simt::warp_max(max);
  if (simt::lane() == 0) {
    sums[simt::warp()] = sum;
    simt::atomic_max(simt::global(args.max), max);
  }
  simt::sync_threads();
  if (simt::warp() > 0) return;
  const int total = simt::warp_sum(simt::lane() < kWarps ? int(sums[simt::lane()]) : 0);
  if (simt::lane() == 0) simt::atomic_add(simt::global(args.sum), total);
}

// out[i] = in[0] + ... + in[i]; one block of n threads, n a multiple of 32.
struct ScanArgs {
  const float* in = nullptr;
  float* out = nullptr;
};

LAB_DEVICE void scan_body(ScanArgs args) {
  LAB_SHARED(float, ends, 32);
  const int i = simt::thread_idx().x;
  const auto in = simt::global(args.in);
  float sum = in[i];
  LAB_UNROLL
  for (int distance = 1; distance < 32; distance *= 2) {
    const float before = simt::shuffle_up(sum, distance);
    if (simt::lane() >= distance) sum += before;
  }
  if (simt::lane() == 31) ends[simt::warp()] = sum;
  simt::sync_threads();
  for (int w = 0; w < simt::warp(); ++w) sum += ends[w];
  simt::global(args.out)[i] = sum;
}

// counts[v] += occurrences of v in `values`; any grid and block.
struct HistogramArgs {
  const std::uint8_t* values = nullptr;
  int n = 0;
  std::uint32_t* counts = nullptr;  // [kBins]
  static constexpr int kBins = 16;
};

LAB_DEVICE void histogram_body(HistogramArgs args) {
  LAB_SHARED(std::uint32_t, bins, HistogramArgs::kBins);
  const int threads = simt::block_dim().x;
  for (int b = simt::thread_idx().x; b < HistogramArgs::kBins; b += threads) bins[b] = 0;
  simt::sync_threads();
  const auto values = simt::global(args.values);
  const int step = threads * simt::grid_dim().x;
  for (int i = simt::block_idx().x * threads + simt::thread_idx().x; i < args.n; i += step)
    simt::atomic_add(bins + values[i], 1U);
  simt::sync_threads();
  for (int b = simt::thread_idx().x; b < HistogramArgs::kBins; b += threads)
    simt::atomic_add(simt::global(args.counts) + b, std::uint32_t(bins[b]));
}

// C = A * B for one m16n8k16 tile; A and B are in global memory as bf16 bits: copy_async to shared
// memory, ldmatrix, mma. One warp.
struct TensorTileArgs {
  const std::uint16_t* a = nullptr;  // [16, 16]
  const std::uint16_t* b = nullptr;  // [16, 8]
  float* c = nullptr;                // [16, 8]
};

LAB_DEVICE void tensor_tile_body(TensorTileArgs args) {
  LAB_SHARED(std::uint16_t, a_tile, 16 * 16);
  LAB_SHARED(std::uint16_t, b_tile, 16 * 8);
  const int lane = simt::lane();
  simt::copy_async<16>(a_tile + lane * 8, simt::global(args.a) + lane * 8);
  simt::copy_async<8>(b_tile + lane * 4, simt::global(args.b) + lane * 4);
  simt::copy_commit();
  simt::copy_wait<0>();
  simt::sync_warp();
  std::uint32_t a[4];
  std::uint32_t b[2];
  float c[4] = {};
  simt::ldmatrix(a, a_tile + lane % 16 * 16 + lane / 16 * 8);
  simt::ldmatrix_transposed(b, b_tile + lane % 16 * 8);
  simt::mma_m16n8k16_bf16(c, a, b);
  LAB_UNROLL
  for (int i = 0; i < 4; ++i) {
    const simt::FragmentIndex at = simt::fragment_c(lane, i);
    simt::global(args.c)[at.row * 8 + at.col] = c[i];
  }
}

}  // namespace lab::simt_examples
