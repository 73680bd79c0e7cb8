#pragma once
// The processes that train together: one rank each, as MPI counts them. Without mpirun there is
// one, and every function is trivial.
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/error.h"

namespace lab {

// A sum over ranks on its way. Waiting is the caller's: it has other work and a way out.
class PendingSum {
 public:
  virtual ~PendingSum() = default;
  // Moves the sum on; true once every element is final.
  virtual bool test() = 0;
};

// What collective calls need from their caller: a way out of waiting for a rank that is late.
struct RankWait {
  std::stop_token stop = {};  // once requested, waiting ends with Error(Cancelled)
  // The same once it says so; asked on the waiting thread, again and again.
  std::function<bool()> interrupted = {};
};

// Every rank makes the same calls in the same order, on the job's thread, one at a time.
// Each throws the Error another rank has announced with fail(), as soon as it is known.
class RankGroup {
 public:
  virtual ~RankGroup() = default;

  virtual int rank() const = 0;  // 0 is the one that reports
  virtual int size() const = 0;
  bool single() const { return size() == 1; }
  // "node1" of each rank, for people.
  virtual const std::vector<std::string>& hosts() const = 0;

  // Everybody gets the bytes of rank `root`; sizes are equal on all ranks.
  virtual void broadcast(std::span<std::byte> bytes, int root, const RankWait& wait) = 0;
  // Everybody gets everybody's bytes, by rank; sizes may differ.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes,
                                                         const RankWait& wait) = 0;
  // Begins values[i] = sum over ranks, in an order that depends on the number of ranks and values
  // alone. `values` must stay until the sum is final. Sums are begun in the same order everywhere.
  virtual std::unique_ptr<PendingSum> start_sum(std::span<float> values) = 0;

  // Looks for an announced failure and throws it: Error with the announcer's code, its message
  // behind "rank 2 (node1): ". Cheap; never waits.
  virtual void check() = 0;
  // Tells every other rank that this one cannot go on. From here on only check() may be called:
  // the processes cannot train together again. Never throws.
  virtual void fail(Errc code, const std::string& message) noexcept = 0;
};

// One process by itself.
RankGroup& single_rank();

}  // namespace lab
