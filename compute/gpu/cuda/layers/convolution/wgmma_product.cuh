#pragma once
// C = A*B of operands that are gathered from their indices, by wgmma: rows of 128 bytes go from
// global to shared memory asynchronously, in three stages of 64 slots (wgmma.h), which are terms.
//
// An operand of C's rows (A) or columns (B) has
//   kAlongTerms                         whether a row of 128 bytes holds terms, otherwise rows of A
//                                       or columns of B, 64 of them in a box of 64 terms
//   Operand(args..., first)             finds what its thread needs to know of rows from `first` on
//   copy(stage, term, end)              starts copying the terms of a stage from `term` on; those
//                                       from `end` on, and those outside the array, become zeros
//
// Work     per stage: 2*128*kN*64 FLOP, 512 tensor core clocks for kN = 128, and 32 KiB from L2.
//          An H200 takes 1,150 clocks, with L2 less than half busy (tests/gpu/RESULTS.md)
// Source   CUTLASS, "Efficient GEMM in CUDA": multistage; PTX ISA, "wgmma.mma_async"
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/kernel/wgmma.h"
#include "compute/gpu/cuda/layers/convolution/operands.cuh"
#include "compute/gpu/cuda/layers/convolution/product.cuh"
#include "compute/gpu/cuda/layers/convolution/rounding.cuh"

namespace lab::cuda {

using Words = simt::SharedPtr<std::uint32_t>;

template <bool kScale, int kColumns>
struct WgmmaTile {
  static constexpr bool kScaled = kScale;
  static constexpr int kM = 128, kN = kColumns, kTerms = 64;
  static constexpr int kThreads = 256;
  static constexpr int kStages = 3;
  static constexpr int kBytesOfA = kM * simt::kBoxRowBytes;
  static constexpr int kStageBytes = kBytesOfA + kN * simt::kBoxRowBytes;
  static constexpr int kDynamicBytes = kStages * kStageBytes + simt::kBoxAlignment;
  static constexpr int kBlocksPerSm = kN == 128 ? 2 : 3;
};

// ---- Copies: 8 threads per row of 128 bytes, 32 rows at a time with 256 threads

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

// Copies this thread's piece of a row, swizzled as wgmma expects it, or writes zeros.
LAB_DEVICE void copy_piece(Words box, int row, const std::uint16_t* from, bool inside) {
  const int place = (copied_piece() ^ row % 8) * 4;
  simt::copy_async<16>(box + (row * kBoxRowWords + place), from, inside ? 16 : 0);
}

// Rows are grid pixels, terms are taps and channels.
struct WindowRows {
  static constexpr bool kAlongTerms = true;
  static constexpr int kRows = 128 / kRowsAtOnce;
  const Windows& windows;
  const std::uint16_t* source;
  GridPixel pixels[kRows];

  LAB_DEVICE WindowRows(const Windows& w, const std::uint16_t* array, int first)
      : windows(w), source(array + copied_piece() * 8) {
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
  const std::uint16_t* row;
  std::int64_t next_rows;

  LAB_DEVICE MatrixRows(const std::uint16_t* matrix, int terms, int first)
      : row(matrix + copied_piece() * 8 + std::int64_t{first + copied_row()} * terms),
        next_rows(std::int64_t{kRowsAtOnce} * terms) {}
  LAB_DEVICE void copy(Words stage, int term, int /*end*/) const {
    LAB_UNROLL
    for (int i = 0; i < kCount / kRowsAtOnce; ++i) {
      copy_piece(stage, copied_row() + i * kRowsAtOnce, row + i * next_rows + term, true);
    }
  }
};

// Columns are taps and channels, terms are grid pixels.
template <int kCount>
struct WindowColumns {
  static constexpr bool kAlongTerms = false;
  static constexpr int kBoxes = kCount / kBox;
  const Windows& windows;
  const std::uint16_t* source;
  Tap taps[kBoxes];

