#pragma once
// GEMM of a part of C on one thread, for any type of operands. Internal to the gemm module.
//   for each block of mc rows, and each kc steps:
//     for each panel of nc columns, whose B stays in L2, or in L1 if the block of A stays in L2:
//       for each strip of mr rows, for each strip of nr columns: the micro-kernel
// A strip of A or B is packed at the first tile that uses it. Each element of C sums its terms in
// the same order in any part and with any cache. Source  Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", TOMS 2008;
//         Van Zee and van de Geijn, "BLIS", TOMS 2015
#include <algorithm>
#include <cstdint>
#include <stop_token>

#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {

// Up to this many steps, writing C dominates.
constexpr std::int64_t kFewSteps = 32;
// Steps per block: a panel of B fits into L1 or L2, and C is rarely read again.
constexpr std::int64_t kStepsOfBlock = 512;

// Computes C[rows, cols] on the calling thread. Returns early once `stop` is requested; throws
// std::bad_alloc.
//
// `Product` holds the operands and their kernels. A step takes one 32-bit word of a row of A and of
// a column of B: a float, or see bf16_kernels.h. Members, where a null pointer stands for an
// operand that is read in place:
//   Word                                 the word's type
//   steps(), mr(), nr()                  number of steps; sizes of a full tile
//   most_steps()                         per block; from the shape and whether A is transposed
//   only,
//                                        because the sums of blocks, which C adds, are rounded
//   whole_steps()                        blocks are cut at multiples of this number, so that sums
//                                        do not depend on the blocks' sizes
//   takes_strips()                       whether a panel of B may be a single strip
//   packs_a(col_tiles)                   whether A is packed if `col_tiles` tiles use each strip
//   packs_b(row_tiles, cols)             whether B is, for a part of this many tiles and columns
//   pack_a(row, rows, steps, Word* out)  packs neighbouring strips of mr rows
//   tile_args(steps)                     arguments of the micro-kernel
//   set_a(args, row, rows, const Word*)  strip of A, and with it the rows of C
//   set_b(args, col, cols, const Word*)  strip of B, and with it the columns of C
//   tile_row_and_pack(args, panel, Word* out)  computes all tiles of the panel and packs its B
//   tile_row(args, panel, const Word*)   computes all tiles of the panel, whose B is packed or null
// Strips of A, in each block, are taken from the last row up if `from_last` and A is read in place.
template <class Product>
class PartOfGemm {
 public:
  PartOfGemm(const Product& product, Range rows, Range cols, bool from_last = false);
  void run(const std::stop_token& stop) const;

 private:
  using Word = typename Product::Word;
  static_assert(sizeof(Word) == sizeof(float), "block sizes are in 32-bit words");

  // Whether a block of `rows` rows of A stays in L2 while strips of B pass by it, each for longer
  // than the steps of the loops take.
  bool fits_beside_strips(std::int64_t rows) const {
    const std::int64_t bytes = rows * kc_ * static_cast<std::int64_t>(sizeof(Word));
    return kc_ > kFewSteps && bytes <= cache_sizes().l2_bytes / 8;
  }
  void multiply(Range steps, Range panel, Range block) const;

  const Product& product_;
  const Range rows_, cols_;
  bool from_last_;
  const std::int64_t mr_, nr_;
  std::int64_t kc_, mc_, nc_;
  Word* packed_a_ = nullptr;
  Word* packed_b_ = nullptr;
};

