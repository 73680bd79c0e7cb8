#pragma once
// Work along the columns of a row-major matrix [rows, columns]: which threads take which elements,
// and sums of columns that do not depend on the order in which blocks run.
//
// A block takes a group of up to kGroup * kWidth neighbouring columns, kWidth per thread, and a
// chunk of rows; its threads take the chunk's rows in turn. Sums go from the threads to the block
// in the order of the threads, and from the blocks to the total in the order of the blocks.
#include <cstddef>
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/launch_grid.h"

namespace lab {
class GpuStream;
}

namespace lab::cuda {

inline constexpr int kColumnThreads = 256;
inline constexpr int kGroup = 16;  // threads along a row

struct ColumnPlan {
  int rows = 0, columns = 0;
  int across = 0;      // threads along a row, at most kGroup
  int down = 0;        // threads along a column
  int chunk_rows = 0;  // rows per block
  int groups = 0, chunks = 0;
  int most_chunks = 0;  // for this number of rows or fewer
  // The first blocks take the last rows, which were written last and may still be in L2.
  bool last_first = false;

  LaunchGrid grid() const { return {.x = groups, .y = chunks}; }
};

// `width`: columns per thread, 4 or 1. `per_thread`: rows that each thread should have at least;
// `blocks`: the largest useful number of blocks.
inline ColumnPlan column_plan(std::int64_t rows, std::int64_t columns, int width, int per_thread,
                              int blocks) {
  constexpr int kMaxChunks = 65535;
  ColumnPlan plan;
  plan.rows = static_cast<int>(rows);
  plan.columns = static_cast<int>(columns);
  const int vectors = tiles_of(columns, width);
  plan.across = vectors < kGroup ? vectors : kGroup;
  plan.down = kColumnThreads / plan.across;
  plan.groups = tiles_of(vectors, plan.across);
  int chunks = tiles_of(rows, std::int64_t{plan.down} * per_thread);
  int most = blocks / plan.groups;
  most = most < 1 ? 1 : most > kMaxChunks ? kMaxChunks : most;
  if (chunks > most) chunks = most;
  plan.most_chunks = chunks;
  plan.chunk_rows = tiles_of(rows, chunks);
  plan.chunks = tiles_of(rows, plan.chunk_rows);
  return plan;
}

// A thread's part of a matrix.
struct ColumnPlace {
  int column;  // the first of kWidth; from `columns` on, the thread has no work
  int across, down;
  std::int64_t row, end;  // rows row, row + plan.down, ... < end

  template <int kWidth>
  LAB_DEVICE static ColumnPlace of(const ColumnPlan& plan) {
    const int t = simt::thread_idx().x;
    ColumnPlace place;
    place.down = t / plan.across;
    place.across = t - place.down * plan.across;
    place.column = (simt::block_idx().x * plan.across + place.across) * kWidth;
    if (place.down >= plan.down) place.column = plan.columns;
    const int block = simt::block_idx().y;
    const int chunk = plan.last_first ? plan.chunks - 1 - block : block;
    const std::int64_t begin = std::int64_t{chunk} * plan.chunk_rows;
    const std::int64_t end = begin + plan.chunk_rows;
    place.row = begin + place.down;
    place.end = end < plan.rows ? end : plan.rows;
    return place;
  }
};

// kWidth neighbouring elements in registers.
template <int kWidth>
LAB_DEVICE void read_columns(float (&to)[kWidth], simt::GlobalPtr<const float> from) {
  if constexpr (kWidth == 4) {
    const auto four = simt::load<simt::Float4>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
  } else {
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) to[e] = from[e];
  }
}
template <int kWidth>
LAB_DEVICE void write_columns(simt::GlobalPtr<float> to, const float (&from)[kWidth]) {
  if constexpr (kWidth == 4) {
    simt::store(to, simt::Float4{from[0], from[1], from[2], from[3]});
  } else {
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) to[e] = from[e];
  }
}

// partials [chunks, kSums, columns]: adds each block's sums, of which every thread has kSums for
// each of its kWidth columns.
template <int kSums, int kWidth>
LAB_DEVICE void write_block_sums(const double (&mine)[kSums][kWidth], double* partials,
                                 const ColumnPlan& plan) {
  LAB_SHARED(double, sums, kColumnThreads* kWidth);
  const int t = simt::thread_idx().x;
  LAB_UNROLL
  for (int s = 0; s < kSums; ++s) {
    if (s > 0) simt::sync_threads();
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) sums[t * kWidth + e] = mine[s][e];
    simt::sync_threads();
    // One thread for each column of the group.
    const int columns = plan.across * kWidth;
    const int column = simt::block_idx().x * columns + t;
    if (t < columns && column < plan.columns) {
      double sum = 0;
      for (int d = 0; d < plan.down; ++d) sum += sums[d * columns + t];
      simt::global(
          partials)[(std::int64_t{simt::block_idx().y} * kSums + s) * plan.columns + column] = sum;
    }
  }
}

// ---- The second step: one block adds the partial sums of kTotalColumns columns.
inline constexpr int kTotalColumns = 16;
inline constexpr int kTotalDown = kColumnThreads / kTotalColumns;