  LAB_DEVICE WindowColumns(const Windows& w, const std::uint16_t* array, int first)
      : windows(w), source(array + copied_piece() * 8) {
    LAB_UNROLL
    for (int box = 0; box < kBoxes; ++box) taps[box] = tap_of(w, first + box * kBox, w.taps);
  }
  LAB_DEVICE void copy(Words stage, int term, int end) const {
    LAB_UNROLL
    for (int row = copied_row(); row < kBox; row += kRowsAtOnce) {
      const GridPixel pixel = grid_pixel(windows, term + row, end);
      LAB_UNROLL
      for (int box = 0; box < kBoxes; ++box) {
        const bool inside = is_inside(windows, pixel, taps[box]);
        const Offset at = inside ? pixel.offset + taps[box].offset : 0;
        copy_piece(stage + box * kBoxWords, row, source + at, inside);
      }
    }
  }
};

// Columns of matrix [terms, columns]; Line::term returns where the row of a term begins. Columns
// beyond the last, from a multiple of kBox on, are zeros.
template <int kCount, class Line>
struct MatrixColumns {
  static constexpr bool kAlongTerms = false;
  const Line& line;
  const std::uint16_t* source;
  int columns_left;

  LAB_DEVICE MatrixColumns(const Line& of_term, const std::uint16_t* matrix, int first)
      : line(of_term),
        source(matrix + first + copied_piece() * 8),
        columns_left(of_term.rows - first) {}
  LAB_DEVICE void copy(Words stage, int term, int end) const {
    LAB_UNROLL
    for (int row = copied_row(); row < kBox; row += kRowsAtOnce) {
      const MatrixPlace place = line.term(term + row, end);
      const Offset at = place.inside ? place.offset : 0;
      LAB_UNROLL
      for (int box = 0; box < kCount / kBox; ++box) {
        const bool inside = place.inside && box * kBox < columns_left;
        copy_piece(stage + box * kBoxWords, row, source + (inside ? at + box * kBox : 0), inside);
      }
    }
  }
};

// ---- Products

// Calls use(row, col, pair) for each pair of neighbouring columns of this thread, from the first
// row of the block's warpgroups on.
template <int kEighths, class Use>
LAB_DEVICE void for_each_pair(float (&sums)[kEighths][4], const Use& use) {
  const int first = simt::warp() * 16 + simt::lane() / 4;
  LAB_UNROLL
  for (int half = 0; half < 2; ++half) {
    LAB_UNROLL
    for (int j = 0; j < kEighths; ++j) {
      use(first + 8 * half, j * 8 + simt::lane() % 4 * 2, sums[j] + 2 * half);
    }
  }
}

// Exchanges the words of four neighbouring lanes: word i of lane q becomes word q of lane i.
LAB_DEVICE void transpose_in_quad(std::uint32_t (&words)[4]) {
  LAB_UNROLL
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool upper = (simt::lane() & bit) != 0;
    LAB_UNROLL
    for (int i = 0; i < 4; ++i) {
      if ((i & bit) != 0) continue;
      const std::uint32_t sent = upper ? words[i] : words[i + bit];
      const std::uint32_t received = simt::shuffle_xor(sent, bit);
      (upper ? words[i] : words[i + bit]) = received;
    }
  }
}

// Leaves the sums of wgmma to a bf16 array, 8 neighbouring columns per lane and access, for which
// the lanes of a quad exchange their pairs. row_of(r): the row of C, or -1.
template <int kEighths, class Output, class RowOf>
LAB_DEVICE void leave_bf16(float (&sums)[kEighths][4], const Output& output, int col,
                           const RowOf& row_of) {
  static_assert(kEighths % 4 == 0);
  const int first = simt::warp() * 16 + simt::lane() / 4;
  const int mine = col + simt::lane() % 4 * 8;
  if (output.adds_to_bf16()) {
    simt::Uint4 before[2][kEighths / 4];
    LAB_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = row_of(first + 8 * half);
      LAB_UNROLL
      for (int j = 0; j < kEighths / 4; ++j) {
        before[half][j] = {0, 0, 0, 0};
        if (row >= 0)
          before[half][j] = simt::load<simt::Uint4>(output.bf16_row(row) + mine + j * 32);
      }
    }
    LAB_UNROLL
    for (int half = 0; half < 2; ++half) {
      LAB_UNROLL
      for (int j = 0; j < kEighths / 4; ++j) {
        const simt::Uint4 four = before[half][j];
        std::uint32_t words[4] = {four.x, four.y, four.z, four.w};
        transpose_in_quad(words);
        LAB_UNROLL
        for (int i = 0; i < 4; ++i) {
          sums[4 * j + i][2 * half] += simt::float_of(words[i] << 16);
          sums[4 * j + i][2 * half + 1] += simt::float_of(words[i] & 0xffff0000U);
        }
      }
    }
  }
  LAB_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = row_of(first + 8 * half);
    LAB_UNROLL
    for (int j = 0; j < kEighths / 4; ++j) {
      std::uint32_t words[4];
      LAB_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float* const pair = sums[4 * j + i] + 2 * half;
        words[i] = simt::pack_bf16(pair[0], pair[1]);
      }
      transpose_in_quad(words);
      if (row < 0) continue;
      simt::store(output.bf16_row(row) + mine + j * 32,
                  simt::Uint4{words[0], words[1], words[2], words[3]});
    }
  }
}

