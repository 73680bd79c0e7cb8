#pragma once
// All-reduce between the devices of one process through shared memory, and from there between
// processes.
//
// Each bucket is divided into chunks. A chunk is read from all replicas and its sum is written to
// all of them: reduce-scatter and all-gather in one pass, 2 * replicas * bytes of traffic. While
// its backward runs, a replica sums its fair share of a full bucket's chunks; a waiting replica
// takes all remaining chunks to relieve slower ones. Every sum adds the replicas in order, so that
// its bits do not depend on the thread that computes it.
//
// With several processes, a bucket is first summed into replica 0, then over the processes, then
// copied to the other replicas.
//
// The gradients of a GPU are copied to host memory bucket by bucket while its backward runs; the
// thread that drives the GPU sums chunks like the others.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "compute/run/rank_group.h"
#include "compute/train/data_parallel/gradient_copies.h"
#include "compute/train/data_parallel/gradient_reducer.h"

namespace lab {

class SharedMemoryReducer final : public GradientReducer {
 public:
  // The flat array of a replica, as long as the buckets require. For a GPU, the copy in host memory
  // and how it is kept; otherwise `copies` is null.
  struct Source {
    float* gradients = nullptr;
    std::unique_ptr<GradientCopies> copies = {};
  };
  // Replica 0 is driven by the job's thread, the only one that calls `ranks`. `spin`: every waiting
  // thread has a core of its own.
  SharedMemoryReducer(std::vector<Source> replicas, std::span<const GradientBucket> buckets,
                      RankGroup& ranks, bool spin);
  ~SharedMemoryReducer() override;

  void begin_step(std::span<const std::int64_t> images) override;
  void ready(std::size_t replica, std::size_t bucket) override;
  void progress(std::size_t replica) override;
  void finish(std::size_t replica, std::stop_token stop) override;
  bool observe(SumObserver* observer) override {
    if (!ranks_.single()) return false;
    observer_ = observer;
    return true;
  }
  SumTimes times(std::size_t replica) const override;

 private:
  struct Bucket;
  struct Replica;

  void arrive(std::size_t bucket);
  bool advance(std::size_t replica, bool all);
  bool is_finished(const Replica& self) const;
  bool sum_chunks(Replica& self, std::size_t bucket, bool all);
  bool sum_observed(std::size_t replica, std::size_t bucket, bool all);
  bool sum_ranks(std::size_t bucket);
  bool copy_chunks(std::size_t replica, Bucket& bucket, bool all);
  bool is_final(const Bucket& bucket) const;
  void wait(std::int64_t seen, const std::stop_token& stop);
  void wake();

  std::vector<float*> gradients_;      // in host memory
  std::vector<float*> sum_targets_;    // every replica; with several processes, the first
  std::vector<const float*> sources_;  // of this step
  RankGroup& ranks_;
  SumObserver* observer_ = nullptr;
  const bool spin_;
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::size_t next_rank_sum_ = 0;     // job's thread only
  bool rank_sums_under_way_ = false;  // job's thread only; set if advance() tested any
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<std::int64_t> news_ = 0;  // counts events that a waiting replica may wait for
};

}  // namespace lab
