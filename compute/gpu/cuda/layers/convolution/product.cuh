#pragma once
// C = A*B for operands that are computed from their indices: one block per tile of C, whose
// operands are read into registers while the tile before is multiplied, then stored in shared
// memory, in one of two stages, rounded to the precision of the product.
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/convolution/operands.cuh"
#include "compute/gpu/cuda/layers/convolution/tiles.cuh"

namespace lab::cuda {

// The part of an operand's tiles that one thread moves: pieces of 4 elements along the operand's
// neighbours. kWide: a piece is one access of 16 bytes.
template <class Operand, class Tile, int kRows, bool kWide>
class TileMover {
 public:
  static constexpr bool kAlongTerms = Operand::kAlongTerms;
  using Layout = typename Tile::template Layout<kAlongTerms, kRows>;

  // `row`: the first of the tile.
  LAB_DEVICE TileMover(const Operand& operand, int row) : operand_(operand) {
    const int t = simt::thread_idx().x;
    across_ = t % kAcross;
    down_ = t / kAcross;
    LAB_UNROLL
    for (int i = 0; i < kKnownRows; ++i) {
      rows_[i] = operand_.row(kAlongTerms ? row + down_ + i * kDown : row + across_ * 4 + i);
    }
  }

  // Starts reading the tile from term `begin` on; terms from `end` on are zeros.
  LAB_DEVICE void read(int begin, int end) {
    if (!has_work()) return;
    if constexpr (kAlongTerms) {
      LAB_UNROLL
      for (int p = 0; p < kPiecesPerRow; ++p) {
        const int term = begin + (across_ + p * kAcross) * 4;
        if (reads_fours()) {
          read_fours(p, term, end);
        } else {
          read_ones(p, term, end);
        }
      }
    } else {
      const typename Operand::Term first = operand_.term(begin + down_, end);
      LAB_UNROLL
      for (int i = 0; i < kCopies; ++i) {
        const typename Operand::Term term = term_after(first, begin + down_, i * kDown, end);
        if constexpr (kWide) {
          cuda_matmul::unpack(values_[i][0], operand_.read_four(rows_[0], term));
        } else {
          LAB_UNROLL
          for (int e = 0; e < 4; ++e) values_[i][0][e] = operand_.read(rows_[e], term);
        }
      }
    }
  }

  LAB_DEVICE void store(simt::SharedPtr<typename Tile::Word> stage) const {
    if (!has_work()) return;
    LAB_UNROLL
    for (int i = 0; i < kCopies; ++i) {
      if constexpr (kAlongTerms) {
        LAB_UNROLL
        for (int p = 0; p < kPiecesPerRow; ++p) {
          Layout::put_terms(stage, down_ + i * kDown, across_ + p * kAcross, values_[i][p]);
        }
      } else {
        Layout::put_rows(stage, down_ + i * kDown, across_, values_[i][0]);
      }
    }
  }

 private:
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kRowPieces = (kAlongTerms ? Tile::kTerms : kRows) / 4;
  // Along terms, at most 4 pieces of a row are neighbouring threads', and a thread takes the others
  // too: it needs to know fewer rows.
  static constexpr int kAcross = kAlongTerms && kRowPieces > 4 ? 4 : kRowPieces;
  static constexpr int kPiecesPerRow = kRowPieces / kAcross;
  static constexpr int kPlaces = kRows * Tile::kTerms / 4 / kPiecesPerRow;
  static constexpr int kCopies = kPlaces < kThreads ? 1 : kPlaces / kThreads;
  static constexpr int kDown = kThreads / kAcross;
  static constexpr int kNeighbours = kWide ? 1 : 4;
  static constexpr int kKnownRows = kAlongTerms ? kCopies : kNeighbours;
  static_assert(kThreads % kAcross == 0 && (kPlaces < kThreads || kPlaces % kThreads == 0));

  LAB_DEVICE static bool has_work() {
    return kPlaces >= kThreads || simt::thread_idx().x < kPlaces;
  }

  // The term `n` after `first`, which has this index.
  LAB_DEVICE typename Operand::Term term_after(const typename Operand::Term& first, int index,
                                               int n, int end) const {
    if (n == 0) return first;
    if constexpr (requires { operand_.advance(first, n); }) {
      // Tiles begin at multiples of kTerms, so `end` is not within one either.
      if (operand_.keeps_tap(Tile::kTerms)) return operand_.advance(first, n);
    }
    return operand_.term(index + n, end);
  }

