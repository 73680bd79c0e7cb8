#include "compute/machine/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/machine/cpu_topology.h"

namespace lab {
namespace {

// Threads stay awake for this long after a task, ready for the next fork, and then sleep.
constexpr std::chrono::microseconds kSpin{30};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Spins until done() or until kSpin has passed; returns whether done.
template <typename Done>
bool spin_until(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// Returns false if the core does not exist or is not allowed for this process.
bool pin_this_thread(int core) {
  return set_thread_affinity({&core, 1});
}

bool all_different(std::vector<int> cores) {
  std::sort(cores.begin(), cores.end());
  return std::adjacent_find(cores.begin(), cores.end()) == cores.end();
}

}  // namespace

// A fork increments `forks`; each worker that observes it runs the task and decrements `pending`;
// the last one wakes the caller. Waits on both counters spin first and then sleep.
struct ThreadPool::Impl {
  explicit Impl(std::vector<int> core_list)
      : cores(std::move(core_list)), spins(all_different(cores)) {}
  ~Impl();

  void worker(int thread);
  void call(int thread) noexcept;
  void join();
  bool own_thread(std::thread::id id) const;

  const std::vector<int> cores;
  const bool spins;  // false if threads share a core, where spinning would block them
  std::mutex callers;
  std::atomic<std::thread::id> caller{};
  const FunctionRef<void(int)>* task = nullptr;
  std::atomic<bool> failed = false;
  std::exception_ptr error;
  bool stopping = false;
  alignas(64) std::atomic<std::uint32_t> forks = 0;
  alignas(64) std::atomic<std::int32_t> pending = 0;
  std::vector<std::thread> workers;
};

ThreadPool::Impl::~Impl() {
  stopping = true;
  ++forks;
  forks.notify_all();
  for (std::thread& w : workers) w.join();
}

void ThreadPool::Impl::call(int thread) noexcept {
  try {
    (*task)(thread);
  } catch (...) {
    if (!failed.exchange(true)) error = std::current_exception();
  }
}

void ThreadPool::Impl::worker(int thread) {
  pin_this_thread(cores[static_cast<std::size_t>(thread)]);
  std::uint32_t seen = 0;
  while (true) {
    const auto forked = [&] { return forks.load(std::memory_order_acquire) != seen; };
    if (!spins || !spin_until(forked)) {
      while (!forked()) forks.wait(seen);
    }
    ++seen;
    if (stopping) return;
    call(thread);
    if (pending.fetch_sub(1) == 1) pending.notify_one();
  }
}

void ThreadPool::Impl::join() {
  const auto joined = [this] { return pending.load(std::memory_order_acquire) == 0; };
  if (spins && spin_until(joined)) return;
  for (std::int32_t left = pending.load(); left != 0; left = pending.load()) pending.wait(left);
}

bool ThreadPool::Impl::own_thread(std::thread::id id) const {
  return caller.load() == id || std::any_of(workers.begin(), workers.end(),
                                            [id](const auto& w) { return w.get_id() == id; });
}

ThreadPool::ThreadPool(std::vector<int> cores) {
  if (cores.empty()) {
    throw Error(Errc::InvalidArgument, tr("thread pool: no cores given; pass at least one"));
  }
  impl_ = std::make_unique<Impl>(std::move(cores));
  impl_->workers.reserve(impl_->cores.size() - 1);
  for (int t = 1; t < size(); ++t) {
    impl_->workers.emplace_back([impl = impl_.get(), t] { impl->worker(t); });
  }
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::size() const {
  return static_cast<int>(impl_->cores.size());
}

const std::vector<int>& ThreadPool::cores() const {
  return impl_->cores;
}

void ThreadPool::run(FunctionRef<void(int thread)> task) {
  Impl& pool = *impl_;
  const std::thread::id self = std::this_thread::get_id();
  if (pool.caller.load() != std::thread::id{} && pool.own_thread(self)) {
    throw Error(
        Errc::Internal,
        tr("thread pool: run() was called from one of the pool's own tasks; call it outside "
           "them"));
  }
  const std::lock_guard lock(pool.callers);
  pool.caller = self;
  pool.task = &task;
  if (!pool.workers.empty()) {
    pool.pending.store(static_cast<std::int32_t>(pool.workers.size()));
    ++pool.forks;
    pool.forks.notify_all();
  }
  pool.call(0);
  pool.join();
  pool.task = nullptr;
  pool.caller = std::thread::id{};
  if (pool.failed.exchange(false)) std::rethrow_exception(std::exchange(pool.error, nullptr));
}

void ThreadPool::parallel_for(std::int64_t n, std::int64_t grain,
                              FunctionRef<void(std::int64_t begin, std::int64_t end)> body) {
  if (n <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (n / 2 < grain || size() == 1) return body(0, n);
  const std::int64_t grains = (n + grain - 1) / grain;
  run([&](int t) {
    const std::int64_t begin = grains * t / size() * grain;
    const std::int64_t end = std::min(n, grains * (t + 1) / size() * grain);
    if (begin < end) body(begin, end);
  });
}

ThreadPool::Guard::Guard(const ThreadPool& pool) : before_(thread_affinity()) {
  pinned_ = !before_.empty() && pin_this_thread(pool.cores().front());
}

ThreadPool::Guard::~Guard() {
  if (pinned_) set_thread_affinity(before_);
}

}  // namespace lab
