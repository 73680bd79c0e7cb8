#pragma once
// Copies tiles of A and B to shared memory by cp.async, several stages ahead of their use, and
// loads the fragments of the tensor core rungs.
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"

namespace lab::cuda_matmul {

// A row of A's tile is 64 bytes, four 16-byte pieces. Piece p of row r is stored at index
// p ^ swizzle_a(r), so that 8 rows read at the same piece, as fragments are, cover all 32 banks.
constexpr int kPieceBytes = 16;
constexpr int kPiecesOfA = 4;
LAB_DEVICE constexpr int swizzle_a(int row) {
  return row / 2 % kPiecesOfA;
}

LAB_DEVICE constexpr int clamp(int x, int low, int high) {
  return x < low ? low : x > high ? high : x;
}

// Copies 16 bytes: the first `valid` elements, then zeros. kAligned: both addresses are 16-byte
// aligned.
template <bool kAligned, class T>
LAB_DEVICE void copy_piece(simt::SharedPtr<T> to, simt::GlobalPtr<const T> from, int valid) {
  if constexpr (kAligned) {
    simt::copy_async<kPieceBytes>(to, from, valid * int(sizeof(T)));
  } else if constexpr (sizeof(T) == 4) {
    LAB_UNROLL
    for (int e = 0; e < 4; ++e) simt::copy_async<4>(to + e, from + e, e < valid ? 4 : 0);
  } else {  // cp.async cannot move 2 bytes
    std::uint32_t pairs[4];
    LAB_UNROLL
    for (int e = 0; e < 4; ++e) {
      const std::uint32_t low = 2 * e < valid ? std::uint32_t(from[2 * e]) : 0;
      const std::uint32_t high = 2 * e + 1 < valid ? std::uint32_t(from[2 * e + 1]) : 0;
      pairs[e] = low | high << 16;
    }
    simt::store(to, simt::Uint4{pairs[0], pairs[1], pairs[2], pairs[3]});
  }
}

// One thread's copies. Each next() copies one tile, in order of the terms, and closes a group. Past
// the last tile it writes zeros, which the pipeline loads but never multiplies.
//   a stage: A's tile [kTile.m, kTile.k], pieces swizzled by swizzle_a(row), then
//            B's tile [kTile.k, kTile.n], pieces swizzled by Swizzle::b(term)
// Rows past M and columns past N repeat the last ones; their results are never stored. Terms past K
// are zero in both.
template <Tiling kTile, class T, class Swizzle, bool kAligned>
class TileStream {
 public:
  static constexpr int kStage = (kTile.m + kTile.n) * kTile.k;  // elements
  static constexpr int kPiece = kPieceBytes / int(sizeof(T));
  static_assert(kTile.k == kPiecesOfA * kPiece && kTile.pad == 0);

  LAB_DEVICE TileStream(const MatmulOf<T>& args, const TileOrigin& tile, simt::SharedPtr<T> shared)
      : shared_(shared),
        a_term_(simt::thread_idx().x % kPiecesOfA * kPiece),
        b_row_(simt::thread_idx().x / kPiecesOfB),
        ldb_(args.ldb),
        left_(int(args.k)) {
    const int thread = simt::thread_idx().x;
    const int a_row = thread / kPiecesOfA;
    LAB_UNROLL
    for (int i = 0; i < kCopiesOfA; ++i) {
      const int row = clamp(tile.row + a_row + i * kRowsOfA, 0, int(args.m) - 1);
      a_[i] = simt::global(args.a) + (row * args.lda + a_term_);
    }
    const int b_piece = thread % kPiecesOfB;
    const int wanted = tile.col + b_piece * kPiece;
    const int col = kAligned ? clamp(wanted, 0, int(args.n) - kPiece) : wanted;
    b_columns_ = kAligned ? kPiece : clamp(int(args.n) - wanted, 0, kPiece);
    b_ = simt::global(args.b) + (b_row_ * args.ldb + col);
    a_to_ = a_row * kTile.k + ((thread % kPiecesOfA) ^ swizzle_a(a_row)) * kPiece;
    b_to_ = kTile.m * kTile.k + b_row_ * kTile.n + (b_piece ^ Swizzle::b(b_row_)) * kPiece;
  }