  // The same for all threads.
  LAB_DEVICE bool reads_fours() const {
    if constexpr (kWide) {
      return true;
    } else if constexpr (requires { operand_.reads_fours(); }) {
      return operand_.reads_fours();
    } else {
      return false;
    }
  }
  // Piece p of the thread's rows, from `term` on.
  LAB_DEVICE void read_fours(int p, int term, int end) {
    const typename Operand::Term first = operand_.term(term, end);
    LAB_UNROLL
    for (int i = 0; i < kCopies; ++i) {
      cuda_matmul::unpack(values_[i][p], operand_.read_four(rows_[i], first));
    }
  }
  LAB_DEVICE void read_ones(int p, int term, int end) {
    typename Operand::Term terms[4];
    LAB_UNROLL
    for (int e = 0; e < 4; ++e) terms[e] = operand_.term(term + e, end);
    LAB_UNROLL
    for (int i = 0; i < kCopies; ++i) {
      LAB_UNROLL
      for (int e = 0; e < 4; ++e) values_[i][p][e] = operand_.read(rows_[i], terms[e]);
    }
  }

  Operand operand_;
  int across_, down_;
  typename Operand::Row rows_[kKnownRows];
  float values_[kCopies][kPiecesPerRow][4];
};

// The part of a product that a block computes: C [m, n], summed over terms begin..end-1.
struct ProductPart {
  int m, n;
  int begin, end;
};

// Computes one tile of C by Tile::kThreads threads; grid.x: tiles of C, row by row. Leaves it to
// `output` (passes.cuh) in runs of Tile::kRun elements that begin within C; with kWide they end
// within it too, because n is a multiple of 4.
template <class Tile, bool kWide, class A, class B, class Output>
LAB_DEVICE void multiply_tile(const ProductPart& part, const A& a_operand, const B& b_operand,
                              const Output& output) {
  using MoverA = TileMover<A, Tile, Tile::kM, kWide>;
  using MoverB = TileMover<B, Tile, Tile::kN, kWide>;
  using LayoutA = typename MoverA::Layout;
  using LayoutB = typename MoverB::Layout;
  constexpr int kStage = LayoutA::kWords + LayoutB::kWords;
  static_assert(LayoutA::kWords % 4 == 0 && kStage % 4 == 0);
  LAB_SHARED(typename Tile::Word, stages, 2 * kStage);

  const int tiles_n = (part.n + Tile::kN - 1) / Tile::kN;
  const int row = simt::block_idx().x / tiles_n * Tile::kM;
  const int col = simt::block_idx().x % tiles_n * Tile::kN;
  if (row >= part.m) return;

  MoverA a(a_operand, row);
  MoverB b(b_operand, col);
  simt::SharedPtr<typename Tile::Word> now = stages;
  simt::SharedPtr<typename Tile::Word> next = stages + kStage;
  a.read(part.begin, part.end);
  b.read(part.begin, part.end);
  a.store(now);
  b.store(now + LayoutA::kWords);
  simt::sync_threads();

  Tile tile;
  LAB_NO_UNROLL
  for (int term = part.begin; term < part.end; term += Tile::kTerms) {
    const bool more = term + Tile::kTerms < part.end;
    if (more) a.read(term + Tile::kTerms, part.end);
    tile.template multiply<LayoutA, LayoutB>(now, now + LayoutA::kWords, 0);
    if (more) {
      a.store(next);
      b.read(term + Tile::kTerms, part.end);
    }
    tile.template multiply<LayoutA, LayoutB>(now, now + LayoutA::kWords, 1);
    if (more) b.store(next + LayoutA::kWords);
    simt::sync_threads();
    const auto used = now;
    now = next;
    next = used;
  }
  tile.for_each_run([&](int r, int c, float* sums) {
    if (row + r < part.m && col + c < part.n) output.add(row + r, col + c, sums);
  });
  tile.for_each_run([&](int r, int c, const float* sums) {
    if (row + r < part.m && col + c < part.n) output.write(row + r, col + c, sums);
  });
}

}  // namespace lab::cuda
