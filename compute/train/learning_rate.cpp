#include "compute/train/learning_rate.h"

namespace lab {

LearningRate::LearningRate(const StartTraining& request, std::int64_t steps_per_epoch) {
  const double rate = *request.lr;
  peak_ = rate;
  if (request.lr_scale == LrScale::Linear) {
    peak_ = rate * static_cast<double>(request.batch) / static_cast<double>(kReferenceBatch);
  }
  start_ = peak_ > rate ? rate : 0;
  warmup_steps_ = request.warmup_epochs * static_cast<double>(steps_per_epoch);
}

// The first step already makes a part of the way: a rate of 0 would be a step for nothing.
double LearningRate::at(std::int64_t step) const {
  const double done = static_cast<double>(step) + 1;
  if (!(done < warmup_steps_)) return peak_;
  return start_ + (peak_ - start_) * (done / warmup_steps_);
}

}  // namespace lab