// Leaves the sums of a block's warpgroups to `output` (passes.cuh), in columns from `col` on;
// row_of as above. kScaled: of FP16, for which no array is bf16.
template <bool kScaled, int kEighths, class Output, class RowOf>
LAB_DEVICE void leave_sums(float (&sums)[kEighths][4], const Output& output, int col,
                           const RowOf& row_of) {
  for_each_pair(sums, [&](int r, int c, float* pair) {
    const int row = row_of(r);
    if (row >= 0) output.add(row, col + c, pair);
  });
  if constexpr (!kScaled && requires { output.bf16_row(0); }) {
    if (output.is_bf16()) return leave_bf16(sums, output, col, row_of);
  }
  for_each_pair(sums, [&](int r, int c, const float* pair) {
    const int row = row_of(r);
    if (row >= 0) output.write(row, col + c, pair);
  });
}

// Computes one tile of C by two warpgroups; grid.x: tiles of C, row by row. A and B are made from
// their elements and the first row and column of the tile; n is a multiple of the tile's columns.
// From one stage to the next, terms advance by `advance` and from the end on continue after those
// of the first stage.
template <class Tile, class MakeA, class MakeB, class Output>
LAB_DEVICE void wgmma_tile(const ProductPart& part, const Rounded& rounded_a,
                           const Rounded& rounded_b, const MakeA& make_a, const MakeB& make_b,
                           const Output& output, int advance = Tile::kTerms) {
  LAB_DYNAMIC_SHARED(std::uint32_t, shared);
  const Words stages = simt::first_box(shared);
  const int tiles_n = part.n / Tile::kN;
  const int row = simt::block_idx().x / tiles_n * Tile::kM;
  const int col = simt::block_idx().x % tiles_n * Tile::kN;
  if (row >= part.m) return;
  const auto a = make_a(rounded_a.elements, row);
  const auto b = make_b(rounded_b.elements, col);
  constexpr bool kATerms = decltype(make_a(nullptr, 0))::kAlongTerms;
  constexpr bool kBTerms = decltype(make_b(nullptr, 0))::kAlongTerms;

  const int steps = (part.end - part.begin + Tile::kTerms - 1) / Tile::kTerms;
  int term = part.begin;
  const auto fill = [&](int slot, bool has_terms) {
    if (has_terms) {
      const Words stage = stages + slot * (Tile::kStageBytes / 4);
      a.copy(stage, term, part.end);
      b.copy(stage + Tile::kBytesOfA / 4, term, part.end);
    }
    simt::copy_commit();
    term += advance;
    if (term >= part.end) term += Tile::kTerms - part.end;
  };
  LAB_UNROLL
  for (int s = 0; s < Tile::kStages - 1; ++s) fill(s, s < steps);

  const int group = simt::thread_idx().x / simt::kWarpgroupThreads;
  float sums[Tile::kN / 8][4] = {};
  int slot = 0;
  LAB_NO_UNROLL
  for (int step = 0; step < steps; ++step) {
    simt::copy_wait<Tile::kStages - 2>();
    simt::publish_stores();
    simt::wgmma_finish(sums);
    simt::sync_threads();  // the stage is complete, and the one before it has been read
    const simt::Box stage = simt::box_at(stages) + slot * Tile::kStageBytes;
    simt::wgmma_begin();
    LAB_UNROLL
    for (int k = 0; k < Tile::kTerms / simt::kWgmmaSlots; ++k) {
      simt::wgmma<element_of(Tile::kScaled), kATerms, kBTerms>(
          sums, stage + group * simt::kBoxBytes, stage + Tile::kBytesOfA, k);
    }
    simt::wgmma_commit();
    fill(slot == 0 ? Tile::kStages - 1 : slot - 1, step + Tile::kStages - 1 < steps);
    slot = slot == Tile::kStages - 1 ? 0 : slot + 1;
  }
  simt::wgmma_finish(sums);
  if constexpr (Tile::kScaled) unscale(sums, rounded_a, rounded_b);

  leave_sums<Tile::kScaled>(sums, output, col,
                            [&](int r) { return row + r < part.m ? row + r : -1; });
}

