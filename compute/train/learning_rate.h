#pragma once
// The learning rate of every step: constant, scaled with the batch, risen to in a warm-up.
#include <cstdint>

#include "compute/core/events/command.h"

namespace lab {

// The batch that the chapters' learning rates belong to.
inline constexpr std::int64_t kReferenceBatch = 256;

class LearningRate {
 public:
  // `request` is complete: lr is set.
  LearningRate(const StartTraining& request, std::int64_t steps_per_epoch);

  // Of the step's update; `step` counts from 0 over all epochs. In the warm-up it rises linearly to
  // peak(): from the unscaled rate when scaling raises it, else from 0.
  double at(std::int64_t step) const;
  double peak() const { return peak_; }

 private:
  double start_ = 0, peak_ = 0;
  double warmup_steps_ = 0;
};

}  // namespace lab
