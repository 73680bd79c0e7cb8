#pragma once
// Matrix products of operands of 16 bits per element by wgmma. The last warp of a block has the
// copy engine fill a ring of stages, boxes of wgmma.h; the warpgroups before it multiply them.
// Blocks take turns with tiles of C, so that the first stages of a tile arrive while the one before
// it is written.
//
// Limits  n a multiple of 64; compute capability 9.0 (sm_90a)
// Work    a tile of 128x128 reads 32 KB per 64 terms and multiplies them in 512 clocks at the full
//         rate of the tensor cores; wgmma reads 48 KB of shared memory for them, 384 clocks. A copy
//         takes about 1,500 clocks from its request to its arrival, so 64 bytes per clock need 96
//         KB in flight. What is the same in all lanes is computed from uniform_warp(), by
//         instructions of the warp instead of its lanes
#include <cstdint>

#include "compute/gpu/cuda/kernel/copy_engine.h"
#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/kernel/wgmma.h"
#include "compute/gpu/cuda/layers/convolution/operands.cuh"
#include "compute/gpu/cuda/layers/convolution/product.cuh"
#include "compute/gpu/cuda/layers/convolution/rounding.cuh"

namespace lab::cuda {

inline constexpr int kBox = simt::kBoxRows;  // and slots of a stage
inline constexpr int kWarpgroupWarps = simt::kWarpgroupThreads / 32;

template <bool kScale, int kRows, int kColumns, int kDepth, int kResident = 1>
struct WgmmaTile {
  static constexpr bool kScaled = kScale;
  static constexpr int kM = kRows, kN = kColumns;
  static constexpr int kConsumerWarps = kM / simt::kWgmmaRows * kWarpgroupWarps;
  static constexpr int kThreads = (kConsumerWarps + 1) * 32;
  static constexpr int kStages = kDepth;
  static constexpr int kBytesOfA = kM * simt::kBoxRowBytes;
  static constexpr int kStageBytes = kBytesOfA + kN * simt::kBoxRowBytes;
  static constexpr int kDynamicBytes = kStages * kStageBytes + simt::kBoxAlignment;
  static constexpr int kBlocksPerSm = kResident;
};

// ---- Stages

// Where a thread is in a ring of stages. `full` ends a phase when a stage has arrived, `empty` when
// all its readers are done.
template <int kStages>
struct Ring {
  simt::SharedPtr<simt::Barrier> full_barriers, empty_barriers;
  int slot = 0;
  int parity = 0;

