#include "compute/kernels/gemm/onednn_threads.h"

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "compute/machine/cpu_topology.h"

namespace lab {
namespace {

// Pins each OpenMP thread to its own core of the device, once. Otherwise the threads would inherit
// the affinity of a caller that is pinned to one core.
void place_openmp_threads(const std::vector<int>& cores) {
#pragma omp parallel num_threads(static_cast <int>(cores.size()))
  if (const int t = omp_get_thread_num(); t > 0) {
    thread_local int placed = -1;
    const int& core = cores[static_cast<std::size_t>(t)];
    if (placed != core) set_thread_affinity({&core, 1});
    placed = core;
  }
}

}  // namespace

void use_onednn_threads(const ThreadPool* pool, OnednnTeam team) {
  thread_local std::vector<int> placed;  // the cores of the calling thread's OpenMP threads
  const int threads = pool == nullptr ? 1 : pool->size();
  if (threads > 1 && (team == OnednnTeam::MayHaveChanged || placed != pool->cores())) {
    place_openmp_threads(pool->cores());
    placed = pool->cores();
  }
  set_onednn_threads(threads);
}

void set_onednn_threads(int threads) {
  omp_set_num_threads(threads);
}

// libgomp's threads spin only while there are no more of them than processors, so one more team for
// all processors, asleep, is enough. The caller may be pinned to one processor, so processors are
// counted without OpenMP.
struct QuietOnednnThreads::Crowd {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  std::jthread leader{[this](const std::stop_token& stop) {
    std::atomic<int> met = 0;  // a region without effect would be optimised away
#pragma omp parallel num_threads(static_cast <int>(sysconf(_SC_NPROCESSORS_ONLN)))
    ++met;
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