  // Starts copying the next tile into the next stage.
  LAB_DEVICE void next() {
    if (kAligned && left_ >= kTile.k) {
      copy<true>();
    } else {
      copy<false>();
    }
    simt::copy_commit();
    left_ -= kTile.k;
    LAB_UNROLL
    for (int i = 0; i < kCopiesOfA; ++i) a_[i] += kTile.k;
    b_ += kTile.k * ldb_;
    write_ = write_ + 1 == kTile.stages ? 0 : write_ + 1;
  }

  // Waits until all threads' copies of the tile `kTile.stages - 1` back have arrived. Afterwards no
  // thread reads the stage before that one.
  LAB_DEVICE void wait() {
    simt::copy_wait<kTile.stages - 2>();
    simt::sync_threads();
  }

  // Returns the stage of the tile that follows the one returned last.
  LAB_DEVICE simt::SharedPtr<const T> read() {
    const auto stage = shared_ + read_ * kStage;
    read_ = read_ + 1 == kTile.stages ? 0 : read_ + 1;
    return stage;
  }

 private:
  static constexpr int kPiecesOfB = kTile.n / kPiece;
  static constexpr int kRowsOfA = kThreads<kTile> / kPiecesOfA;  // with one copy per thread
  static constexpr int kRowsOfB = kThreads<kTile> / kPiecesOfB;
  static constexpr int kCopiesOfA = kTile.m / kRowsOfA;
  static constexpr int kCopiesOfB = kTile.k / kRowsOfB;
  static_assert(kThreads<kTile> % kPiecesOfB == 0 && kTile.m % kRowsOfA == 0 &&
                kTile.k % kRowsOfB == 0 && kRowsOfA % (2 * kPiecesOfA) == 0);
  static_assert(kRowsOfB % Swizzle::kPeriod == 0 && kPiecesOfB >= Swizzle::kPieces);

  // kWhole: the tile has all kTile.k terms.
  template <bool kWhole>
  LAB_DEVICE void copy() {
    const auto stage = shared_ + write_ * kStage;
    const int terms = kWhole ? kPiece : clamp(left_ - a_term_, 0, kPiece);
    LAB_UNROLL
    for (int i = 0; i < kCopiesOfA; ++i) {
      copy_piece<kAligned, T>(stage + (a_to_ + i * kRowsOfA * kTile.k), a_[i], terms);
    }
    LAB_UNROLL
    for (int i = 0; i < kCopiesOfB; ++i) {
      const bool inside = kWhole || b_row_ + i * kRowsOfB < left_;
      copy_piece<kAligned, T>(stage + (b_to_ + i * kRowsOfB * kTile.n), b_ + i * kRowsOfB * ldb_,
                              inside ? (kAligned ? kPiece : b_columns_) : 0);
    }
  }

