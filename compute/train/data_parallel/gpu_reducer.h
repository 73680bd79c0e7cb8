#pragma once
// All-reduce between the GPUs of one process, in their memory. The host only queues it: the thread
// whose replica is the last to announce a bucket queues the sums of that bucket on all GPUs, on
// streams of their own, where they run concurrently with the rest of backward.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "compute/train/data_parallel/gpu_sums.h"
#include "compute/train/data_parallel/gradient_reducer.h"

namespace lab {

// Sums that take longer after the end of backward count as hung.
inline constexpr std::chrono::seconds kLongestGpuSum{60};

class GpuReducer final : public GradientReducer {
 public:
  // Replica i is member i of `sums`, and its array covers the buckets. finish() throws Error(Cuda)
  // when it has waited for `longest`.
  GpuReducer(std::unique_ptr<GpuSums> sums, std::span<const GradientBucket> buckets,
             std::chrono::duration<double> longest = kLongestGpuSum);
  ~GpuReducer() override;

  void begin_step(std::span<const std::int64_t> images) override;
  void ready(std::size_t replica, std::size_t bucket) override;
  void progress(std::size_t /*replica*/) override {}
  void finish(std::size_t replica, std::stop_token stop) override;
  SumTimes times(std::size_t replica) const override;

 private:
  // A replica's events of one bucket: its gradients are final, all gradients are, its sums are.
  struct Events {
    std::unique_ptr<GpuEvent> ready, begin, end;
  };
  struct Replica {
    bool has_images = false;
    std::vector<Events> events;  // of each bucket
    SumTimes times;
  };

  void queue(std::size_t bucket);
  void wait_until_queued(const std::stop_token& stop);
  void wait_for_sums(std::size_t replica, const std::stop_token& stop);
  void take_times(std::size_t replica);

  const std::unique_ptr<GpuSums> sums_;
  const std::vector<GradientBucket> buckets_;
  const std::chrono::duration<double> longest_;
  std::vector<Replica> replicas_;

  std::mutex mutex_;  // also held while sums are queued
  std::condition_variable_any changed_;
  std::vector<std::size_t> arrived_;  // replicas, per bucket
  std::size_t queued_ = 0;            // buckets
  std::size_t unfinished_ = 0;        // replicas
};

}  // namespace lab
