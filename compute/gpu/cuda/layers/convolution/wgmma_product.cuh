#pragma once
// C = A*B of operands that are gathered from their indices, by wgmma: rows of 128 bytes go from
// global to shared memory asynchronously, in three stages of 64 slots (wgmma.h), which are bf16
// terms.
//
// tf32 has no wgmma for operands whose rows are neighbours in memory, as those of the weight
// gradient are. A tf32 number, of 11 significant bits, is the sum of two of bf16, of 8 bits each,
// exactly: its operands are two arrays, high and low parts, one after the other, and slots 0..31
// hold the high and 32..63 the low parts of 32 terms. The four products of the parts take twice the
// time of tf32's own at the full rate, but L2 is the limit.
//
// An operand of C's rows (A) or columns (B) has
//   kAlongTerms                         whether a row of 128 bytes holds terms, otherwise rows of A
//                                       or columns of B, 64 of them in a box of 64 terms
//   Operand(args..., first)             finds what its thread needs to know of rows from `first` on
//   copy(stage, term, end)              starts copying the terms of a stage from `term` on; those
//                                       from `end` on, and those outside the array, become zeros
//
// Work     per stage, in bf16: 2*128*kN*64 FLOP, 512 tensor core clocks for kN = 128, and 32 KiB
//          from L2: 64 FLOP per byte, 43 for kN = 64. L2 gives an SM about 24 bytes per clock: 390
//          and 260 TFLOP/s on an H200. In tf32: half the FLOP, twice the clocks
// Source   CUTLASS, "Efficient GEMM in CUDA": multistage; PTX ISA, "wgmma.mma_async"
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/kernel/wgmma.h"
#include "compute/gpu/cuda/layers/convolution/operands.cuh"
#include "compute/gpu/cuda/layers/convolution/product.cuh"

namespace lab::cuda {

using Bf16 = std::uint16_t;  // bits
using Words = simt::SharedPtr<std::uint32_t>;

template <Precision kPrecision, int kColumns>
struct WgmmaTile {
  static constexpr int kParts = kPrecision == Precision::TF32 ? 2 : 1;  // of a number
  static constexpr int kM = 128, kN = kColumns, kTerms = 64 / kParts;
  static constexpr int kThreads = 256;
  static constexpr int kStages = 3;
  static constexpr int kBytesOfA = kM * simt::kBoxRowBytes;
  static constexpr int kStageBytes = kBytesOfA + kN * simt::kBoxRowBytes;
  static constexpr int kDynamicBytes = kStages * kStageBytes + simt::kBoxAlignment;
  static constexpr int kBlocksPerSm = kN == 128 ? 2 : 3;
};

// ---- Copies: 8 threads per row of 128 bytes, 32 rows at a time

inline constexpr int kBox = simt::kBoxRows;  // and slots of a stage
inline constexpr int kBoxRowWords = simt::kBoxRowBytes / 4;
inline constexpr int kBoxWords = kBox * kBoxRowWords;
inline constexpr int kRowsAtOnce = 32;

LAB_DEVICE int copied_row() {
  return simt::thread_idx().x / 8;
}
LAB_DEVICE int copied_piece() {
  return simt::thread_idx().x % 8;
}

// An operand's array, with the distance between its high and low parts in elements, 0 if it has one
// part.
struct Parts {
  const Bf16* high;
  std::int64_t to_low;

  // Where a thread finds its piece of the first row of slots, if slots are along a row.
  LAB_DEVICE const Bf16* along() const {
    const int piece = copied_piece();
    return to_low == 0 ? high + piece * 8 : high + piece / 4 * to_low + piece % 4 * 8;
  }
};

// Copies this thread's piece of a row, swizzled as wgmma expects it, or writes zeros.
LAB_DEVICE void copy_piece(Words box, int row, const Bf16* from, bool inside) {
  const int place = (copied_piece() ^ row % 8) * 4;
  simt::copy_async<16>(box + (row * kBoxRowWords + place), from, inside ? 16 : 0);
}

// Rows are grid pixels, terms are taps and channels.
struct WindowRows {
  static constexpr bool kAlongTerms = true;
  static constexpr int kRows = 128 / kRowsAtOnce;
  const Windows& windows;
  const Bf16* source;
  GridPixel pixels[kRows];

