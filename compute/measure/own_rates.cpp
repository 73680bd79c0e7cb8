#include "compute/measure/own_rates.h"

#include <atomic>
#include <thread>
#include <vector>

#include "compute/measure/measure.h"

namespace lab {
namespace {

// The common start of several threads.
class StartingLine {
 public:
  explicit StartingLine(int threads) : missing_(threads) {}

  // Waits until all threads have called this; returns the time at which the last one did. Threads
  // may have to share a core, so a long wait gives it away.
  double meet() {
    constexpr int kSpins = 10'000;  // at least 100 us
    if (--missing_ == 0) start_s_.store(monotonic_s(), std::memory_order_release);
    double start_s = 0;
    for (int i = 0; start_s == 0; ++i) {
      if (i < kSpins) {
        spin_pause();
      } else {
        std::this_thread::yield();
      }
      start_s = start_s_.load(std::memory_order_acquire);
    }
    return start_s;
  }

 private:
  std::atomic<int> missing_;
  std::atomic<double> start_s_ = 0;
};

}  // namespace

double seconds_at_own_rates(std::span<const double> seconds) {
  double rate = 0;
  for (const double s : seconds) rate += 1 / s;
  return seconds.empty() ? 0 : static_cast<double>(seconds.size()) / rate;
}

double time_at_own_rates(ThreadPool& pool, FunctionRef<void(int thread)> work,
                         FunctionRef<void(int thread)> go_on) {
  // Counts a thread also if its work throws: the others would wait for it forever.
  struct Finish {
    std::atomic<int>& finished;
    ~Finish() { ++finished; }
  };
  const int threads = pool.size();
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  StartingLine line(threads);
  std::atomic<int> finished = 0;
  pool.run([&](int thread) {
    const double start_s = line.meet();
    {
      const Finish finish{finished};
      work(thread);
      seconds[static_cast<std::size_t>(thread)] = monotonic_s() - start_s;
    }
    while (finished.load(std::memory_order_relaxed) < threads) go_on(thread);
  });
  return seconds_at_own_rates(seconds);
}

}  // namespace lab
