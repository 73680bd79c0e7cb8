#pragma once
// GEMM of a part of C on one thread, for any type of operands. Internal to the gemm module.
//   for each panel of nc columns and kc steps, whose B stays in L3:
//     for each block of mc rows, whose A stays in L2:
//       for each strip of nr columns, for each strip of mr rows: the micro-kernel
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

// Computes C[rows, cols] on the calling thread. Returns early once `stop` is requested; throws
// std::bad_alloc.
//
// `Product` holds the operands and their kernels. A step takes one 32-bit word of a row of A and of
// a column of B: a float, or see bf16_kernels.h. Members, where a null pointer stands for an
// operand that is read in place:
//   Word                                 the word's type
//   steps(), mr(), nr()                  number of steps; sizes of a full tile
//   packs_a(col_tiles)                   whether A is packed if `col_tiles` tiles use each strip
//   packs_b(row_tiles, cols)             whether B is, for a part with so many tiles and columns
//   pack_a(row, rows, steps, Word* out)  packs a strip of up to mr rows
//   fetch_a(row, rows, steps)            prefetches a strip
//   tile_args(steps)                     arguments of the micro-kernel
//   set_a(args, row, rows, const Word*)  strip of A, and with it the rows of C
//   set_b(args, col, cols, const Word*)  strip of B, and with it the columns of C
//   fetch_b(args, col)                   strip of B to prefetch during the tile
//   fetch_packed_b(args, const Word*)    the same, of a packed strip
//   tile(args)                           computes the tile
//   tile_row(args, panel, const Word*)   computes all tiles of the panel, whose B is packed or null
//   tile_and_pack(args, Word* out)       also packs its strip of B, which is not packed
template <class Product>
class PartOfGemm {
 public:
  PartOfGemm(const Product& product, Range rows, Range cols);
  void run(const std::stop_token& stop) const;

 private:
  using Word = typename Product::Word;
  static_assert(sizeof(Word) == sizeof(float), "block sizes are in 32-bit words");

  void multiply(Range steps, Range panel, Range block) const;

  const Product& product_;
  const Range rows_, cols_;
  const std::int64_t mr_, nr_;
  std::int64_t kc_, mc_, nc_;
  Word* packed_a_ = nullptr;
  Word* packed_b_ = nullptr;
};

template <class Product>
PartOfGemm<Product>::PartOfGemm(const Product& product, Range rows, Range cols)
    : product_(product), rows_(rows), cols_(cols), mr_(product.mr()), nr_(product.nr()) {
  const CacheBlocks most = cache_blocks(cache_sizes(), product.mr(), product.nr());
  const bool packs_a = product.packs_a(ceil_div(cols.size(), nr_));
  kc_ = even_piece(product.steps(), most.kc, 1);
  // A strip of A that is read in place stays in L1 for all of a panel, and the panel in L2.
  const std::int64_t in_l2 = cache_sizes().l2_bytes / 2 / (kc_ * std::int64_t{sizeof(Word)});
  nc_ = even_piece(cols.size(), packs_a ? most.nc : std::max(in_l2, nr_), nr_);
  mc_ = packs_a ? even_piece(rows.size(), most.mc, mr_) : mr_;
  if (packs_a) packed_a_ = gemm_scratch().a.at_least<Word>(mc_ * kc_);
  if (product.packs_b(ceil_div(rows.size(), mr_), cols.size())) {
    packed_b_ = gemm_scratch().b.at_least<Word>(nc_ * kc_);
  }
}

template <class Product>
void PartOfGemm<Product>::run(const std::stop_token& stop) const {
  for (std::int64_t j = cols_.begin; j < cols_.end; j += nc_) {
    for (std::int64_t p = 0; p < product_.steps(); p += kc_) {
      for (std::int64_t i = rows_.begin; i < rows_.end; i += mc_) {
        if (stop.stop_requested()) return;
        multiply({p, std::min(p + kc_, product_.steps())}, {j, std::min(j + nc_, cols_.end)},
                 {i, std::min(i + mc_, rows_.end)});
      }
    }
  }
}

template <class Product>
void PartOfGemm<Product>::multiply(Range steps, Range panel, Range block) const {
  const bool new_b = packed_b_ != nullptr && block.begin == rows_.begin;
  const bool one_strip = block.size() <= mr_;
  auto args = product_.tile_args(steps);
  const auto set_rows = [&](std::int64_t i, bool first_tile) {
    const auto rows = static_cast<int>(std::min(mr_, block.end - i));
    Word* const a = packed_a_ == nullptr ? nullptr : packed_a_ + (i - block.begin) * steps.size();
    if (a != nullptr && first_tile) {
      product_.pack_a(i, rows, steps, a);
      product_.fetch_a(i + mr_, std::min(mr_, rows_.end - i - mr_), steps);
    }
    product_.set_a(args, i, rows, a);
  };
  if (one_strip) set_rows(block.begin, /*first_tile=*/true);
  if (one_strip && !new_b) return product_.tile_row(args, panel, packed_b_);
  for (std::int64_t j = panel.begin; j < panel.end; j += nr_) {
    const auto cols = static_cast<int>(std::min(nr_, panel.end - j));
    Word* const b = packed_b_ == nullptr ? nullptr : packed_b_ + (j - panel.begin) * steps.size();
    product_.set_b(args, j, cols, new_b ? nullptr : b);
    for (std::int64_t i = block.begin; i < block.end; i += mr_) {
      if (!one_strip) set_rows(i, /*first_tile=*/j == panel.begin);
      if (i + mr_ >= block.end && j + nr_ < panel.end) {
        if (new_b) {
          product_.fetch_b(args, j + nr_);
        } else if (b != nullptr) {
          product_.fetch_packed_b(args, b + nr_ * steps.size());
        }
      }
      if (new_b && i == block.begin) {
        product_.tile_and_pack(args, b);
        product_.set_b(args, j, cols, b);
      } else {
        product_.tile(args);
      }
    }
  }
}

// Computes C, the product of `op`, on the threads of `pool`, or on the caller if null. Returns
// early once `stop` is requested; throws std::bad_alloc.
template <class Product, typename T>
void multiply(const Product& product, const Operands<T>& op, ThreadPool* pool,
              const std::stop_token& stop) {
  const std::int64_t row_tiles = ceil_div(op.m, product.mr());
  const std::int64_t col_tiles = ceil_div(op.n, product.nr());
  Grid grid = grid_of_parts(pool, op.flop(), row_tiles, col_tiles);
  // Parts side by side write to the same cache lines where C's rows are not aligned.
  if (product.steps() <= kFewSteps && row_tiles >= grid.size()) grid = {grid.size(), 1};
  run_parts_on(pool, grid.size(), [&](std::int64_t part, int /*thread*/) {
    const auto at = static_cast<int>(part);
    const Range rows = piece(op.m, product.mr(), grid.rows, at / grid.cols);
    const Range cols = piece(op.n, product.nr(), grid.cols, at % grid.cols);
    if (rows.size() > 0 && cols.size() > 0) PartOfGemm(product, rows, cols).run(stop);
  });
}

}  // namespace lab
