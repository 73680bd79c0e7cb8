#pragma once
// Pauses between two looks at something that another process will do.
#include <algorithm>
#include <chrono>
#include <thread>

namespace lab {

// At first the looks follow each other closely, with a yield between them because ranks may share
// cores. Then come sleeps of half a percent of the time waited so far: cheap however long it
// takes, and late by no more than that.
class Backoff {
 public:
  void pause() {
    using std::chrono::microseconds;
    const auto waited = Clock::now() - begin_;
    if (waited < microseconds(100)) {
      std::this_thread::yield();
      return;
    }
    std::this_thread::sleep_for(
        std::clamp<Clock::duration>(waited / 200, microseconds(20), microseconds(20'000)));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace lab
