#pragma once
// GEMM on packed blocks, for any type of operands. Internal to the gemm module.
//   for each block of nc columns and kc steps:  B's block is packed by all threads of a grid column
//     for each block of mc rows of the thread:  A's block is packed by the thread
//       for each strip of nr columns, for each strip of mr rows: the micro-kernel
// Each element of C sums its terms in the same order for any grid.
// Source  Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 2008;
//         Van Zee and van de Geijn, "BLIS", TOMS 2015
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <stop_token>

#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {

// One tile of C from packed strips, over `steps` steps of one 32-bit word per row and column.
template <typename Word>
struct PackedTile {
  std::int64_t steps = 0;
  const Word* a = nullptr;
  const Word* b = nullptr;
  std::int64_t row = 0, col = 0;  // in C
  int rows = 0, cols = 0;
  bool first = true;  // there are no earlier steps
};

// The packed blocks, shared by the threads of a grid. Every thread t calls run(t) once,
// concurrently. All return early once `stop` is requested, and all throw std::bad_alloc if an
// allocation of any thread fails.
//
// `Product` holds the operands and their kernels. A step takes one 32-bit word of a row of A and of
// a column of B: a float, or a pair of bf16. Members:
//   Word                                     the word's type
//   m(), n(), steps(), mr(), nr()            sizes of C and of a full tile
//   pack_a(row, valid, steps, Word* out)     packs a strip of mr rows, `valid` of which exist
//   pack_b(col, valid, steps, Word* out)     packs up to kStripsOfB strips of nr columns
//   tile(const PackedTile<Word>&)            the micro-kernel
template <class Product>
class PackedGemm {
 public:
  PackedGemm(const Product& product, ThreadGrid grid, const std::stop_token& stop);
  void run(int thread);

 private:
  using Word = typename Product::Word;
  static_assert(sizeof(Word) == sizeof(float), "block sizes are in 32-bit words");

  void pack_b(Range steps, Range cols, int thread_row, Word* out) const;
  // Packs `mc` rows of A at a time into `packed_a`.
  void multiply(Range steps, Range rows, Range cols, std::int64_t mc, Word* packed_a,
                const Word* packed_b) const;
  void multiply_block(Range steps, Range rows, Range cols, const Word* packed_a,
                      const Word* packed_b) const;

  const Product& product_;
  const ThreadGrid grid_;
  const std::stop_token& stop_;
  const CacheBlocks blocks_;
  std::int64_t kc_ = 0;            // steps per block, except the last
  std::int64_t nc_ = 0;            // columns per block
  std::int64_t column_steps_ = 0;  // column blocks of the widest thread column
  Word* shared_b_ = nullptr;       // two blocks per thread column, used alternately
  Barrier barrier_;
  std::atomic<bool> out_of_memory_ = false;
  std::atomic<bool> stopping_[2] = {false, false};  // as read by thread 0, for even and odd turns
};

template <class Product>
PackedGemm<Product>::PackedGemm(const Product& product, ThreadGrid grid,
                                const std::stop_token& stop)
    : product_(product),
      grid_(grid),
      stop_(stop),
      blocks_(cache_blocks(cache_sizes(), product.mr(), product.nr())),
      kc_(even_piece(product.steps(), blocks_.kc, 1)),
      barrier_(grid.size()) {
  std::int64_t widest = 0;
  for (int t = 0; t < grid.cols; ++t) {
    widest = std::max(widest, piece(product.n(), product.nr(), grid.cols, t).size());
  }
  const std::int64_t limit = std::max<std::int64_t>(blocks_.nc / grid.cols, product.nr());
  nc_ = even_piece(widest, limit, product.nr());
  column_steps_ = (widest + nc_ - 1) / nc_;
  shared_b_ = gemm_scratch().shared_b.at_least<Word>(2 * grid.cols * kc_ * nc_);
}

template <class Product>
void PackedGemm<Product>::run(int thread) {
  const int thread_row = thread / grid_.cols;
  const int thread_col = thread % grid_.cols;
  const Range rows = piece(product_.m(), product_.mr(), grid_.rows, thread_row);
  const Range cols = piece(product_.n(), product_.nr(), grid_.cols, thread_col);
  // Allocates before the first barrier: a thread whose allocation fails reports it there, so that
  // the others do not wait for it at the second.
  const std::int64_t mc = even_piece(rows.size(), blocks_.mc, product_.mr());
  Word* packed_a = nullptr;
  try {
    packed_a = gemm_scratch().a.at_least<Word>(mc * kc_);
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
  }
  int turn = 0;
  for (std::int64_t block = 0; block < column_steps_; ++block) {
    const std::int64_t first = std::min(cols.begin + block * nc_, cols.end);
    const Range columns{first, std::min(first + nc_, cols.end)};
    for (std::int64_t p = 0; p < product_.steps(); p += kc_, ++turn) {
      const Range steps{p, std::min(p + kc_, product_.steps())};
      // Double buffering: a thread that packs the next block has passed the barrier that follows
      // the last use of that memory.
      Word* packed_b = shared_b_ + (2 * thread_col + turn % 2) * kc_ * nc_;
      pack_b(steps, columns, thread_row, packed_b);
      if (thread == 0) stopping_[turn % 2] = stop_.stop_requested();
      barrier_.arrive_and_wait();
      if (out_of_memory_) throw std::bad_alloc();
      if (stopping_[turn % 2]) return;
      multiply(steps, rows, columns, mc, packed_a, packed_b);
    }
  }
}

// Packs this thread's share of the strips of B's block.
template <class Product>
void PackedGemm<Product>::pack_b(Range steps, Range cols, int thread_row, Word* out) const {
  const std::int64_t nr = product_.nr();
  const Range mine = piece(cols.size(), nr, grid_.rows, thread_row);
  const std::int64_t at_once = nr * Product::kStripsOfB;
  for (std::int64_t j = mine.begin; j < mine.end; j += at_once) {
    product_.pack_b(cols.begin + j, static_cast<int>(std::min(at_once, mine.end - j)), steps,
                    out + j * steps.size());
  }
}

template <class Product>
void PackedGemm<Product>::multiply(Range steps, Range rows, Range cols, std::int64_t mc,
                                   Word* packed_a, const Word* packed_b) const {
  const std::int64_t mr = product_.mr();
  for (std::int64_t block = rows.begin; block < rows.end; block += mc) {
    const std::int64_t block_end = std::min(block + mc, rows.end);
    for (std::int64_t i = block; i < block_end; i += mr) {
      product_.pack_a(i, static_cast<int>(std::min(mr, block_end - i)), steps,
                      packed_a + (i - block) * steps.size());
    }
    multiply_block(steps, {block, block_end}, cols, packed_a, packed_b);
  }
}

template <class Product>
void PackedGemm<Product>::multiply_block(Range steps, Range rows, Range cols, const Word* packed_a,
                                         const Word* packed_b) const {
  const std::int64_t mr = product_.mr();
  const std::int64_t nr = product_.nr();
  PackedTile<Word> tile{.steps = steps.size(), .first = steps.begin == 0};
  for (std::int64_t j = 0; j < cols.size(); j += nr) {
    tile.b = packed_b + j * steps.size();
    tile.col = cols.begin + j;
    tile.cols = static_cast<int>(std::min(nr, cols.size() - j));
    for (std::int64_t i = rows.begin; i < rows.end; i += mr) {
      tile.a = packed_a + (i - rows.begin) * steps.size();
      tile.row = i;
      tile.rows = static_cast<int>(std::min(mr, rows.end - i));
      product_.tile(tile);
    }
  }
}

}  // namespace lab
