#pragma once
// Work along the columns of a row-major matrix [rows, columns]: which threads take which elements,
// and sums of columns that do not depend on the order in which blocks run.
//
// A block takes a group of up to kGroup * kWidth neighbouring columns, kWidth per thread, and a
// chunk of rows; its threads take the chunk's rows in turn. Sums go from the threads to the block
// in the order of the threads, and from the blocks to the total in the order of the blocks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/gpu_activations.h"

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

// `width`: columns per thread, 8, 4 or 1. `per_thread`: rows that each thread should have at least;
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

// One element as FP32, from FP32 or bf16, and the reverse.
LAB_DEVICE float element_at(simt::GlobalPtr<const float> from, std::int64_t i) {
  const float element = from[i];
  return element;
}
LAB_DEVICE float element_at(simt::GlobalPtr<const std::uint16_t> from, std::int64_t i) {
  const std::uint16_t bits = from[i];
  return simt::from_bf16(bits);
}
LAB_DEVICE void set_element(simt::GlobalPtr<float> to, std::int64_t i, float value) {
  to[i] = value;
}
LAB_DEVICE void set_element(simt::GlobalPtr<std::uint16_t> to, std::int64_t i, float value) {
  to[i] = simt::to_bf16(value);
}

// kWidth neighbouring elements in registers: 1, 4, or 8, which is the only width for bf16. The
// array that is read is not written in the same launch.
template <int kWidth>
LAB_DEVICE void read_columns(float (&to)[kWidth], simt::GlobalPtr<const float> from) {
  if constexpr (kWidth == 1) {
    to[0] = simt::load_readonly<float>(from);
  } else {
    LAB_UNROLL
    for (int e = 0; e < kWidth; e += 4) {
      const auto four = simt::load_readonly<simt::Float4>(from + e);
      to[e] = four.x;
      to[e + 1] = four.y;
      to[e + 2] = four.z;
      to[e + 3] = four.w;
    }
  }
}
template <int kWidth>
LAB_DEVICE void read_columns(float (&to)[kWidth], simt::GlobalPtr<const std::uint16_t> from) {
  static_assert(kWidth == kBf16Width);
  const auto eight = simt::load_readonly<simt::Uint4>(from);
  int e = 0;
  for (const std::uint32_t pair : {eight.x, eight.y, eight.z, eight.w}) {
    to[e++] = simt::float_of(pair << 16);
    to[e++] = simt::float_of(pair & 0xffff0000U);
  }
}
template <int kWidth>
LAB_DEVICE void write_columns(simt::GlobalPtr<float> to, const float (&from)[kWidth]) {
  if constexpr (kWidth == 1) {
    to[0] = from[0];
  } else {
    LAB_UNROLL
    for (int e = 0; e < kWidth; e += 4) {
      simt::store(to + e, simt::Float4{from[e], from[e + 1], from[e + 2], from[e + 3]});
    }
  }
}
template <int kWidth>
LAB_DEVICE void write_columns(simt::GlobalPtr<std::uint16_t> to, const float (&from)[kWidth]) {
  static_assert(kWidth == kBf16Width);
  simt::store(to,
              simt::Uint4{simt::pack_bf16(from[0], from[1]), simt::pack_bf16(from[2], from[3]),
                          simt::pack_bf16(from[4], from[5]), simt::pack_bf16(from[6], from[7])});
}

// The type in which a thread sums the few elements of its rows before it adds them to others in
// FP64: bf16 has so few digits that FP32 loses none that count.
template <class Element>
using ThreadSum = std::conditional_t<std::is_same_v<Element, float>, double, float>;

// partials [chunks, kSums, columns]: adds each block's sums, of which every thread has kSums for
// each of its kWidth columns.
template <class Sum, int kSums, int kWidth>
LAB_DEVICE void write_block_sums(const Sum (&mine)[kSums][kWidth], double* partials,
                                 const ColumnPlan& plan) {
  constexpr int kPitch = kColumnThreads + 8;  // few bank conflicts in either direction
  LAB_SHARED(double, sums, kPitch* kWidth);
  const int t = simt::thread_idx().x;
  // One thread for each column of the group.
  const int element = t / plan.across, across = t - element * plan.across;
  const int column = (simt::block_idx().x * plan.across + across) * kWidth + element;
  LAB_UNROLL
  for (int s = 0; s < kSums; ++s) {
    if (s > 0) simt::sync_threads();
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) sums[e * kPitch + t] = static_cast<double>(mine[s][e]);
    simt::sync_threads();
    if (element < kWidth && column < plan.columns) {
      double sum = 0;
      LAB_UNROLL_BY(8)
      for (int d = 0; d < plan.down; ++d) {
        const double more = sums[element * kPitch + d * plan.across + across];
        sum += more;
      }
      simt::global(
          partials)[(std::int64_t{simt::block_idx().y} * kSums + s) * plan.columns + column] = sum;
    }
  }
}

// ---- The second step: one block adds the partial sums of kTotalColumns columns.
inline constexpr int kTotalColumns = 4;
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

