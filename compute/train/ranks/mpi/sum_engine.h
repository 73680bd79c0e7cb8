#pragma once
// Sums over ranks in the background of other work: a reduce-scatter and an all-gather, in pieces
// that fit in cache. In each piece every rank owns one slice: it receives that slice from all other
// ranks, adds them in rank order, and sends the result to all.
//
// Work     each rank sends and receives 2 (n-1)/n of the values, and adds (n-1)/n of them
// Numerics FP32, added from rank 0 on: the same bits on every rank and in every run
// Progress in progress() only; a few pieces are in flight at a time, so that one is added while
//          the next is transferred
#include <mpi.h>

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "compute/train/ranks/mpi/messages.h"

namespace lab::mpi {

struct SumState {
  std::size_t pieces_left = 0;  // not final yet
};

class SumEngine {
 public:
  SumEngine(MPI_Comm comm, int rank, int size, DrainBudget& budget);

  // Queues values[i] = sum over ranks. `values` must stay valid until pieces_left is 0 or forget().
  std::shared_ptr<SumState> start(std::span<float> values);
  // Advances all pieces that can advance; never waits.
  void progress();
  // Abandons all sums in progress; their values are no longer accessed.
  void forget();
  // Calls forget() and restarts the sequence numbers.
  void begin_round(std::uint32_t round);

 private:
  struct Piece {
    std::span<float> values;
    std::uint32_t sequence = 0;
    std::shared_ptr<SumState> sum;
  };
  struct Active {
    Piece piece;
    std::vector<float> staging;  // this rank's slice, as received from the other ranks
    bool gathering;
    RequestSet requests;  // last, because it accesses the members above
  };

  std::span<float> slice(std::span<float> values, int rank) const;
  int peer(int i) const { return i < rank_ ? i : i + 1; }
  void begin(Piece piece);
  void begin_gather(Active& active);
  bool advance(Active& active);  // true once the piece is final

  const MPI_Comm comm_;
  const int rank_, size_;
  DrainBudget& budget_;
  std::uint32_t round_ = 0, sequence_ = 0;
  std::deque<Piece> queue_;
  std::list<Active> active_;
  std::vector<std::vector<float>> spare_staging_;
};

}  // namespace lab::mpi
