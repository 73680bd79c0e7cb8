// GEMM on packed blocks.
//   for each block of nc columns and kc terms:  B's block is packed by all threads of a grid column
//     for each block of mc rows of the thread:  A's block is packed by the thread
//       for each strip of nr columns, for each strip of mr rows: the micro-kernel
// Each element of C sums its terms in the same order whatever the grid.
// Source  Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 2008;
//         Van Zee and van de Geijn, "BLIS", TOMS 2015
#include <new>

#include "compute/matmul/gemm_parts.h"

namespace lab {

PackedGemm::PackedGemm(const GemmOperands& op, ThreadGrid grid, const GemmKernels& kernels,
                       const std::stop_token& stop)
    : op_(op),
      grid_(grid),
      kernels_(kernels),
      stop_(stop),
      blocks_(cache_blocks(cache_sizes(), kernels.mr, kernels.nr)),
      kc_(even_piece(op.k, blocks_.kc, 1)),
      barrier_(grid.size()) {
  std::int64_t widest = 0;
  for (int t = 0; t < grid.cols; ++t) {
    widest = std::max(widest, piece(op.n, kernels.nr, grid.cols, t).size());
  }
  const std::int64_t limit = std::max<std::int64_t>(blocks_.nc / grid.cols, kernels.nr);
  nc_ = even_piece(widest, limit, kernels.nr);
  column_steps_ = (widest + nc_ - 1) / nc_;
  shared_b_ = gemm_scratch().shared_b.at_least(2 * grid.cols * kc_ * nc_);
}

void PackedGemm::run(int thread) {
  const int thread_row = thread / grid_.cols;
  const int thread_col = thread % grid_.cols;
  const Range rows = piece(op_.m, kernels_.mr, grid_.rows, thread_row);
  const Range cols = piece(op_.n, kernels_.nr, grid_.cols, thread_col);
  // Memory is asked for before the first barrier: a thread that gets none tells the others there,
  // so that nobody waits for it at the second.
  const std::int64_t mc = even_piece(rows.size(), blocks_.mc, kernels_.mr);
  float* packed_a = nullptr;
  try {
    packed_a = gemm_scratch().a.at_least(mc * kc_);
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
  }
  int step = 0;
  for (std::int64_t block = 0; block < column_steps_; ++block) {
    const std::int64_t first = std::min(cols.begin + block * nc_, cols.end);
    const Range columns{first, std::min(first + nc_, cols.end)};
    for (std::int64_t p = 0; p < op_.k; p += kc_, ++step) {
      const Range terms{p, std::min(p + kc_, op_.k)};
      // Two blocks in turn: whoever packs the next one has left the barrier behind the last use
      // of that memory.
      float* packed_b = shared_b_ + (2 * thread_col + step % 2) * kc_ * nc_;
      pack_b(terms, columns, thread_row, packed_b);
      if (thread == 0) stopping_[step % 2] = stop_.stop_requested();
      barrier_.arrive_and_wait();
      if (out_of_memory_) throw std::bad_alloc();
      if (stopping_[step % 2]) return;
      multiply(terms, rows, columns, mc, packed_a, packed_b);
    }
  }
}

// This thread's share of the strips of B's block.
void PackedGemm::pack_b(Range terms, Range cols, int thread_row, float* out) const {
  const std::int64_t nr = kernels_.nr;
  const std::int64_t strip_floats = terms.size() * nr;
  const Range mine = piece(cols.size(), nr, grid_.rows, thread_row);
  for (std::int64_t j = mine.begin; j < mine.end; j += nr) {
    kernels_.pack({.source = op_.b + terms.begin * op_.b_k + (cols.begin + j) * op_.b_col,
                   .strip_stride = op_.b_col,
                   .k_stride = op_.b_k,
                   .k = terms.size(),
                   .valid = static_cast<int>(std::min(nr, mine.end - j)),
                   .width = kernels_.nr,
                   .out = out + j / nr * strip_floats});
  }
}

void PackedGemm::multiply(Range terms, Range rows, Range cols, std::int64_t mc, float* packed_a,
                          const float* packed_b) const {
  const std::int64_t mr = kernels_.mr;
  const std::int64_t nr = kernels_.nr;
  for (std::int64_t block = rows.begin; block < rows.end; block += mc) {
    const std::int64_t block_end = std::min(block + mc, rows.end);
    for (std::int64_t i = block; i < block_end; i += mr) {
      kernels_.pack({.source = op_.a + i * op_.a_row + terms.begin * op_.a_k,
                     .strip_stride = op_.a_row,
                     .k_stride = op_.a_k,
                     .k = terms.size(),
                     .valid = static_cast<int>(std::min(mr, block_end - i)),
                     .width = kernels_.mr,
                     .out = packed_a + (i - block) * terms.size()});
    }
    TileArgs tile{.k = terms.size(),
                  .a_row_stride = 1,
                  .a_k_stride = mr,
                  .b_k_stride = nr,
                  .ldc = op_.ldc,
                  .accumulate = op_.accumulate || terms.begin > 0};
    for (std::int64_t j = 0; j < cols.size(); j += nr) {
      tile.b = packed_b + j * terms.size();
      tile.cols = static_cast<int>(std::min(nr, cols.size() - j));
      for (std::int64_t i = block; i < block_end; i += mr) {
        tile.a = packed_a + (i - block) * terms.size();
        tile.c = op_.c + i * op_.ldc + cols.begin + j;
        tile.rows = static_cast<int>(std::min(mr, block_end - i));
        kernels_.tile_packed(tile);
      }
    }
  }
}

}  // namespace lab
