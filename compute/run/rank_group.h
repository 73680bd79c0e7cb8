#pragma once
// The processes that train together, one per rank as in MPI. Without mpirun there is one rank and
// every function is trivial.
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/error.h"

namespace lab {

// A sum over ranks in progress. The caller polls it, so that it can do other work and cancel.
class PendingSum {
 public:
  virtual ~PendingSum() = default;
  // Advances the sum; returns true once every element is final.
  virtual bool test() = 0;
};

// Ends the wait of a collective call for a late rank.
struct RankWait {
  std::stop_token stop = {};  // once requested, waiting ends with Error(Cancelled)
  // Polled on the waiting thread; once it returns true, waiting ends with Error(Cancelled).
  std::function<bool()> interrupted = {};
};

// Collective communication. Every rank makes the same calls in the same order, on the job's thread,
// one at a time. Each call throws the Error announced by another rank with fail() as soon as it is
// known.
class RankGroup {
 public:
  virtual ~RankGroup() = default;

  virtual int rank() const = 0;  // rank 0 reports results
  virtual int size() const = 0;
  bool single() const { return size() == 1; }
  // Host names by rank ("node1"), for display.
  virtual const std::vector<std::string>& hosts() const = 0;

  // Copies the bytes of rank `root` to all ranks; sizes are equal on all ranks.
  virtual void broadcast(std::span<std::byte> bytes, int root, const RankWait& wait) = 0;
  // Returns the bytes of all ranks, by rank; sizes may differ.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes,
                                                         const RankWait& wait) = 0;
  // Starts an in-place all-reduce: values[i] = sum over ranks, in an order that depends only on the
  // numbers of ranks and values. `values` must remain valid until the sum is final. All ranks start
  // their sums in the same order.
  virtual std::unique_ptr<PendingSum> start_sum(std::span<float> values) = 0;

  // Throws the failure announced by another rank, if any: an Error with its code and its message
  // prefixed with "rank 2 (node1): ". Cheap; never waits.
  virtual void check() = 0;
  // Announces to all other ranks that this one cannot continue. Afterwards only check() may be
  // called: the processes cannot train together again. Never throws.
  virtual void fail(Errc code, const std::string& message) noexcept = 0;
};

// Returns the group of a single process.
RankGroup& single_rank();

}  // namespace lab