inline LaunchGrid total_grid(const ColumnPlan& plan) {
  return {.x = tiles_of(plan.columns, kTotalColumns)};
}

// The column of this thread, which receives the total if it is within the matrix.
struct TotalPlace {
  int column, down;
  LAB_DEVICE static TotalPlace of() {
    const int t = simt::thread_idx().x;
    return {simt::block_idx().x * kTotalColumns + t % kTotalColumns, t / kTotalColumns};
  }
  LAB_DEVICE bool has_total(int columns) const { return down == 0 && column < columns; }
};

// totals[s] = the sum over chunks; valid where place.has_total().
template <int kSums>
LAB_DEVICE void total_sums(double (&totals)[kSums], const double* partials, int chunks, int columns,
                           const TotalPlace& place) {
  LAB_SHARED(double, sums, kSums* kColumnThreads);
  const int t = simt::thread_idx().x;
  LAB_UNROLL
  for (int s = 0; s < kSums; ++s) {
    double sum = 0;
    if (place.column < columns) {
      const auto from = simt::global(partials) + place.column;
      for (int chunk = place.down; chunk < chunks; chunk += kTotalDown) {
        const double part = from[(std::int64_t{chunk} * kSums + s) * columns];
        sum += part;
      }
    }
    sums[s * kColumnThreads + t] = sum;
  }
  simt::sync_threads();
  LAB_UNROLL
  for (int s = 0; s < kSums; ++s) {
    totals[s] = 0;
    if (place.down == 0) {
      for (int d = 0; d < kTotalDown; ++d) {
        totals[s] += sums[s * kColumnThreads + d * kTotalColumns + t];
      }
    }
  }
}

// Scratch memory for the partial sums of up to `rows` rows.
inline std::int64_t column_sums_bytes(const ColumnPlan& plan, int sums) {
  return std::int64_t{plan.most_chunks} * sums * plan.columns *
         static_cast<std::int64_t>(sizeof(double));
}

// Enough blocks to fill an H100 with 8 blocks per SM.
inline ColumnPlan column_sums_plan(std::int64_t rows, std::int64_t columns, int width) {
  constexpr int kRowsPerThread = 8, kBlocks = 1056;
  return column_plan(rows, columns, width, kRowsPerThread, kBlocks);
}

// The widest accesses that an array with these columns allows; `aligned`: to 16 bytes.
inline int column_width(std::int64_t columns, bool aligned) {
  return aligned && columns % 4 == 0 ? 4 : 1;
}

// Whether every pointer that is not null is a multiple of 16.
template <class... T>
bool all_aligned(const T*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

// ---- Sums of the columns of one matrix

template <int kWidth>
struct ColumnSumsKernel {
  struct Args {
    const float* x;
    double* partials;
    ColumnPlan plan;
  };
  static constexpr const char* kName = "column sums";
  static constexpr int kThreads = kColumnThreads;

  static LAB_DEVICE void run(const Args& args) {
    const auto place = ColumnPlace::of<kWidth>(args.plan);
    double sums[1][kWidth] = {};
    if (place.column < args.plan.columns) {
      const auto x = simt::global(args.x) + place.column;
      for (std::int64_t row = place.row; row < place.end; row += args.plan.down) {
        float values[kWidth];
        read_columns(values, x + row * args.plan.columns);
        LAB_UNROLL
        for (int e = 0; e < kWidth; ++e) sums[0][e] += static_cast<double>(values[e]);
      }
    }
    write_block_sums(sums, args.partials, args.plan);
  }
};

struct ColumnTotalKernel {
  struct Args {
    const double* partials;
    float* sums;
    int chunks, columns;
  };
  static constexpr const char* kName = "column totals";
  static constexpr int kThreads = kColumnThreads;

  static LAB_DEVICE void run(const Args& args) {
    const auto place = TotalPlace::of();
    double total[1];
    total_sums(total, args.partials, args.chunks, args.columns, place);
    if (place.has_total(args.columns)) {
      simt::global(args.sums)[place.column] = static_cast<float>(total[0]);
    }
  }
};

// sums [columns] = sums of the columns of x [rows, columns], in FP64. workspace:
// column_sums_bytes() for one sum and the plan of either width.
template <class Launcher>
void column_sums(Launcher& launcher, const float* x, float* sums, std::int64_t rows,
                 std::int64_t columns, std::byte* workspace, GpuStream& stream) {
  const int width = column_width(columns, all_aligned(x));
  const ColumnPlan plan = column_sums_plan(rows, columns, width);
  auto* partials = reinterpret_cast<double*>(workspace);
  if (width == 4) {
    launcher.template launch<ColumnSumsKernel<4>>(plan.grid(), {x, partials, plan}, stream);
  } else {
    launcher.template launch<ColumnSumsKernel<1>>(plan.grid(), {x, partials, plan}, stream);
  }
  launcher.template launch<ColumnTotalKernel>(total_grid(plan),
                                              {partials, sums, plan.chunks, plan.columns}, stream);
}

}  // namespace lab::cuda