// ---- Weight gradients in the order of the weights

// Rows are output channels, columns taps; to the partial sums of the split grid.z.
struct OrderedGradientOutput {
  const WeightGradientArgs& args;

  LAB_DEVICE void add(int /*row*/, int /*col*/, float* /*sums*/) const {}
  LAB_DEVICE void write(int row, int col, const float* sums) const {
    const std::int64_t line = std::int64_t{simt::block_idx().z} * args.out_c + row;
    const auto to = simt::global(args.partials) + line * args.x.taps;
    write_run<true, 2>(to, col, args.x.taps, sums);
  }
};

// sums [count] = the sums of the partials [splits, count], in FP64: four neighbouring ones per
// thread, whose splits kParts threads share.
template <int kParts>
struct PartialsSumKernel {
  struct Args {
    const float* partials;
    float* sums;
    std::int64_t fours;
    int splits;
  };
  static constexpr const char* kName = "sum of partial sums";
  static constexpr int kThreads = 256;
  static constexpr int kAcross = kThreads / kParts;

  static LAB_DEVICE void run(const Args& args) {
    LAB_SHARED(double, shared, 4 * kThreads);
    const int t = simt::thread_idx().x;
    const std::int64_t four = std::int64_t{kAcross} * simt::block_idx().x + t % kAcross;
    double sums[4] = {};
    if (four < args.fours) {
      const auto from = simt::global(args.partials) + 4 * four;
      LAB_UNROLL_BY(8)
      for (int split = t / kAcross; split < args.splits; split += kParts) {
        float values[4];
        read_columns(values, from + split * (4 * args.fours));
        LAB_UNROLL
        for (int e = 0; e < 4; ++e) sums[e] += static_cast<double>(values[e]);
      }
    }
    if constexpr (kParts > 1) {
      LAB_UNROLL
      for (int e = 0; e < 4; ++e) shared[e * kThreads + t] = sums[e];
      simt::sync_threads();
      if (t >= kAcross) return;
      LAB_UNROLL
      for (int e = 0; e < 4; ++e) {
        LAB_UNROLL
        for (int part = 1; part < kParts; ++part) {
          const double more = shared[e * kThreads + part * kAcross + t];
          sums[e] += more;
        }
      }
    }
    if (four >= args.fours) return;
    simt::store(simt::global(args.sums) + 4 * four,
                simt::Float4{static_cast<float>(sums[0]), static_cast<float>(sums[1]),
                             static_cast<float>(sums[2]), static_cast<float>(sums[3])});
  }
};

// `count` is a multiple of 4, and both arrays are aligned to 16 bytes.
template <class Launcher>
void add_partials(Launcher& launcher, const float* partials, float* sums, int splits,
                  std::int64_t count, GpuStream& stream) {
  constexpr std::int64_t kFewSums = 1 << 18;  // too few threads for a GPU, one per four sums
  const auto launch = [&]<int kParts>() {
    using Kernel = PartialsSumKernel<kParts>;
    const std::int64_t fours = count / 4;
    launcher.template launch<Kernel>({.x = tiles_of(fours, Kernel::kAcross)},
                                     {partials, sums, fours, splits}, stream);
  };
  count < kFewSums ? launch.template operator()<8>() : launch.template operator()<1>();
}

}  // namespace lab::cuda
