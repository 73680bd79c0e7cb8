#include "compute/machine/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/machine/cpu_topology.h"
#include "compute/machine/movable_thread.h"

namespace lab {
namespace {

// Threads stay awake for this long after a task, ready for the next fork, and then sleep.
constexpr std::chrono::microseconds kSpin{30};

// Spins until done() or until `most` has passed; returns whether done.
template <typename Done>
bool spin_until(Done done, std::chrono::microseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      spin_pause();
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

// A fork opens the gate and increments `forks`. A worker that sees the gate open enters, takes
// parts until none is left, and leaves. The caller takes parts too, closes the gate, and waits
// until all workers have left; a worker that has not entered by then is not waited for. In run(),
// each thread has one part that no other takes, and the caller waits for all parts before it closes
// the gate. A thread without work spins, then lends its core to a blocked thread, then sleeps.
struct ThreadPool::Impl {
  // The parts of one fork that a thread has yet to begin. Its owner takes them from the front,
  // others from the back.
  class PartRange {
   public:
    void set(std::int64_t begin, std::int64_t end) { range_.store(packed(begin, end)); }
    std::int64_t left() const {
      const std::uint64_t range = range_.load(std::memory_order_relaxed);
      return end_of(range) - begin_of(range);
    }
    // Both return -1 if no part is left.
    std::int64_t take_first() {
      return take([](std::uint64_t r) { return packed(begin_of(r) + 1, end_of(r)); }, begin_of);
    }
    std::int64_t take_last() {
      return take([](std::uint64_t r) { return packed(begin_of(r), end_of(r) - 1); },
                  [](std::uint64_t r) { return end_of(r) - 1; });
    }

   private:
    static std::uint64_t packed(std::int64_t begin, std::int64_t end) {
      return static_cast<std::uint64_t>(end) << 32 | static_cast<std::uint64_t>(begin);
    }
    static std::int64_t begin_of(std::uint64_t range) {
      return static_cast<std::int64_t>(range & 0xffffffff);
    }
    static std::int64_t end_of(std::uint64_t range) {
      return static_cast<std::int64_t>(range >> 32);
    }

    template <typename Rest, typename Taken>
    std::int64_t take(Rest rest, Taken taken) {
      std::uint64_t range = range_.load(std::memory_order_relaxed);
      do {
        if (begin_of(range) >= end_of(range)) return -1;
      } while (!range_.compare_exchange_weak(range, rest(range), std::memory_order_relaxed));
      return taken(range);
    }

    alignas(64) std::atomic<std::uint64_t> range_ = 0;
  };

  using Begin = FunctionRef<void(int thread)>;
  using Task = FunctionRef<void(std::int64_t part, int thread)>;

  explicit Impl(std::vector<int> core_list);
  ~Impl();

  void fork(std::int64_t parts, bool everyone, const Begin* begin, const Task& of_parts);
  void worker(int thread);
  bool enter();
  void leave();
  void take_parts(int thread) noexcept;
  std::int64_t steal(int thread);
  void call(std::int64_t part, int thread, bool first) noexcept;
  void wait_for_zero(const std::atomic<std::uint32_t>& counter);
  template <typename Over>
  bool help_a_blocked_thread(int helper, const Over& over);
  void take_back_cores();
  bool own_thread(std::thread::id id) const;

  const std::vector<int> cores;
  const bool spins;  // false if threads share a core, where spinning would block them
  std::mutex callers;
  std::atomic<std::thread::id> caller{};
  const Begin* begin_thread = nullptr;  // null: nothing to prepare
  const Task* task = nullptr;
  bool for_everyone = false;  // run(): each thread calls the task once
  std::atomic<bool> failed = false;
  std::exception_ptr error;
  std::atomic<bool> stopping = false;
  std::vector<PartRange> ranges;  // of the threads
  // Threads, and which of them are working on a fork.
  std::vector<MovableThread> movable;
  std::vector<std::atomic<bool>> working;
  std::mutex moving;                     // guards `movable` and `moved`
  bool moved = false;                    // at least one thread
  std::atomic<bool> watching = false;    // one thread at a time looks for blocked ones
  std::vector<std::int64_t> watched_ns;  // CPU time of the threads; of the watching thread
  alignas(64) std::atomic<std::uint32_t> forks = 0;
  static constexpr std::uint32_t kOpen = 1U << 31;
  alignas(64) std::atomic<std::uint32_t> gate = 0;     // kOpen, or 0, + workers inside
  alignas(64) std::atomic<std::uint32_t> missing = 0;  // run(): parts that have not returned
  std::vector<std::thread> workers;
};

ThreadPool::Impl::Impl(std::vector<int> core_list)
    : cores(std::move(core_list)),
      spins(all_different(cores)),
      ranges(cores.size()),
      movable(cores.size()),
      working(cores.size()),
      watched_ns(cores.size()) {
  workers.reserve(cores.size() - 1);
  for (int t = 1; t < static_cast<int>(cores.size()); ++t) {
    workers.emplace_back([this, t] { worker(t); });
  }
}

ThreadPool::Impl::~Impl() {
  stopping = true;
  ++forks;
  forks.notify_all();
  for (std::thread& w : workers) w.join();
}

bool ThreadPool::Impl::enter() {
  std::uint32_t inside = gate.load();
  while ((inside & kOpen) != 0) {
    if (gate.compare_exchange_weak(inside, inside + 1)) return true;
  }
  return false;
}

void ThreadPool::Impl::leave() {
  if ((gate.fetch_sub(1) & kOpen) == 0) gate.notify_one();
}

void ThreadPool::Impl::call(std::int64_t part, int thread, bool first) noexcept {
  try {
    if (first && begin_thread != nullptr) (*begin_thread)(thread);
    (*task)(part, thread);
  } catch (...) {
    if (!failed.exchange(true)) error = std::current_exception();
  }
  if (for_everyone) {
    --missing;
    missing.notify_one();
  }
}

// Returns the last part of the thread that has the most left, -1 if there is none.
std::int64_t ThreadPool::Impl::steal(int thread) {
  while (true) {
    std::size_t victim = 0;
    std::int64_t most = 0;
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      const std::size_t other = (static_cast<std::size_t>(thread) + i) % ranges.size();
      if (const std::int64_t left = ranges[other].left(); left > most) {
        victim = other;
        most = left;
      }
    }
    if (most == 0) return -1;
    if (const std::int64_t part = ranges[victim].take_last(); part >= 0) return part;
  }
}

void ThreadPool::Impl::take_parts(int thread) noexcept {
  std::atomic<bool>& at_work = working[static_cast<std::size_t>(thread)];
  PartRange& own = ranges[static_cast<std::size_t>(thread)];
  at_work = true;
  if (for_everyone) {
    if (const std::int64_t part = own.take_first(); part >= 0) call(part, thread, /*first=*/true);
  } else {
    for (bool first = true; !failed.load(std::memory_order_relaxed); first = false) {
      std::int64_t part = own.take_first();
      if (part < 0) part = steal(thread);
      if (part < 0) break;
      call(part, thread, first);
    }
  }
  at_work = false;
}

// Lets a thread that is working on the fork but does not get to run use the core of the calling
// thread, which is about to sleep: other programs' time slices are as long as several forks. Gives
// up when over(). Returns whether the core is lent.
template <typename Over>
bool ThreadPool::Impl::help_a_blocked_thread(int helper, const Over& over) {
  constexpr std::chrono::microseconds kWatched{10};
  constexpr std::int64_t kBlocked_ns = 2000;  // of CPU time
  if (watching.exchange(true, std::memory_order_acquire)) return false;
  bool any = false, lent = false;
  {
    const std::lock_guard lock(moving);
    for (std::size_t t = 0; t < movable.size(); ++t) {
      const bool candidate = static_cast<int>(t) != helper && working[t] && !movable[t].moved();
      watched_ns[t] = candidate ? movable[t].cpu_ns() : -1;
      any = any || candidate;
    }
  }
  if (any && !spin_until(over, kWatched)) {  // without the lock, for which a caller would wait
    const std::lock_guard lock(moving);
    for (std::size_t t = 0; t < movable.size() && !lent && !over(); ++t) {
      if (watched_ns[t] < 0 || !working[t]) continue;
      if (movable[t].cpu_ns() - watched_ns[t] > kBlocked_ns) continue;
      movable[t].move_here();
      lent = moved = true;
    }
  }
  watching.store(false, std::memory_order_release);
  return lent;
}

// Returns moved threads to their own cores; none is working.
void ThreadPool::Impl::take_back_cores() {
  const std::lock_guard lock(moving);
  if (!std::exchange(moved, false)) return;
  for (MovableThread& thread : movable) thread.move_back();
}

void ThreadPool::Impl::worker(int thread) {
  pin_this_thread(cores[static_cast<std::size_t>(thread)]);
  {
    const std::lock_guard lock(moving);
    movable[static_cast<std::size_t>(thread)].attach();
  }
  std::uint32_t seen = 0;
  while (true) {
    const auto forked = [&] { return forks.load(std::memory_order_acquire) != seen; };
    if (!spins || !spin_until(forked, kSpin)) {
      if (spins && seen != 0) help_a_blocked_thread(thread, forked);
      while (!forked()) forks.wait(seen);
    }
    seen = forks.load();
    if (stopping) return;
    if (!enter()) continue;
    take_parts(thread);
    leave();
  }
}

void ThreadPool::Impl::wait_for_zero(const std::atomic<std::uint32_t>& counter) {
  const auto zero = [&] { return counter.load(std::memory_order_acquire) == 0; };
  bool lent = false;  // then spinning would keep the other thread from running
  while (lent || !spins || !spin_until(zero, kSpin)) {
    if (spins && !lent) lent = help_a_blocked_thread(0, zero);
    const std::uint32_t left = counter.load();
    if (left == 0) return;
    counter.wait(left);
  }
}

bool ThreadPool::Impl::own_thread(std::thread::id id) const {
  return caller.load() == id || std::any_of(workers.begin(), workers.end(),
                                            [id](const auto& w) { return w.get_id() == id; });
}

void ThreadPool::Impl::fork(std::int64_t parts, bool everyone, const Begin* begin,
                            const Task& of_parts) {
  const std::thread::id self = std::this_thread::get_id();
  if (caller.load() != std::thread::id{} && own_thread(self)) {
    throw Error(Errc::Internal,
                tr("thread pool: run() was called from one of the pool's own tasks; call it "
                   "outside them"));
  }
  const std::lock_guard lock(callers);
  caller = self;
  begin_thread = begin;
  task = &of_parts;
  for_everyone = everyone;
  const auto threads = static_cast<std::int64_t>(ranges.size());
  for (std::int64_t t = 0; t < threads; ++t) {
    // Rounded up, so that the caller, which is there first, has a part.
    ranges[static_cast<std::size_t>(t)].set((parts * t + threads - 1) / threads,
                                            (parts * (t + 1) + threads - 1) / threads);
  }
  if (everyone) missing = static_cast<std::uint32_t>(parts);
  if (!workers.empty() && parts > 1) {
    gate = kOpen;
    ++forks;
    forks.notify_all();
  }
  if (!movable[0].is_caller()) {
    const std::lock_guard moving_lock(moving);
    movable[0].attach();
  }
  take_parts(0);
  if (everyone) wait_for_zero(missing);
  gate.fetch_and(~kOpen);
  wait_for_zero(gate);
  if (!workers.empty()) take_back_cores();
  task = nullptr;
  caller = std::thread::id{};
  if (failed.exchange(false)) std::rethrow_exception(std::exchange(error, nullptr));
}

ThreadPool::ThreadPool(std::vector<int> cores) {
  if (cores.empty()) {
    throw Error(Errc::InvalidArgument, tr("thread pool: no cores given; pass at least one"));
  }
  impl_ = std::make_unique<Impl>(std::move(cores));
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::size() const {
  return static_cast<int>(impl_->cores.size());
}

const std::vector<int>& ThreadPool::cores() const {
  return impl_->cores;
}

void ThreadPool::run(FunctionRef<void(int thread)> task) {
  impl_->fork(size(), /*everyone=*/true, /*begin=*/nullptr,
              [&](std::int64_t /*part*/, int thread) { task(thread); });
}

void ThreadPool::run_parts(std::int64_t parts,
                           FunctionRef<void(std::int64_t part, int thread)> task) {
  if (parts > 0) impl_->fork(parts, /*everyone=*/false, /*begin=*/nullptr, task);
}

void ThreadPool::run_parts(std::int64_t parts, FunctionRef<void(int thread)> begin,
                           FunctionRef<void(std::int64_t part, int thread)> task) {
  if (parts > 0) impl_->fork(parts, /*everyone=*/false, &begin, task);
}

void ThreadPool::parallel_for(std::int64_t n, std::int64_t grain,
                              FunctionRef<void(std::int64_t begin, std::int64_t end)> body) {
  constexpr std::int64_t kPiecesPerThread = 4;
  if (n <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (n / 2 < grain || size() == 1) return body(0, n);
  const std::int64_t grains = (n + grain - 1) / grain;
  const std::int64_t pieces = std::min(grains, kPiecesPerThread * size());
  run_parts(pieces, [&](std::int64_t piece, int /*thread*/) {
    const std::int64_t begin = grains * piece / pieces * grain;
    const std::int64_t end = std::min(n, grains * (piece + 1) / pieces * grain);
    body(begin, end);
  });
}

ThreadPool::Guard::Guard(const ThreadPool& pool) : before_(thread_affinity()) {
  pinned_ = !before_.empty() && pin_this_thread(pool.cores().front());
}

ThreadPool::Guard::~Guard() {
  if (pinned_) set_thread_affinity(before_);
}

}  // namespace lab