  LAB_DEVICE auto full() const { return full_barriers + slot; }
  LAB_DEVICE auto empty() const { return empty_barriers + slot; }
  LAB_DEVICE auto last_empty() const {
    return empty_barriers + (slot == 0 ? kStages - 1 : slot - 1);
  }
  LAB_DEVICE void advance() {
    if (++slot == kStages) {
      slot = 0;
      parity ^= 1;
    }
  }
};

// Executed by all threads of a block, at its beginning. `readers`: warps that read a stage.
template <int kStages>
LAB_DEVICE void begin_ring(const Ring<kStages>& ring, int readers) {
  if (simt::thread_idx().x == 0) {
    for (int s = 0; s < kStages; ++s) {
      simt::barrier_init(ring.full_barriers + s, 1);
      simt::barrier_init(ring.empty_barriers + s, readers);
    }
    simt::publish_barriers();
  }
  simt::sync_threads();
}

// Executed by a warp that has read a stage.
LAB_DEVICE void release(simt::SharedPtr<simt::Barrier> empty) {
  if (simt::lane() == 0) simt::barrier_arrive(empty);
}

// ---- Boxes of pixels around the pixels of a grid (operands.cuh)

struct WindowBoxes {
  simt::BoxMap map;
  int first_y = 0, first_x = 0;  // of the pixel that the first grid pixel meets first
  int last_y = 0, last_x = 0;    // tap t is the one number last + direction * t from there on
};

// At least one tap.
inline simt::PixelBoxes boxes_of(const Windows& w, const std::uint16_t* elements, int box_rows) {
  const auto grid_size = static_cast<int>(w.grid_size.value);
  const auto grid_width = static_cast<int>(w.grid_width.value);
  const auto channels = static_cast<int>(w.channels.value);
  const auto across = static_cast<int>(w.taps_across.value);
  const int down = w.taps / channels / across;
  const bool turned = w.direction < 0;
  return {.elements = elements,
          .images = w.grid_pixels / grid_size,
          .height = w.height,
          .width = w.width,
          .channels = channels,
          .first_y = w.origin_y - (turned ? down - 1 : 0),
          .first_x = w.origin_x - (turned ? across - 1 : 0),
          .grid_height = grid_size / grid_width,
          .grid_width = grid_width,
          .step = w.step,
          .box_rows = box_rows};
}

template <class Launcher>
WindowBoxes window_boxes(const Launcher& launcher, const Windows& w, const std::uint16_t* elements,
                         int box_rows) {
  if (w.taps == 0) return {};
  const simt::PixelBoxes boxes = boxes_of(w, elements, box_rows);
  return {.map = launcher.map(boxes),
          .first_y = boxes.first_y,
          .first_x = boxes.first_x,
          .last_y = w.origin_y - boxes.first_y,
          .last_x = w.origin_x - boxes.first_x};
}

// The weights of a convolution.
inline simt::WeightBoxes weight_boxes(const GpuConvolution& c, const Rounded& weight,
                                      int box_rows) {
  return {.elements = weight.elements,
          .rows = static_cast<int>(c.out_c),
          .taps = static_cast<int>(c.kernel * c.kernel),
          .channels = static_cast<int>(c.in_c),
          .box_rows = box_rows};
}

// The pixel that a grid pixel meets first.
LAB_DEVICE simt::PixelPlace first_met(const Windows& w, const WindowBoxes& boxes, int index) {
  const auto [image, place] = divide(index, w.grid_size);
  const auto [row, column] = divide(place, w.grid_width);
  return {.x = column * w.step + boxes.first_x, .y = row * w.step + boxes.first_y, .image = image};
}

// Copies the channels from `channel` on of the pixels that tap (down, across) meets.
LAB_DEVICE void copy_window(simt::Box to, const Windows& w, const WindowBoxes& boxes,
                            const simt::PixelPlace& place, int down, int across, int channel,
                            simt::SharedPtr<simt::Barrier> done) {
  simt::copy_pixels(to, boxes.map, channel, place, boxes.last_x + w.direction * across,
                    boxes.last_y + w.direction * down, done);
}

// The steps of a product over taps and channels: all taps of 64 channels, whose weights lie near
// each other, then those of the next 64.
struct TapStep {
  int channel = 0, down = 0, across = 0;

