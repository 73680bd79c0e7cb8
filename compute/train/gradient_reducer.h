#pragma once
// How gradients are summed over devices and processes: in which buckets, when, and by whom.
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

// What nothing can hide, since backward ends when it is full.
inline constexpr std::int64_t kLastBucketBytes = std::int64_t{1} << 20;

// In the order in which backward fills them: last parameters first, each bucket of at most
// `bucket_bytes`, a larger parameter by itself; the last one of at most `last_bytes`. `offsets`:
// where the parameters begin in the flat array, ascending from 0, and behind them its end.
// Source  Li et al., "PyTorch Distributed", VLDB 2020, for buckets in reverse order
std::vector<GradientBucket> plan_buckets(std::span<const std::int64_t> offsets,
                                         std::int64_t bucket_bytes,
                                         std::int64_t last_bytes = kLastBucketBytes);

// Sums the gradients of all replicas, bucket by bucket, while backward still runs. The only
// interface to other devices and processes that training uses.
//
// A step, on the job's thread:           begin_step()
// then on each replica's own thread:     ready(0) progress() ready(1) progress() ... finish()
class GradientReducer {
 public:
  virtual ~GradientReducer() = default;

  // Before any replica starts. A replica without images counts as zeros, whatever its gradients
  // hold; it takes part nevertheless.
  virtual void begin_step(std::span<const std::int64_t> images) = 0;
  // The replica's gradients of this bucket are final. Buckets become ready in their order.
  virtual void ready(std::size_t replica, std::size_t bucket) = 0;
  // Does what is due, if anything is; never waits for another replica.
  virtual void progress(std::size_t replica) = 0;
  // Returns when this replica's gradients are the sums, the same bits at every replica. Throws
  // Error(Cancelled) once `stop` is requested, and what another process announces.
  virtual void finish(std::size_t replica, std::stop_token stop) = 0;

  // Seconds since begin_step() that this replica spent working on sums: not waiting for them.
  virtual double work_s(std::size_t replica) const = 0;
};

// Reports to a reducer, in the order of the buckets, which of them a backward pass has filled.
class BucketCountdown {
 public:
  // `reducer` may be null: then nothing is reported.
  BucketCountdown(GradientReducer* reducer, std::size_t replica,
                  std::span<const GradientBucket> buckets);
  // At the beginning of a step.
  void reset();
  void gradient_ready(std::size_t parameter);
  // Without images: all at once.
  void all_ready();

 private:
  void announce();

  GradientReducer* const reducer_;
  const std::size_t replica_;
  const std::span<const GradientBucket> buckets_;
  std::vector<std::size_t> missing_;  // parameters, by bucket
  std::size_t next_ = 0;              // bucket to announce
};

}  // namespace lab