  LAB_DEVICE WindowRows(const Windows& w, const Parts& array, int first)
      : windows(w), source(array.along()) {
    LAB_UNROLL
    for (int i = 0; i < kRows; ++i) {
      pixels[i] = grid_pixel(w, first + copied_row() + i * kRowsAtOnce, w.grid_pixels);
    }
  }
  LAB_DEVICE void copy(Words stage, int term, int end) const {
    const Tap tap = tap_of(windows, term, end);
    LAB_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const bool inside = is_inside(windows, pixels[i], tap);
      const Offset at = inside ? pixels[i].offset + tap.offset : 0;
      copy_piece(stage, copied_row() + i * kRowsAtOnce, source + at, inside);
    }
  }
};

// matrix [rows, terms]
template <int kCount>
struct MatrixRows {
  static constexpr bool kAlongTerms = true;
  const Bf16* row;
  std::int64_t next_rows;

  LAB_DEVICE MatrixRows(const Parts& matrix, int terms, int first)
      : row(matrix.along() + std::int64_t{first + copied_row()} * terms),
        next_rows(std::int64_t{kRowsAtOnce} * terms) {}
  LAB_DEVICE void copy(Words stage, int term, int /*end*/) const {
    LAB_UNROLL
    for (int i = 0; i < kCount / kRowsAtOnce; ++i) {
      copy_piece(stage, copied_row() + i * kRowsAtOnce, row + i * next_rows + term, true);
    }
  }
};

// Rows are taps and channels, terms are grid pixels.
template <int kParts>
struct WindowColumns {
  static constexpr bool kAlongTerms = false;
  static constexpr int kBoxes = 2;
  const Windows& windows;
  const Parts source;
  Tap taps[kBoxes];

  LAB_DEVICE WindowColumns(const Windows& w, const Parts& array, int first)
      : windows(w), source{array.high + copied_piece() * 8, array.to_low} {
    LAB_UNROLL
    for (int box = 0; box < kBoxes; ++box) taps[box] = tap_of(w, first + box * kBox, w.taps);
  }
  LAB_DEVICE void copy(Words stage, int term, int end) const {
    LAB_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = copied_row() + half * kRowsAtOnce;
      const GridPixel pixel = grid_pixel(windows, term + (kParts == 2 ? copied_row() : row), end);
      const Bf16* const part = source.high + half * source.to_low;
      LAB_UNROLL
      for (int box = 0; box < kBoxes; ++box) {
        const bool inside = is_inside(windows, pixel, taps[box]);
        const Offset at = inside ? pixel.offset + taps[box].offset : 0;
        copy_piece(stage + box * kBoxWords, row, part + at, inside);
      }
    }
  }
};

// Columns of matrix [terms, columns]; Line::term returns where the row of a term begins.
template <int kParts, int kCount, class Line>
struct MatrixColumns {
  static constexpr bool kAlongTerms = false;
  const Line& line;
  const Parts source;

  LAB_DEVICE MatrixColumns(const Line& of_term, const Parts& matrix, int first)
      : line(of_term), source{matrix.high + first + copied_piece() * 8, matrix.to_low} {}
  LAB_DEVICE void copy(Words stage, int term, int end) const {
    LAB_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = copied_row() + half * kRowsAtOnce;
      const MatrixPlace place = line.term(term + (kParts == 2 ? copied_row() : row), end);
      const Bf16* const part = source.high + half * source.to_low;
      const Offset at = place.inside ? place.offset : 0;
      LAB_UNROLL
      for (int box = 0; box < kCount / kBox; ++box) {
        copy_piece(stage + box * kBoxWords, row, part + at + box * kBox, place.inside);
      }
    }
  }
};