// totals[s] = the sum over chunks, in pairs; valid where place.has_total().
template <int kSums>
LAB_DEVICE void total_sums(double (&totals)[kSums], const double* partials, int chunks, int columns,
                           const TotalPlace& place) {
  LAB_SHARED(double, sums, kSums* kColumnThreads);
  const int t = simt::thread_idx().x;
  LAB_UNROLL
  for (int s = 0; s < kSums; ++s) totals[s] = 0;
  if (place.column < columns) {
    const auto from = simt::global(partials) + place.column;
    LAB_UNROLL_BY(8)
    for (int chunk = place.down; chunk < chunks; chunk += kTotalDown) {
      LAB_UNROLL
      for (int s = 0; s < kSums; ++s) {
        const double part = from[(std::int64_t{chunk} * kSums + s) * columns];
        totals[s] += part;
      }
    }
  }
  LAB_UNROLL
  for (int half = kTotalDown / 2; half > 0; half /= 2) {
    if (place.down >= half && place.down < 2 * half) {
      LAB_UNROLL
      for (int s = 0; s < kSums; ++s) sums[s * kColumnThreads + t] = totals[s];
    }
    simt::sync_threads();
    if (place.down < half) {
      LAB_UNROLL
      for (int s = 0; s < kSums; ++s) {
        const double more = sums[s * kColumnThreads + t + half * kTotalColumns];
        totals[s] += more;
      }
    }
  }
}

// Scratch memory for the partial sums of up to `rows` rows.
inline std::int64_t column_sums_bytes(const ColumnPlan& plan, int sums) {
  return std::int64_t{plan.most_chunks} * sums * plan.columns *
         static_cast<std::int64_t>(sizeof(double));
}

// Enough blocks to fill an H100: 8 per SM, of bf16 3, whose threads have more registers. More give
// the second step more to add.
inline ColumnPlan column_sums_plan(std::int64_t rows, std::int64_t columns, int width) {
  constexpr int kRowsPerThread = 4, kSms = 132;
  return column_plan(rows, columns, width, kRowsPerThread, (width == kBf16Width ? 3 : 8) * kSms);
}

// That of the largest of the widths, whichever is chosen.
inline std::int64_t most_column_sums_bytes(std::int64_t rows, std::int64_t columns, int sums) {
  std::int64_t most = 0;
  for (const int width : {1, 4, kBf16Width}) {
    most = std::max(most, column_sums_bytes(column_sums_plan(rows, columns, width), sums));
  }
  return most;
}

// The widest accesses that FP32 arrays with these columns allow; `aligned`: to 16 bytes.
inline int column_width(std::int64_t columns, bool aligned) {
  return aligned && columns % 4 == 0 ? 4 : 1;
}

// Whether every pointer that is not null is a multiple of 16.
inline bool all_aligned(std::initializer_list<const void*> pointers) {
  return std::ranges::all_of(
      pointers, [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; });
}

// ---- Sums of the columns of one matrix

template <int kWidth, class Element>
struct ColumnSumsKernel {
  struct Args {
    const Element* x;
    double* partials;
    ColumnPlan plan;
  };
  static constexpr const char* kName = "column sums";
  static constexpr int kThreads = kColumnThreads;

  static LAB_DEVICE void run(const Args& args) {
    const auto place = ColumnPlace::of<kWidth>(args.plan);
    using Sum = ThreadSum<Element>;
    Sum sums[1][kWidth] = {};
    if (place.column < args.plan.columns) {
      const auto x = simt::global(args.x) + place.column;
      LAB_UNROLL_BY(2)
      for (std::int64_t row = place.row; row < place.end; row += args.plan.down) {
        float values[kWidth];
        read_columns(values, x + row * args.plan.columns);
        LAB_UNROLL
        for (int e = 0; e < kWidth; ++e) sums[0][e] += static_cast<Sum>(values[e]);
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

// sums [columns] = sums of the columns of x [rows, columns]. workspace: most_column_sums_bytes()
// for one sum.
template <class Launcher>
void column_sums(Launcher& launcher, ConstGpuActivations x, float* sums, std::int64_t rows,
                 std::int64_t columns, std::byte* workspace, GpuStream& stream) {
  const int width = x.is_bf16() ? kBf16Width : column_width(columns, all_aligned({x.data()}));
  const ColumnPlan plan = column_sums_plan(rows, columns, width);
  auto* partials = reinterpret_cast<double*>(workspace);
  const auto launch = [&]<int kWidth, class Element>() {
    launcher.template launch<ColumnSumsKernel<kWidth, Element>>(
        plan.grid(), {x.template as<Element>(), partials, plan}, stream);
  };
  if (x.is_bf16()) {
    launch.template operator()<kBf16Width, std::uint16_t>();
  } else if (width == 4) {
    launch.template operator()<4, float>();
  } else {
    launch.template operator()<1, float>();
  }
  launcher.template launch<ColumnTotalKernel>(total_grid(plan),
                                              {partials, sums, plan.chunks, plan.columns}, stream);
}

}  // namespace lab::cuda