  simt::SharedPtr<T> shared_;
  simt::GlobalPtr<const T> a_[kCopiesOfA];
  simt::GlobalPtr<const T> b_;
  int a_term_, b_row_, b_columns_;
  int a_to_, b_to_;  // positions of the thread's first pieces in a stage
  std::int64_t ldb_;
  int left_;  // terms that remain to be copied
  int write_ = 0, read_ = 0;
};

// Accumulates A*B in `warp`, with kTile.stages - 1 tiles in flight. A tile has Warp::kTileSteps
// steps, in runs of Warp::kSteps; a run is straight-line code that must fit the instruction cache.
//   first(stage)            loads the fragments of a tile's step 0
//   step(s, next, stage)    multiplies the fragments of step s of a run and loads those of step
//                           `next` of `stage`: the same tile or, for its last step, the next
template <Tiling kTile, class Stream, class Warp>
LAB_DEVICE void pipelined_sums(Stream& stream, Warp& warp, int tiles) {
  LAB_UNROLL
  for (int s = 0; s + 1 < kTile.stages; ++s) stream.next();
  stream.wait();
  auto stage = stream.read();
  warp.first(stage);
  LAB_NO_UNROLL
  for (int run = 0; run < tiles * Warp::kTileSteps; run += Warp::kSteps) {
    const int begin = run % Warp::kTileSteps;
    LAB_UNROLL
    for (int s = 0; s < Warp::kSteps; ++s) {
      if (s + 1 == Warp::kSteps && begin + Warp::kSteps == Warp::kTileSteps) {
        stream.wait();
        stage = stream.read();
      }
      warp.step(s, (begin + s + 1) % Warp::kTileSteps, stage);
      if (s == 0 && begin == 0) stream.next();
    }
  }
}

// Computes a whole product by blocks of kThreads threads with kTile.shared_bytes() of dynamic
// shared memory.
//   warp.write<kAligned>(args, tile)   stores the sums
template <Tiling kTile, bool kAligned, class Swizzle, class Warp, class T>
LAB_DEVICE void pipelined_product(const MatmulOf<T>& args) {
  LAB_DYNAMIC_SHARED(T, shared);
  const auto tile = tile_origin<kTile, 16>(int(args.m), int(args.n));
  TileStream<kTile, T, Swizzle, kAligned> stream(args, tile, shared);
  Warp warp;
  pipelined_sums<kTile>(stream, warp, (int(args.k) + kTile.k - 1) / kTile.k);
  warp.template write<kAligned>(args, tile);
}

constexpr int kMmaM = 16;  // rows of C per instruction
constexpr int kMmaN = 8;   // columns of C per instruction

// A warp's tile of C, divided into fragments of mma.sync.
template <Tiling kTile>
struct MmaWarpTile : WarpTile<kTile> {
  static constexpr int kDown = WarpTile<kTile>::kM / kMmaM;
  static constexpr int kAcross = WarpTile<kTile>::kN / kMmaN;
  static_assert(WarpTile<kTile>::kM % kMmaM == 0);
  LAB_DEVICE static int row() {
    return simt::warp() / WarpTile<kTile>::kAcross * WarpTile<kTile>::kM;
  }
  LAB_DEVICE static int col() {
    return simt::warp() % WarpTile<kTile>::kAcross * WarpTile<kTile>::kN;
  }
};

// Calls multiply(i, j) for each fragment of C, in alternating direction, so that consecutive
// multiplies share an operand's registers.
template <class Tile, class Multiply>
LAB_DEVICE void for_fragments(const Multiply& multiply) {
  LAB_UNROLL
  for (int i = 0; i < Tile::kDown; ++i) {
    LAB_UNROLL
    for (int jj = 0; jj < Tile::kAcross; ++jj) {
      multiply(i, i % 2 == 0 ? jj : Tile::kAcross - 1 - jj);
    }
  }
}

// Loads the fragment of A for rows `row`..row+15 of its tile and the 32 bytes of terms of step s.
// ldmatrix moves 16-byte pieces of rows, 8 bf16 or 4 tf32 elements: in both cases a lane receives
// the 4 bytes that mma.sync expects from it.
template <Tiling kTile, class T>
LAB_DEVICE void load_fragment_a(std::uint32_t (&to)[4], simt::SharedPtr<const T> stage, int row,
                                int s) {
  constexpr int kPiece = kPieceBytes / int(sizeof(T));
  const int r = row + simt::lane() % kMmaM;
  const int piece = 2 * s + simt::lane() / kMmaM;
  simt::ldmatrix(to, stage + (r * kTile.k + (piece ^ swizzle_a(r)) * kPiece));
}

}  // namespace lab::cuda_matmul