  LAB_DEVICE void advance(const Windows& w, int taps_down) {
    if (++across < static_cast<int>(w.taps_across.value)) return;
    across = 0;
    if (++down < taps_down) return;
    down = 0;
    channel += kBox;
  }
};
LAB_DEVICE int taps_down(const Windows& w) {
  return w.taps / static_cast<int>(w.channels.value * w.taps_across.value);
}

// ---- Products

// A thread has sums of two rows, the second one kRowsApart below the first.
inline constexpr int kRowsApart = 8;
LAB_DEVICE int first_row() {
  return simt::uniform_warp() * 16 + simt::lane() / 4;
}

// Calls use(col, pair) for each pair of neighbouring columns of this thread in one of its rows.
template <int kEighths, class Use>
LAB_DEVICE void for_each_pair(float (&sums)[kEighths][4], int half, const Use& use) {
  LAB_UNROLL
  for (int j = 0; j < kEighths; ++j) {
    use(j * 8 + simt::lane() % 4 * 2, sums[j] + 2 * half);
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

// Adds the elements of bf16 rows to the sums, and leaves the sums to bf16 rows: 8 neighbouring
// columns per lane and access, for which the lanes of a quad exchange their pairs. rows: where the
// lane's part of them begins; it leaves out those that it skips. All lanes call them.
template <int kEighths>
LAB_DEVICE void add_bf16(float (&sums)[kEighths][4],
                         const simt::GlobalPtr<const std::uint16_t> (&rows)[2],
                         const bool (&skips)[2]) {
  static_assert(kEighths % 4 == 0);
  simt::Uint4 before[2][kEighths / 4];
  LAB_UNROLL
  for (int half = 0; half < 2; ++half) {
    LAB_UNROLL
    for (int j = 0; j < kEighths / 4; ++j) {
      before[half][j] = {0, 0, 0, 0};
      if (!skips[half]) before[half][j] = simt::load<simt::Uint4>(rows[half] + j * 32);
    }
  }
  LAB_UNROLL
  for (int half = 0; half < 2; ++half) {
    LAB_UNROLL
    for (int j = 0; j < kEighths / 4; ++j) {
      const simt::Uint4& four = before[half][j];
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
template <int kEighths>
LAB_DEVICE void leave_bf16(float (&sums)[kEighths][4], int half, simt::GlobalPtr<std::uint16_t> row,
                           bool skips) {
  LAB_UNROLL
  for (int j = 0; j < kEighths / 4; ++j) {
    std::uint32_t words[4];
    LAB_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float* const pair = sums[4 * j + i] + 2 * half;
      words[i] = simt::pack_bf16(pair[0], pair[1]);
    }
    transpose_in_quad(words);
    if (skips) continue;
    simt::store(row + j * 32, simt::Uint4{words[0], words[1], words[2], words[3]});
  }
}

// Leaves the sums of a block's warpgroups to `output` (passes.cuh), in columns from `col` on.
// row_of(r): the row of C, or -1. kScaled: of FP16, for which no array is bf16.
template <bool kScaled, int kEighths, class Output, class RowOf>
LAB_DEVICE void leave_sums(float (&sums)[kEighths][4], const Output& output, int col,
                           const RowOf& row_of) {
  const int rows[2] = {row_of(first_row()), row_of(first_row() + kRowsApart)};
  if (output.adds()) {
    LAB_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = rows[half];
      if (row < 0) continue;
      for_each_pair(sums, half, [&](int c, float* pair) { output.add(row, col + c, pair); });
    }
  }
  if constexpr (!kScaled) {
    if (output.is_bf16()) {
      const bool skips[2] = {rows[0] < 0, rows[1] < 0};
      const int mine = col + simt::lane() % 4 * 8;
      const auto first = output.bf16_row(skips[0] ? 0 : rows[0]) + mine;
      const auto second = output.bf16_row(skips[1] ? 0 : rows[1]) + mine;
      if (output.adds_to_bf16()) add_bf16(sums, {first, second}, skips);
      leave_bf16(sums, 0, first, skips[0]);
      leave_bf16(sums, 1, second, skips[1]);
      return;
    }
  }
  LAB_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = rows[half];
    if (row < 0) continue;
    for_each_pair(sums, half, [&](int c, const float* pair) { output.write(row, col + c, pair); });
  }
}

struct TilePlace {
  int row, col;
};

// The tiles of C [m, n], row by row.
template <class Tile>
struct Tiles {
  int m = 0, count = 0;
  Divisor across;

  static Tiles of(std::int64_t m, std::int64_t n) {
    const std::int64_t across = n / Tile::kN;
    return {static_cast<int>(m), static_cast<int>(tiles_of(m, Tile::kM) * across),
            Divisor::of(across)};
  }
  LAB_DEVICE TilePlace place(int tile) const {
    const auto [down, right] = divide(tile, across);
    return {.row = down * Tile::kM, .col = right * Tile::kN};
  }
};

// Leaves the sums of the tile of C [m, n] at `place` to `output`.
template <class Tile, int kEighths, class Output>
LAB_DEVICE void leave_tile(float (&sums)[kEighths][4], const Rounded& a, const Rounded& b,
                           const Output& output, const TilePlace& place, int m) {
  if constexpr (Tile::kScaled) unscale(sums, a, b);
  leave_sums<Tile::kScaled>(sums, output, place.col,
                            [&](int r) { return place.row + r < m ? place.row + r : -1; });
}

// Computes `count` products, which the blocks of grid.x share, each by all warpgroups of a block.
// job_of(i): the i-th one, with the number of its `steps`. feed_of(job): what fills its stages, by
// copy(stage, full), which has the boxes of A and B of a step copied, kStageBytes in all, and
// advance() to the next step. leave(sums, job): what becomes of the sums.
template <class Tile, class JobOf, class FeedOf, class Leave>
LAB_DEVICE void multiply_boxes(int count, const JobOf& job_of, const FeedOf& feed_of,
                               const Leave& leave) {
  using Feed = decltype(feed_of(job_of(0)));
  LAB_SHARED(simt::Barrier, full, Tile::kStages);
  LAB_SHARED(simt::Barrier, empty, Tile::kStages);
  LAB_DYNAMIC_SHARED(std::uint32_t, shared);
  const simt::Box stages = simt::box_at(simt::first_box(shared));
  Ring<Tile::kStages> ring{full, empty};
  begin_ring(ring, Tile::kConsumerWarps);
  const int blocks = simt::grid_dim().x, warp = simt::uniform_warp();
  if (warp == Tile::kConsumerWarps) {
    LAB_NO_UNROLL
    for (int i = simt::block_idx().x; i < count; i += blocks) {
      const auto job = job_of(i);
      Feed feed = feed_of(job);
      LAB_NO_UNROLL
      for (int step = 0; step < job.steps; ++step) {
        simt::barrier_wait<simt::WaitFor::Empty>(ring.empty(), ring.parity ^ 1);
        if (simt::lane() == 0) {
          simt::barrier_expect(ring.full(), Tile::kStageBytes);
          feed.copy(stages + ring.slot * Tile::kStageBytes, ring.full());
        }
        simt::sync_warp();  // lanes two rounds behind would mistake the parity
        feed.advance();
        ring.advance();
      }
    }
    return;
  }
  const int group = warp / kWarpgroupWarps;
  LAB_NO_UNROLL
  for (int i = simt::block_idx().x; i < count; i += blocks) {
    const auto job = job_of(i);
    float sums[Tile::kN / 8][4] = {};
    int step = 0;
    if (job.steps > 0) {  // around the wait for the last group too, or ptxas serialises wgmma
      LAB_NO_UNROLL
      do {
        simt::barrier_wait<simt::WaitFor::Full>(ring.full(), ring.parity);
        const simt::Box stage = stages + ring.slot * Tile::kStageBytes;
        simt::wgmma_begin();
        LAB_UNROLL
        for (int k = 0; k < kBox / simt::kWgmmaSlots; ++k) {
          simt::wgmma<element_of(Tile::kScaled), Feed::kASlots, Feed::kBSlots>(
              sums, stage + group * simt::kBoxBytes, stage + Tile::kBytesOfA, k);
        }
        simt::wgmma_commit();
        simt::wgmma_wait<1>();
        if (step > 0) release(ring.last_empty());
        ring.advance();
      } while (++step < job.steps);
      simt::wgmma_finish(sums);
      release(ring.last_empty());
    }
    leave(sums, job);
  }
}

// ---- Weight gradients in the order of the weights

// Leaves the sums to the partial sums of a split. Rows are output channels from `first` on, columns
// taps from `col` on.
template <int kEighths>
LAB_DEVICE void leave_gradient(float (&sums)[kEighths][4], const WeightGradientArgs& args,
                               int split, int first, int col) {
  LAB_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = first + first_row() + kRowsApart * half;
    if (row >= args.out_c) continue;
    const std::int64_t line = std::int64_t{split} * args.out_c + row;
    const auto to = simt::global(args.partials) + line * args.x.taps + col;
    for_each_pair(sums, half, [&](int c, const float* pair) {
      simt::store(to + c, simt::Float2{pair[0], pair[1]});
    });
  }
}

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
