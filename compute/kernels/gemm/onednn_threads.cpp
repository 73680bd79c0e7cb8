#include "compute/kernels/gemm/onednn_threads.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <stop_token>
#include <thread>
#include <vector>

#include "compute/machine/cpu_topology.h"

// libgomp's own entry points: with `#pragma omp`, Clang would bring its own OpenMP runtime, whose
// threads are not those that Debian's oneDNN computes on.
extern "C" {
void GOMP_parallel(void (*part)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_thread_num();
void omp_set_num_threads(int threads);
}

namespace lab {
namespace {

// Calls `part` on `threads` OpenMP threads of the caller, itself included, and waits for all.
template <typename Part>
void run_team(int threads, Part part) {
  GOMP_parallel([](void* data) { (*static_cast<Part*>(data))(); }, &part,
                static_cast<unsigned>(threads), 0);
}

// Pins each OpenMP thread to its own core of the device, once. Otherwise the threads would inherit
// the affinity of a caller that is pinned to one core.
void place_openmp_threads(const std::vector<int>& cores) {
  run_team(static_cast<int>(cores.size()), [&] {
    const int t = omp_get_thread_num();
    if (t == 0) return;
    thread_local int placed = -1;
    const int& core = cores[static_cast<std::size_t>(t)];
    if (placed != core) set_thread_affinity({&core, 1});
    placed = core;
  });
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
// all processors that this process may use, asleep, is enough. The caller may be pinned to one
// processor, so the team's thread first takes all that the system lets it have.
struct QuietOnednnThreads::IdleTeam {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  std::jthread leader{[this](const std::stop_token& stop) {
    std::vector<int> all(static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_CONF)));
    std::iota(all.begin(), all.end(), 0);
    set_thread_affinity(all);
    run_team(static_cast<int>(std::max<std::size_t>(1, thread_affinity().size())), [] {});
    std::unique_lock lock(mutex);
    ready = true;
    changed.notify_all();
    changed.wait(lock, stop, [] { return false; });
  }};
};

QuietOnednnThreads::QuietOnednnThreads() : idle_team_(std::make_unique<IdleTeam>()) {
  std::unique_lock lock(idle_team_->mutex);
  idle_team_->changed.wait(lock, [&] { return idle_team_->ready; });
}

QuietOnednnThreads::~QuietOnednnThreads() = default;

}  // namespace lab