// ---- Products

// The slots of A and B, 16 at a time, that a stage multiplies with each other: product i of
// kProducts, small ones first.
struct SlotPair {
  int a, b;
};
template <int kParts>
inline constexpr int kProducts = kParts == 1 ? 4 : 8;
template <int kParts>
LAB_DEVICE constexpr SlotPair slots_of(int i) {
  if (kParts == 1) return {i, i};
  const int high = i % 2, low = high + 2;
  switch (i / 2) {
    case 0: return {low, low};
    case 1: return {low, high};
    case 2: return {high, low};
    default: return {high, high};
  }
}

// Computes one tile of C by two warpgroups; grid.x: tiles of C, row by row. A and B are made from
// the first row and column of the tile. Calls write(row, col, values) for pairs of columns; n is a
// multiple of the tile's columns.
template <class Tile, class MakeA, class MakeB, class Write>
LAB_DEVICE void wgmma_tile(const ProductPart& part, const MakeA& make_a, const MakeB& make_b,
                           const Write& write) {
  LAB_DYNAMIC_SHARED(std::uint32_t, shared);
  const Words stages = simt::first_box(shared);
  const int tiles_n = part.n / Tile::kN;
  const int row = simt::block_idx().x / tiles_n * Tile::kM;
  const int col = simt::block_idx().x % tiles_n * Tile::kN;
  if (row >= part.m) return;
  const auto a = make_a(row);
  const auto b = make_b(col);
  constexpr bool kATerms = decltype(make_a(0))::kAlongTerms;
  constexpr bool kBTerms = decltype(make_b(0))::kAlongTerms;

  int filled = 0;  // the slot that is filled next
  int term = part.begin;
  const auto fill = [&] {
    if (term < part.end) {
      const Words stage = stages + filled * (Tile::kStageBytes / 4);
      a.copy(stage, term, part.end);
      b.copy(stage + Tile::kBytesOfA / 4, term, part.end);
    }
    simt::copy_commit();
    term += Tile::kTerms;
    filled = filled == Tile::kStages - 1 ? 0 : filled + 1;
  };
  LAB_UNROLL
  for (int s = 0; s < Tile::kStages - 1; ++s) fill();

  const int group = simt::thread_idx().x / simt::kWarpgroupThreads;
  float sums[Tile::kN / 8][4] = {};
  int slot = 0;
  LAB_NO_UNROLL
  for (int now = part.begin; now < part.end; now += Tile::kTerms) {
    simt::copy_wait<Tile::kStages - 2>();
    simt::publish_stores();
    simt::wgmma_finish(sums);
    simt::sync_threads();  // the stage is complete, and the one before it has been read
    const simt::Box stage = simt::box_at(stages) + slot * Tile::kStageBytes;
    simt::wgmma_begin();
    LAB_UNROLL
    for (int i = 0; i < kProducts<Tile::kParts>; ++i) {
      const SlotPair slots = slots_of<Tile::kParts>(i);
      simt::wgmma<kATerms, kBTerms>(sums, stage + group * simt::kBoxBytes, stage + Tile::kBytesOfA,
                                    slots.a, slots.b);
    }
    simt::wgmma_commit();
    fill();
    slot = slot == Tile::kStages - 1 ? 0 : slot + 1;
  }
  simt::wgmma_finish(sums);

  const int first = row + group * simt::kWgmmaRows + simt::warp() % 4 * 16 + simt::lane() / 4;
  LAB_UNROLL
  for (int half = 0; half < 2; ++half) {
    if (first + 8 * half >= part.m) continue;
    LAB_UNROLL
    for (int j = 0; j < Tile::kN / 8; ++j) {
      write(first + 8 * half, col + j * 8 + simt::lane() % 4 * 2, sums[j] + 2 * half);
    }
  }
}

}  // namespace lab::cuda
