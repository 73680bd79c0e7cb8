#include "compute/machine/thread_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/machine/cpu_topology.h"
#include "compute/machine/futex.h"
#include "compute/machine/movable_thread.h"
#include "compute/machine/simd_level.h"

namespace lab {
namespace {

// Threads stay awake for this long after a task, ready for the next fork, and then sleep.
constexpr std::chrono::microseconds kSpin{30};
// How long a thread that waits for the others sleeps before it looks again whether one of them is
// blocked: first, and at most.
constexpr std::chrono::microseconds kFirstNap{200}, kLongestNap{3200};

// Spins until done() or until `most` has passed; returns whether done.
template <typename Done>
bool spin_until(Done done, std::chrono::microseconds most) {
  if (done()) return true;
  const auto end = std::chrono::steady_clock::now() + most;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      spin_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// The lengths of consecutive naps.
class Nap {
 public:
  std::optional<std::chrono::microseconds> length() const { return length_; }
  void lengthen() { length_ = std::min(2 * length_, kLongestNap); }

 private:
  std::chrono::microseconds length_ = kFirstNap;
};

// Returns false if the core does not exist or is not allowed for this process.
bool pin_this_thread(int core) {
  return set_thread_affinity({&core, 1});
}

bool all_different(std::vector<int> cores) {
  std::sort(cores.begin(), cores.end());
  return std::adjacent_find(cores.begin(), cores.end()) == cores.end();
}

}  // namespace

// A fork publishes the task, then the parts of each thread, and increments `forks`. Threads take
// parts until none is left; the workers add what they did to `finished`, and the caller waits for
// all parts. A worker that has taken none by then is not waited for: whatever it takes later
// belongs to a later fork, whose task was published before. A thread without work spins, then lends
// its core to a blocked thread, then sleeps; while others work, it wakes now and then to look for
// one that has become blocked.
//
// Reading a cache line that another core has written takes 40 to 200 ns. Data that are written
// together therefore share a line, and a fork moves few lines between cores.
struct ThreadPool::Impl {
  static constexpr std::size_t kLine_bytes = 64;
  static constexpr std::int64_t kMostParts = std::numeric_limits<std::int32_t>::max();

  // The parts of one fork that a thread has yet to begin. Its owner takes them from the front,
  // others from the back unless the range is reserved.
  class PartRange {
   public:
    void set(std::int64_t begin, std::int64_t end, bool reserved) {
      range_.store(packed(begin, end) | (reserved ? kReserved : 0), std::memory_order_release);
    }
    std::int64_t left_to_others() const {
      const std::uint64_t range = range_.load(std::memory_order_relaxed);
      return (range & kReserved) != 0 ? 0 : end_of(range) - begin_of(range);
    }
    // Both return -1 if no part is left. The task was published before the part that they return.
    std::int64_t take_first() {
      return take([](std::uint64_t r) { return begin_of(r) < end_of(r); },
                  [](std::uint64_t r) { return r + 1; }, begin_of);
    }
    std::int64_t take_last() {
      return take([](std::uint64_t r) { return (r & kReserved) == 0 && begin_of(r) < end_of(r); },
                  [](std::uint64_t r) { return packed(begin_of(r), end_of(r) - 1); },
                  [](std::uint64_t r) { return end_of(r) - 1; });
    }

   private:
    static constexpr std::uint64_t kReserved = std::uint64_t{1} << 63;
    static std::uint64_t packed(std::int64_t begin, std::int64_t end) {
      return static_cast<std::uint64_t>(end) << 32 | static_cast<std::uint64_t>(begin);
    }
    static std::int64_t begin_of(std::uint64_t range) {
      return static_cast<std::int64_t>(range & 0xffffffff);
    }
    static std::int64_t end_of(std::uint64_t range) {
      return static_cast<std::int64_t>((range & ~kReserved) >> 32);
    }

    template <typename Any, typename Rest, typename Taken>
    std::int64_t take(Any any, Rest rest, Taken taken) {
      std::uint64_t range = range_.load(std::memory_order_relaxed);
      do {
        if (!any(range)) return -1;
      } while (!range_.compare_exchange_weak(range, rest(range), std::memory_order_acquire,
                                             std::memory_order_relaxed));
      return taken(range);
    }

    std::atomic<std::uint64_t> range_ = 0;
  };

