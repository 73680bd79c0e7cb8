#pragma once
// Pauses between polls of another process or of a GPU.
#include <algorithm>
#include <chrono>
#include <thread>

namespace lab {

// Early polls follow each other closely, with a yield in between because ranks may share cores.
// Later pauses sleep for half a percent of the time waited so far: cheap for long waits, and late
// by no more than that.
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
