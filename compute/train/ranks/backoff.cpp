#include "compute/train/ranks/backoff.h"

#include <algorithm>
#include <thread>

namespace lab {

void Backoff::pause() {
  using std::chrono::microseconds;
  const auto waited = Clock::now() - begin_;
  if (waited < microseconds(100)) {
    std::this_thread::yield();
    return;
  }
  std::this_thread::sleep_for(
      std::clamp<Clock::duration>(waited / 200, microseconds(20), microseconds(20'000)));
}

}  // namespace lab