  struct alignas(kLine_bytes) Thread {
    PartRange parts;
    std::atomic<bool> working = false;  // taking parts
    std::uint64_t begun = 0;            // the last fork for which it called `begin`
  };

  using Begin = FunctionRef<void(int thread)>;
  using Task = FunctionRef<void(std::int64_t part, int thread)>;

  explicit Impl(std::vector<int> core_list);
  ~Impl();

  void join_workers();
  void reject_own_tasks() const;
  void fork(std::int64_t parts, bool everyone, const Begin* begin, const Task& of_parts);
  void run(std::int64_t parts, bool everyone, const Begin* begin, const Task& of_parts);
  void worker(int thread);
  template <typename Report>
  void take_parts(int thread, const Report& report) noexcept;
  std::int64_t steal(int thread);
  void call(std::int64_t part, int thread) noexcept;
  void wait_until_finished(std::uint32_t parts);
  bool any_working() const;
  template <typename Over>
  bool help_a_blocked_thread(int helper, const Over& over);
  void take_back_cores();
  double time_handing_out(std::chrono::microseconds patience);
  bool own_thread(std::thread::id id) const;
  Thread& at(int thread) { return threads[static_cast<std::size_t>(thread)]; }

  const std::vector<int> cores;
  const bool spins;  // false if threads share a core, where spinning would block them
  std::vector<Thread> threads;
  std::vector<std::thread> workers;
  std::atomic<bool> stopping = false;
  std::atomic<bool> failed = false;
  std::exception_ptr error;
  // Written by the caller; workers only read `caller`, to reject nested forks.
  alignas(kLine_bytes) std::mutex callers;
  std::atomic<std::thread::id> caller{};
  std::atomic<std::uint32_t> asked = 0;   // see ThreadPool::handing_out_s()
  std::atomic<double> handing_out_s = 0;  // as last measured
  // For help_a_blocked_thread().
  alignas(kLine_bytes) std::vector<MovableThread> movable;
  std::mutex moving;                        // guards `movable` and `moved`
  bool moved = false;                       // at least one thread
  std::atomic<bool> watching = false;       // one thread at a time looks for blocked ones
  std::vector<std::int64_t> watched_ns;     // CPU time of the threads; of the watching thread
  std::atomic<std::uint32_t> sleepers = 0;  // workers that wait to be notified of a fork
  // What a worker reads when it sees a fork.
  alignas(kLine_bytes) std::atomic<std::uint32_t> forks = 0;
  bool for_everyone = false;  // run(): each thread calls the task once
  Task task{no_task};
  const Begin* begin_thread = nullptr;  // null: nothing to prepare
  std::uint64_t number = 0;             // of the fork
  // Parts that workers have finished, since the pool began.
  alignas(kLine_bytes) std::atomic<std::uint32_t> finished = 0;
  std::atomic<bool> caller_sleeps = false;  // and waits to be notified of `finished`

