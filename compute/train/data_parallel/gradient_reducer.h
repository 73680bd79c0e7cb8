#pragma once
// Summation of gradients over devices and processes: buckets and the interface of reducers.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace lab {

// A contiguous piece of the flat gradient array.
struct GradientBucket {
  std::int64_t begin = 0, end = 0;                  // floats
  std::size_t first_parameter = 0, parameters = 0;  // those whose gradients it holds
  std::int64_t bytes() const { return (end - begin) * 4; }
};

// Size limit of the last bucket. Its reduction cannot be hidden, since backward ends when it is
// full.
inline constexpr std::int64_t kLastBucketBytes = std::int64_t{1} << 20;

// Returns buckets in the order in which backward fills them: last parameters first, each of at most
// `bucket_bytes` (a larger parameter gets its own bucket), the last of at most `last_bytes`.
// `offsets` holds the start of each parameter in the flat array, ascending from 0, followed by its
// end.
// Source  Li et al., "PyTorch Distributed", VLDB 2020 (buckets in reverse order)
std::vector<GradientBucket> plan_buckets(std::span<const std::int64_t> offsets,
                                         std::int64_t bucket_bytes,
                                         std::int64_t last_bytes = kLastBucketBytes);

// Seconds that a replica's device and its thread spent on the sums of a step, excluding waiting.
struct SumTimes {
  double work_s = 0;
  double hidden_s = 0;  // part of work_s, before the replica's backward ended
};

// Receives what a reducer does in a step, on the thread of the replica.
class SumObserver {
 public:
  virtual ~SumObserver() = default;
  // As GradientReducer::ready().
  virtual void ready(std::size_t replica, std::size_t bucket) = 0;
  // The thread has summed a part of the bucket.
  // Begin and end are seconds on the steady clock.
  virtual void summed(std::size_t replica, std::size_t bucket, double begin_s, double end_s) = 0;
};

// Sums the gradients of all replicas, bucket by bucket, while backward is still running. Gradients
// reach other devices and processes through this interface only.
//
// Per step, on the job's thread:        begin_step()
// then on each replica's own thread:    ready(0) progress() ready(1) progress() ... finish()
class GradientReducer {
 public:
  virtual ~GradientReducer() = default;

  // Called before any replica starts. A replica without images takes part, but contributes
  // zeros regardless of its gradients.
  virtual void begin_step(std::span<const std::int64_t> images) = 0;
  // The replica's gradients of this bucket are final; on a GPU, they will be once the work queued
  // on its main stream has run. Buckets become ready in order.
  virtual void ready(std::size_t replica, std::size_t bucket) = 0;
  // Does the work that is due, if any; never waits for another replica. Of a replica on a CPU whose
  // last bucket is ready, finish() does it.
  virtual void progress(std::size_t replica) = 0;
  // Called when the replica's backward has ended. Returns once its gradients are the sums, bitwise
  // equal on every replica. Throws Error(Cancelled) once `stop` is requested, and failures
  // announced by another process.
  virtual void finish(std::size_t replica, std::stop_token stop) = 0;

  // Between steps: reports the sums of the following steps; null ends that. Returns false if the
  // replicas' threads do not sum everything: where GPUs or other processes do.
  virtual bool observe(SumObserver* observer) {
    static_cast<void>(observer);
    return false;
  }

  // The times of the latest step, once finish() has returned.
  virtual SumTimes times(std::size_t replica) const = 0;
};

// Tracks the buckets that a backward pass has filled and reports them to a reducer in order.
class BucketCountdown {
 public:
  // If `reducer` is null, nothing is reported.
  BucketCountdown(GradientReducer* reducer, std::size_t replica,
                  std::span<const GradientBucket> buckets);
  // Called at the beginning of a step.
  void reset();
  void gradient_ready(std::size_t parameter);
  // For a replica without images: reports all buckets at once.
  void all_ready();

 private:
  void announce();

  GradientReducer* const reducer_;
  const std::size_t replica_;
  const std::span<const GradientBucket> buckets_;
  std::vector<std::size_t> missing_;  // parameters, per bucket
  std::size_t next_ = 0;              // next bucket to announce
};

}  // namespace lab