template <class Product>
PartOfGemm<Product>::PartOfGemm(const Product& product, Range rows, Range cols, bool from_last)
    : product_(product),
      rows_(rows),
      cols_(cols),
      from_last_(from_last),
      mr_(product.mr()),
      nr_(product.nr()) {
  kc_ = even_piece(product.steps(), product.most_steps(), product.whole_steps());
  const CacheBlocks most = cache_blocks(cache_sizes(), kc_, product.mr(), product.nr());
  const bool packs_a = product.packs_a(ceil_div(cols.size(), nr_));
  const bool packs_b = product.packs_b(ceil_div(rows.size(), mr_), cols.size());
  nc_ = even_piece(
      cols.size(),
      packs_b && product.takes_strips() && fits_beside_strips(rows.size()) ? nr_ : most.nc, nr_);
  constexpr std::int64_t kMostRows = 4096;  // between polls of `stop`
  mc_ = even_piece(rows.size(), packs_a ? most.mc : kMostRows, mr_);
  from_last_ = from_last_ && !packs_a;
  if (packs_a) packed_a_ = gemm_scratch().a.at_least<Word>(mc_ * kc_);
  if (packs_b) packed_b_ = gemm_scratch().b.at_least<Word>(nc_ * kc_);
}

template <class Product>
void PartOfGemm<Product>::run(const std::stop_token& stop) const {
  for (std::int64_t i = rows_.begin; i < rows_.end; i += mc_) {
    for (std::int64_t p = 0; p < product_.steps(); p += kc_) {
      for (std::int64_t j = cols_.begin; j < cols_.end; j += nc_) {
        if (stop.stop_requested()) return;
        multiply({p, std::min(p + kc_, product_.steps())}, {j, std::min(j + nc_, cols_.end)},
                 {i, std::min(i + mc_, rows_.end)});
      }
    }
  }
}

template <class Product>
void PartOfGemm<Product>::multiply(Range steps, Range panel, Range block) const {
  // Strips of A: whole cache lines, if A is stored transposed.
  constexpr std::int64_t kPackedTogether = 4;
  const bool new_a = packed_a_ != nullptr && panel.begin == cols_.begin;
  auto args = product_.tile_args(steps);
  const std::int64_t strips = ceil_div(block.size(), mr_);
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const std::int64_t i = block.begin + (from_last_ ? strips - 1 - strip : strip) * mr_;
    const std::int64_t rows = block.end - i;
    Word* const a = packed_a_ == nullptr ? nullptr : packed_a_ + (i - block.begin) * steps.size();
    if (new_a && strip % kPackedTogether == 0) {
      product_.pack_a(i, static_cast<int>(std::min(rows, kPackedTogether * mr_)), steps, a);
    }
    product_.set_a(args, i, static_cast<int>(std::min(rows, mr_)), a);
    if (packed_b_ == nullptr || strip > 0) {
      product_.tile_row(args, panel, packed_b_);
      continue;
    }
    product_.tile_row_and_pack(args, panel, packed_b_);
  }
}

// Computes C, the product of `op`, on the threads of `pool`, or on the caller if null. Returns
// early once `stop` is requested; throws std::bad_alloc.
template <class Product, typename T>
void multiply(const Product& product, const Operands<T>& op, ThreadPool* pool,
              const std::stop_token& stop) {
  if (pool == nullptr) return PartOfGemm(product, {0, op.m}, {0, op.n}).run(stop);
  const std::int64_t row_tiles = ceil_div(op.m, product.mr());
  const std::int64_t col_tiles = ceil_div(op.n, product.nr());
  Grid grid = grid_of_parts(pool, op.flop(), row_tiles, col_tiles);
  const bool whole_rows = product.steps() <= kFewSteps && row_tiles >= grid.size();
  // Parts side by side write to the same cache lines where C's rows are not aligned.
  if (whole_rows) grid = {grid.size(), 1};
  // Prefetchers follow the rows of C into the other thread's part, whose core then has to get those
  // lines back. Two threads that write away from their border do not meet there.
  const bool apart = whole_rows && grid.size() == 2;
  run_parts_on(pool, grid.size(), [&](std::int64_t part, int /*thread*/) {
    const auto at = static_cast<int>(part);
    const Range rows = piece(op.m, product.mr(), grid.rows, at / grid.cols);
    const Range cols = piece(op.n, product.nr(), grid.cols, at % grid.cols);
    if (rows.size() > 0 && cols.size() > 0) {
      PartOfGemm(product, rows, cols, /*from_last=*/apart && at == 0).run(stop);
    }
  });
}

}  // namespace lab
