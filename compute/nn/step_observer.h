#pragma once
// Who wants to know where the time of a training step goes.
#include <chrono>
#include <cstddef>

#include "compute/core/events/training_profile.h"

namespace lab::nn {

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // A phase, or in Forward and Backward the network's operation number `op`, took so long. Called
  // on the thread that drives the network; what it does itself is not timed.
  virtual void done(StepPhase phase, std::size_t op, double seconds) = 0;
};

// Does the work, timed when somebody wants to know.
template <typename Work>
void observed(StepObserver* observer, StepPhase phase, std::size_t op, const Work& work) {
  if (observer == nullptr) {
    work();
    return;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  work();
  observer->done(phase, op, std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace lab::nn
