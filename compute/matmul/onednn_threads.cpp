#include "compute/matmul/onednn_threads.h"

#include <omp.h>

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "compute/device/affinity.h"

namespace lab {
namespace {

// They would inherit the affinity of a caller that is pinned to one core, so each is put on its own
// core of the device.
void place_openmp_threads(const std::vector<int>& cores) {
#pragma omp parallel num_threads(static_cast <int>(cores.size()))
  if (const int t = omp_get_thread_num(); t > 0) {
    set_thread_affinity({&cores[static_cast<std::size_t>(t)], 1});
  }
}

}  // namespace

void use_onednn_threads(const ThreadPool* pool) {
  thread_local std::vector<int> placed;  // the cores of the calling thread's OpenMP threads
  const int threads = pool == nullptr ? 1 : pool->size();
  if (threads > 1 && placed != pool->cores()) {
    place_openmp_threads(pool->cores());
    placed = pool->cores();
  }
  set_onednn_threads(threads);
}

void set_onednn_threads(int threads) {
  omp_set_num_threads(threads);
}

// libgomp's threads wait awake only as long as there are no more of them than processors, so one
// more team for all processors, asleep, is enough.
struct QuietOnednnThreads::Crowd {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  std::jthread leader{[this](const std::stop_token& stop) {
#pragma omp parallel num_threads(omp_get_num_procs())
    {}
    std::unique_lock lock(mutex);
    ready = true;
    changed.notify_all();
    changed.wait(lock, stop, [] { return false; });
  }};
};

QuietOnednnThreads::QuietOnednnThreads() : crowd_(std::make_unique<Crowd>()) {
  std::unique_lock lock(crowd_->mutex);
  crowd_->changed.wait(lock, [&] { return crowd_->ready; });
}

QuietOnednnThreads::~QuietOnednnThreads() = default;

}  // namespace lab
