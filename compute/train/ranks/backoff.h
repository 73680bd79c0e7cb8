#pragma once
// Pauses between two looks at something that another process will do.
#include <chrono>

namespace lab {

// At first the looks follow each other closely, with a yield between them because ranks may share
// cores. Then come sleeps of half a percent of the time waited so far: cheap however long it
// takes, and late by no more than that.
class Backoff {
 public:
  void pause();

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace lab
