#pragma once
// What the trainer's files share beside its own header.
#include "compute/train/trainer.h"

namespace lab {

// A replica's part in the reduction, and its latest step.
struct Trainer::Local {
  Local(GradientReducer* reducer, std::size_t replica, std::span<const GradientBucket> buckets)
      : countdown(reducer, replica, buckets) {}
  BucketCountdown countdown;
  ReplicaStep report;
};

// A device's images of a test set, and what it found there.
struct Trainer::TestPart {
  std::int64_t begin = 0, end = 0;
  double loss_sum = 0;
};

}  // namespace lab