  static constexpr auto no_task = [](std::int64_t, int) {};
};

ThreadPool::Impl::Impl(std::vector<int> core_list)
    : cores(std::move(core_list)),
      spins(all_different(cores)),
      threads(cores.size()),
      movable(cores.size()),
      watched_ns(cores.size()) {
  workers.reserve(cores.size() - 1);
  try {
    for (int t = 1; t < static_cast<int>(cores.size()); ++t) {
      workers.emplace_back([this, t] { worker(t); });
    }
  } catch (...) {  // the system refuses one more
    join_workers();
    throw;
  }
}

ThreadPool::Impl::~Impl() {
  join_workers();
}

void ThreadPool::Impl::join_workers() {
  stopping = true;
  ++forks;
  futex_wake_all(forks);
  for (std::thread& w : workers) w.join();
}

// A part that is left out after an error counts as called.
void ThreadPool::Impl::call(std::int64_t part, int thread) noexcept {
  if (!for_everyone && failed.load(std::memory_order_relaxed)) return;
  try {
    if (begin_thread != nullptr && std::exchange(at(thread).begun, number) != number) {
      (*begin_thread)(thread);
    }
    clear_upper_halves();
    task(part, thread);
  } catch (...) {
    if (!failed.exchange(true)) error = std::current_exception();
  }
}

// Returns the last part of the thread that has the most left, -1 if there is none.
std::int64_t ThreadPool::Impl::steal(int thread) {
  while (true) {
    int victim = 0;
    std::int64_t most = 0;
    const int n = static_cast<int>(threads.size());
    for (int i = 1; i < n; ++i) {
      const int other = (thread + i) % n;
      if (const std::int64_t left = at(other).parts.left_to_others(); left > most) {
        victim = other;
        most = left;
      }
    }
    if (most == 0) return -1;
    if (const std::int64_t part = at(victim).parts.take_last(); part >= 0) return part;
  }
}

// Calls report(n) after n parts. Until then the fork cannot end.
template <typename Report>
void ThreadPool::Impl::take_parts(int thread, const Report& report) noexcept {
  Thread& own = at(thread);
  const auto take_all = [&](const auto& next) {
    std::uint32_t taken = 0;
    for (std::int64_t part = next(); part >= 0; part = next()) {
      if (taken++ == 0) own.working.store(true, std::memory_order_relaxed);
      call(part, thread);
    }
    if (taken == 0) return;
    own.working.store(false, std::memory_order_relaxed);
    report(taken);
  };
  take_all([&] { return own.parts.take_first(); });
  // Reported before it looks at the others' parts, which may be slow to read.
  take_all([&] { return steal(thread); });
}

bool ThreadPool::Impl::any_working() const {
  return std::ranges::any_of(threads, [](const Thread& thread) { return thread.working.load(); });
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
      const bool candidate =
          static_cast<int>(t) != helper && threads[t].working && !movable[t].moved();
      watched_ns[t] = candidate ? movable[t].cpu_ns() : -1;
      any = any || candidate;
    }
  }
  if (any && !spin_until(over, kWatched)) {  // without the lock, for which a caller would wait
    const std::lock_guard lock(moving);
    for (std::size_t t = 0; t < movable.size() && !lent && !over(); ++t) {
      if (watched_ns[t] < 0 || !threads[t].working) continue;
      if (movable[t].cpu_ns() - watched_ns[t] > kBlocked_ns || !movable[t].is_ready()) continue;
      movable[t].move_here();
      lent = movable[t].moved();
      moved = moved || lent;
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
  const auto report = [this](std::uint32_t parts) {
    finished += parts;
    if (caller_sleeps) futex_wake_all(finished);
  };
  std::uint32_t seen = 0;
  while (true) {
    const auto forked = [&] { return forks.load(std::memory_order_acquire) != seen; };
    if (!spins || !spin_until(forked, kSpin)) {
      bool lent = !spins || seen == 0;  // or nothing to lend
      for (Nap nap; !forked(); nap.lengthen()) {
        lent = lent || help_a_blocked_thread(thread, forked);
        ++sleepers;
        futex_wait(forks, seen, lent || !any_working() ? std::nullopt : nap.length());
        --sleepers;
      }
    }
    seen = forks.load(std::memory_order_acquire);
    if (stopping) return;
    take_parts(thread, report);
  }
}

// Until `finished` is `parts`.
void ThreadPool::Impl::wait_until_finished(std::uint32_t parts) {
  const auto done = [&] { return finished.load(std::memory_order_acquire) == parts; };
  bool lent = false;  // then spinning would keep the other thread from running
  for (Nap nap; lent || !spins || !spin_until(done, kSpin); nap.lengthen()) {
    if (spins && !lent) lent = help_a_blocked_thread(0, done);
    caller_sleeps = true;
    const std::uint32_t now = finished;
    if (now != parts) futex_wait(finished, now, lent || !spins ? std::nullopt : nap.length());
    caller_sleeps = false;
    if (now == parts) return;
  }
}

bool ThreadPool::Impl::own_thread(std::thread::id id) const {
  return caller.load(std::memory_order_relaxed) == id ||
         std::any_of(workers.begin(), workers.end(),
                     [id](const auto& w) { return w.get_id() == id; });
}

// A task of the pool sees its caller, and others need not.
void ThreadPool::Impl::reject_own_tasks() const {
  if (caller.load(std::memory_order_relaxed) == std::thread::id{}) return;
  if (!own_thread(std::this_thread::get_id())) return;
  throw Error(Errc::Internal,
              tr("thread pool: run() was called from one of the pool's own tasks; call it "
                 "outside them"));
}

void ThreadPool::Impl::run(std::int64_t parts, bool everyone, const Begin* begin,
                           const Task& of_parts) {
  if (parts > kMostParts) {
    throw Error(
        Errc::InvalidArgument,
        trf("thread pool: {} parts are too many; make larger ones, at most {}", parts, kMostParts));
  }
  reject_own_tasks();
  const std::lock_guard lock(callers);
  fork(parts, everyone, begin, of_parts);
}

// The calling thread holds `callers`.
void ThreadPool::Impl::fork(std::int64_t parts, bool everyone, const Begin* begin,
                            const Task& of_parts) {
  caller.store(std::this_thread::get_id(), std::memory_order_relaxed);
  begin_thread = begin;
  task = of_parts;
  for_everyone = everyone;
  ++number;
  const std::uint32_t finished_before = finished.load(std::memory_order_relaxed);
  const auto n = static_cast<std::int64_t>(threads.size());
  for (std::int64_t t = 0; t < n; ++t) {
    // Rounded up, so that the caller, which is there first, has a part.
    at(static_cast<int>(t))
        .parts.set((parts * t + n - 1) / n, (parts * (t + 1) + n - 1) / n, everyone);
  }
  if (!workers.empty() && parts > 1) {
    ++forks;
    if (sleepers > 0) futex_wake_all(forks);
  }
  if (!movable[0].is_caller()) {
    const std::lock_guard moving_lock(moving);
    movable[0].attach();
  }
  std::uint32_t by_caller = 0;
  take_parts(0, [&](std::uint32_t taken) { by_caller += taken; });
  wait_until_finished(finished_before + static_cast<std::uint32_t>(parts) - by_caller);
  if (!workers.empty()) take_back_cores();
  caller.store({}, std::memory_order_relaxed);
  if (failed.load(std::memory_order_relaxed)) {
    failed.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(error, nullptr));
  }
}

// Returns how long it takes until every thread has begun a part and the caller knows that they have
// ended, or somewhat more than `patience` where one does not begin. As fork().
double ThreadPool::Impl::time_handing_out(std::chrono::microseconds patience) {
  const auto begin = std::chrono::steady_clock::now();
  // Each thread stays with its part, so that it takes no other's.
  std::atomic<std::size_t> begun = 0;
  const auto meet = [&](std::int64_t /*part*/, int /*thread*/) {
    ++begun;
    spin_until([&] { return begun >= threads.size(); }, patience);
  };
  fork(static_cast<std::int64_t>(threads.size()), /*everyone=*/false, /*begin=*/nullptr, meet);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return passed.count();
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
  impl_->run(size(), /*everyone=*/true, /*begin=*/nullptr,
             [&](std::int64_t /*part*/, int thread) { task(thread); });
}

void ThreadPool::run_parts(std::int64_t parts,
                           FunctionRef<void(std::int64_t part, int thread)> task) {
  if (parts > 0) impl_->run(parts, /*everyone=*/false, /*begin=*/nullptr, task);
}

void ThreadPool::run_parts(std::int64_t parts, FunctionRef<void(int thread)> begin,
                           FunctionRef<void(std::int64_t part, int thread)> task) {
  if (parts > 0) impl_->run(parts, /*everyone=*/false, &begin, task);
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

double ThreadPool::handing_out_s() {
  constexpr std::uint32_t kCallsPerMeasurement = 4096;
  constexpr std::chrono::microseconds kPatience{5}, kWakeUp{200};
  impl_->reject_own_tasks();
  if (size() == 1) return 0;
  const std::uint32_t asked = impl_->asked.fetch_add(1, std::memory_order_relaxed);
  if (asked % kCallsPerMeasurement == 0) {
    const std::unique_lock lock(impl_->callers, std::try_to_lock);
    if (!lock) {
      impl_->asked = 0;  // the next call tries again
      return impl_->handing_out_s;
    }
    impl_->time_handing_out(kWakeUp);
    std::array<double, 9> times{};
    for (double& t : times) t = impl_->time_handing_out(kPatience);
    const auto median = times.begin() + times.size() / 2;
    std::nth_element(times.begin(), median, times.end());
    impl_->handing_out_s.store(*median, std::memory_order_relaxed);
  }
  return impl_->handing_out_s.load(std::memory_order_relaxed);
}

ThreadPool::Guard::Guard(const ThreadPool& pool) : before_(thread_affinity()) {
  pinned_ = !before_.empty() && pin_this_thread(pool.cores().front());
}

ThreadPool::Guard::~Guard() {
  if (pinned_) set_thread_affinity(before_);
}

}  // namespace lab
