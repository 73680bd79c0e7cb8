#pragma once
// All-reduce between the GPUs of one process, in their memory. The host only queues it: the thread
// whose replica is the last to announce a bucket queues the sums of that bucket on all GPUs, on
// streams of their own, where they run concurrently with the rest of backward.
//
// The host can also be ahead of the sums: it then queues the updates behind them, and later takes
// the times of each step.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "compute/machine/thread_pool.h"
#include "compute/train/data_parallel/gpu_sums.h"
#include "compute/train/data_parallel/gradient_reducer.h"

namespace lab {

// Sums that take longer count as hung: since all were queued, or, of a step ahead, since the end of
// backward on all GPUs.
inline constexpr std::chrono::seconds kLongestGpuSum{60};

class GpuReducer final : public GradientReducer {
 public:
  // Replica i is member i of `sums`, and its array covers the buckets and `behind` more floats,
  // which are summed with the bucket in front of them, the first one. Waiting for sums throws
  // Error(Cuda) after `longest`.
  GpuReducer(std::unique_ptr<GpuSums> sums, std::span<const GradientBucket> buckets,
             std::chrono::duration<double> longest = kLongestGpuSum, std::int64_t behind = 0);
  ~GpuReducer() override;

  void begin_step(std::span<const std::int64_t> images) override;
  void ready(std::size_t replica, std::size_t bucket) override;
  void progress(std::size_t /*replica*/) override {}
  void finish(std::size_t replica, std::stop_token stop) override;
  SumTimes times(std::size_t replica) const override;

  // Steps ahead of their sums. Per step, on the job's thread: begin_ahead()
  // then on each replica's own thread:     ready(0) ready(1) ... update_ahead()
  // later, for the oldest step, on the job's thread:          finish_ahead()

  // Starts the clock of the steps that follow each other. No step may be ahead.
  void begin_series();
  // The work of the step begins here in each main stream.
  void begin_ahead(std::span<const std::int64_t> images);
  // `update` queues work on the replica's main stream, which starts after the sums. Waits until all
  // replicas have announced their buckets. Throws Error(Cancelled) once `stop` is requested, which
  // is for the failure of another replica only: the replicas then differ.
  void update_ahead(std::size_t replica, FunctionRef<void()> update, const std::stop_token& stop);
  // Whether all work of the oldest step has run.
  bool ahead_done();

  // Of a replica, by the clock of its GPU. Ends are relative to begin_ahead().
  struct AheadTimes {
    double backward_end_s = 0, finish_s = 0;  // as in ReplicaStep
    SumTimes sums;
    double update_s = 0;  // duration of the update
    double step_s = 0;    // since the end of the step before, or begin_series(); 0 without that
  };
  // Waits for the oldest step and returns the times of each replica, valid until the next call.
  // Whether it returns or throws, that step is no longer ahead.
  std::span<const AheadTimes> finish_ahead();
  // Whether a step ahead has failed. The main streams may then wait for its sums without end.
  bool ahead_failed() const { return failed_ || (unfinished_ > 0 && !ahead_.empty()); }

 private:
  // A replica's events of one bucket: its gradients are final, all gradients are, its sums are.
  struct Events {
    std::unique_ptr<GpuEvent> ready, begin, end;
  };
  struct Replica {
    bool has_images = false;
    std::vector<Events> buckets;
    // Of a step ahead of its sums: its begin, its sums, the update.
    std::unique_ptr<GpuEvent> begin, summed, updated;
  };
  using Step = std::vector<Replica>;

  std::unique_ptr<Step> take_spare();
  void begin(Step& step, std::span<const std::int64_t> images);
  void queue(std::size_t bucket);
  void wait_until_queued(const std::stop_token& stop);
  void finish_one();
  void check_sums(double begin_s, std::size_t replica);
  void wait_for(const Step& step);
  static SumTimes times_of(const Replica& replica);

  const std::unique_ptr<GpuSums> sums_;
  const std::vector<GradientBucket> buckets_;
  const std::int64_t behind_;
  const std::chrono::duration<double> longest_;
  std::vector<std::unique_ptr<Step>> spare_;
  std::deque<std::unique_ptr<Step>> ahead_;  // the oldest first
  std::unique_ptr<Step> last_;               // of the series, whose results have been taken
  std::vector<std::unique_ptr<GpuEvent>> series_begin_;  // by replica; empty: not timed
  Step* step_ = nullptr;                                 // the latest
  std::vector<SumTimes> times_;                          // of replicas that have finished it
  std::vector<AheadTimes> ahead_times_;
  bool failed_ = false;  // a step whose work was queued

  std::mutex mutex_;  // also held while sums are queued
  std::condition_variable_any changed_;
  std::vector<std::size_t> arrived_;  // replicas, per bucket
  std::size_t queued_ = 0;            // buckets
  std::size_t unfinished_ = 0;        // replicas; of a step ahead: without their update
};

}  // namespace lab
