#pragma once
// Sums the gradients of all replicas, bucket by bucket, while backward still runs. The one place
// that knows how devices and processes reach each other: whoever trains sees this interface alone.
//
// A step, on the job's thread:           begin_step()
// then on each replica's own thread:     ready(0) progress() ready(1) progress() ... finish()
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>

namespace lab {

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

}  // namespace lab
