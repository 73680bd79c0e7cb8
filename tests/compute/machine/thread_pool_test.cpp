#include "compute/machine/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/machine/cpu_topology.h"
#include "tests/support/eventually.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

constexpr uid_t kNobody = 54321;  // without processes of its own

// Cores for `n` threads; they repeat if the machine has fewer.
std::vector<int> some_cores(int n) {
  const auto usable = thread_affinity();
  std::vector<int> cores;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    cores.push_back(usable[i % usable.size()]);
  }
  return cores;
}

TEST(ThreadPool, CallsEveryThreadOnce) {
  for (const int n : {1, 2, 3, 8}) {
    ThreadPool pool(some_cores(n));
    ASSERT_EQ(pool.size(), n);
    std::vector<int> calls(static_cast<std::size_t>(n));
    pool.run([&](int t) { ++calls[static_cast<std::size_t>(t)]; });
    EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(n), 1));
  }
}

TEST(ThreadPool, TheCallerIsThreadZero) {
  ThreadPool pool(some_cores(2));
  std::vector<std::thread::id> ids(2);
  pool.run([&](int t) { ids[static_cast<std::size_t>(t)] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], std::this_thread::get_id());
}

TEST(ThreadPool, RunsManySmallForks) {
  ThreadPool pool(some_cores(3));
  std::vector<std::int64_t> sums(3);
  constexpr int kForks = 1000;
  for (int i = 0; i < kForks; ++i) {
    pool.run([&](int t) { sums[static_cast<std::size_t>(t)] += t + 1; });
    // Occasionally waits long enough for the threads to fall asleep.
    if (i % 200 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sums, (std::vector<std::int64_t>{kForks, 2 * kForks, 3 * kForks}));
}

TEST(ThreadPool, SerializesConcurrentCallers) {
  ThreadPool pool(some_cores(2));
  std::atomic<int> inside = 0;
  std::atomic<int> calls = 0;
  std::atomic<bool> overlapped = false;
  const auto fork_often = [&] {
    for (int i = 0; i < 200; ++i) {
      pool.run([&](int) {
        if (++inside > 2) overlapped = true;
        ++calls;
        --inside;
      });
    }
  };
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int i = 0; i < 4; ++i) callers.emplace_back(fork_often);
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(calls, 4 * 200 * 2);
  EXPECT_FALSE(overlapped);
}

TEST(ThreadPool, RethrowsAfterAllThreadsEnd) {
  ThreadPool pool(some_cores(4));
  for (int thrower = 0; thrower < 4; ++thrower) {
    std::atomic<int> ended = 0;
    try {
      pool.run([&](int t) {
        if (t == thrower) throw std::runtime_error("thread " + std::to_string(t));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++ended;
      });
      FAIL() << "no exception was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "thread " + std::to_string(thrower));
    }
    EXPECT_EQ(ended, 3);
  }
  std::atomic<int> calls = 0;
  pool.run([&](int) { ++calls; });  // the pool remains usable
  EXPECT_EQ(calls, 4);
}

TEST(ThreadPool, RethrowsOneOfManyExceptions) {
  ThreadPool pool(some_cores(4));
  for (int i = 0; i < 50; ++i) {
    EXPECT_THROW(pool.run([](int) { throw std::logic_error("all of them"); }), std::logic_error);
  }
}

TEST(ThreadPool, RejectsNestedForks) {
  for (const int n : {1, 3}) {
    ThreadPool pool(some_cores(n));
    EXPECT_THROW(pool.run([&](int) { pool.run([](int) {}); }), Error);
    EXPECT_NO_THROW(pool.run([](int) {}));
  }
}

// A limit on processes counts the threads of a user; root is exempt. Where the limit has no effect,
// the pool starts.
TEST(ThreadPoolDeathTest, EndsItsThreadsIfOneCannotStart) {
  if (kThreadSanitizer || ::geteuid() != 0) GTEST_SKIP() << "needs root, to become a user apart";
  GTEST_FLAG_SET(death_test_style, "fast");  // the program itself may be started by an emulator
  const auto start_four = [] {
    const rlimit two_threads{2, 2};
    if (::setrlimit(RLIMIT_NPROC, &two_threads) != 0 || ::setuid(kNobody) != 0) std::_Exit(0);
    try {
      const ThreadPool pool(some_cores(4));
    } catch (const std::system_error&) {
      std::_Exit(0);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(start_four(), testing::ExitedWithCode(0), "");
}

TEST(ThreadPool, RequiresACore) {
  EXPECT_THROW(ThreadPool({}), Error);
}

TEST(ThreadPool, PinsItsThreads) {
  const auto cores = thread_affinity();
  if (cores.size() < 2) GTEST_SKIP() << "needs at least two cores";
  ThreadPool pool({cores[1], cores[0]});
  const std::vector<std::vector<int>> pinned{{cores[1]}, {cores[0]}};
  std::vector<std::vector<int>> where(2);
  {
    const ThreadPool::Guard guard = pool.bind_caller();
    // Now and then a thread is blocked and reads its affinity while it is moved.
    for (int i = 0; i < 100 && where != pinned; ++i) {
      pool.run([&](int t) { where[static_cast<std::size_t>(t)] = thread_affinity(); });
    }
  }
  EXPECT_EQ(where, pinned);
  EXPECT_EQ(thread_affinity(), cores);  // the guard restored the caller's affinity
}

// A thread of normal priority that keeps others from running on its core while it is on.
class CoreBlocker {
 public:
  explicit CoreBlocker(int core)
      : thread_([this, core] {
          set_thread_affinity({&core, 1});
          for (Order order = order_; order != Order::End; order = order_) {
            if (order == Order::Rest) {
              order_.wait(Order::Rest);
            } else {
              spin_pause();
            }
          }
        }) {}
  ~CoreBlocker() {
    tell(Order::End);
    thread_.join();
  }
  CoreBlocker(const CoreBlocker&) = delete;
  CoreBlocker& operator=(const CoreBlocker&) = delete;

  void turn_on() { tell(Order::Block); }
  void turn_off() { tell(Order::Rest); }

 private:
  enum class Order { Rest, Block, End };
  void tell(Order order) {
    order_ = order;
    order_.notify_all();
  }
  std::atomic<Order> order_ = Order::Rest;
  std::thread thread_;
};

// Two parts on two threads, of which `blocked` is kept from running while it works on its part.
class BlockedPart {
 public:
  BlockedPart(int blocked, int own_core, int other_core)
      : blocked_(blocked), other_core_(other_core), blocker_(own_core) {}

  // Returns whether the blocked thread came to run on the core of the other one.
  bool is_moved_by(ThreadPool& pool) {
    turns_ = 0;
    other_left_ = false;
    bool moved = false;
    pool.run_parts(2, [&](std::int64_t, int thread) {
      if (thread == blocked_) {
        moved = work();
      } else {
        leave_while_blocked();
      }
    });
    blocker_.turn_off();
    return moved;
  }

 private:
  // The blocked thread's part, which ends once the thread is on the other core, or soon after it
  // could have been moved there.
  bool work() {
    // As if the other program had a higher priority. Cannot be taken back without privileges.
    setpriority(PRIO_PROCESS, 0, 19);
    Clock::time_point give_up = Clock::time_point::max();
    while (sched_getcpu() != other_core_) {
      ++turns_;
      if (give_up == Clock::time_point::max() && other_left_) give_up = Clock::now() + kPatience;
      if (Clock::now() > give_up) return false;
    }
    return true;
  }

  // The other thread's part, which ends when the blocked thread has not run for a while.
  void leave_while_blocked() {
    EXPECT_TRUE(test::eventually([&] { return turns_ > 0; }));
    blocker_.turn_on();
    EXPECT_TRUE(test::eventually([&] {
      const std::int64_t before = turns_;
      const auto end = Clock::now() + kStill;
      while (Clock::now() < end) spin_pause();
      return turns_ == before;
    }));
    other_left_ = true;
  }

  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kStill{200};
  static constexpr std::chrono::milliseconds kPatience{50};
  const int blocked_, other_core_;
  std::atomic<std::int64_t> turns_ = 0;
  std::atomic<bool> other_left_ = false;
  CoreBlocker blocker_;
};

class BlockedThread : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(ThreadPool, BlockedThread, testing::Values(0, 1),
                         [](const auto& param) { return param.param == 0 ? "Caller" : "Worker"; });

// Whether a blocked thread is found depends on when other programs run, so the forks are repeated.
TEST_P(BlockedThread, RunsOnTheCoreOfAThreadWithoutWork) {
  const std::vector<int> usable = thread_affinity();
  if (usable.size() < 2) GTEST_SKIP() << "needs at least two cores";
  const std::vector<int> cores{usable[0], usable[1]};
  ThreadPool pool(cores);
  const int blocked = GetParam(), other = 1 - blocked;
  BlockedPart part(blocked, cores[static_cast<std::size_t>(blocked)],
                   cores[static_cast<std::size_t>(other)]);
  // A thread of its own, whose low priority ends with it.
  std::thread caller([&] {
    const ThreadPool::Guard guard = pool.bind_caller();
    EXPECT_TRUE(test::eventually([&] { return part.is_moved_by(pool); }));
    // Moved threads return to their cores after the fork.
    EXPECT_TRUE(test::eventually([&] {
      std::vector<std::vector<int>> now(2);
      pool.run([&](int t) { now[static_cast<std::size_t>(t)] = thread_affinity(); });
      return now == std::vector<std::vector<int>>{{cores[0]}, {cores[1]}};
    }));
  });
  caller.join();
}

TEST(ThreadPool, CallsEachPartOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(some_cores(threads));
    for (const std::int64_t parts : {0, 1, 2, 7, 8, 100}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(parts));
      std::vector<std::atomic<bool>> inside(static_cast<std::size_t>(threads));
      std::atomic<bool> shared = false;
      pool.run_parts(parts, [&](std::int64_t part, int t) {
        if (inside[static_cast<std::size_t>(t)].exchange(true)) shared = true;
        ++calls[static_cast<std::size_t>(part)];
        inside[static_cast<std::size_t>(t)] = false;
      });
      for (const auto& c : calls) EXPECT_EQ(c, 1);
      EXPECT_FALSE(shared);
    }
  }
}

TEST(ThreadPool, BeginsEachThreadBeforeItsFirstPart) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(some_cores(threads));
    for (int round = 0; round < 50; ++round) {
      std::vector<char> begun(static_cast<std::size_t>(threads));
      std::atomic<int> unprepared = 0;
      pool.run_parts(
          7, [&](int t) { begun[static_cast<std::size_t>(t)] = 1; },
          [&](std::int64_t, int t) { unprepared += 1 - begun[static_cast<std::size_t>(t)]; });
      EXPECT_EQ(unprepared, 0);
    }
  }
}

// The first thread does not return before all other parts are done, its own among them.
TEST(ThreadPool, TakesThePartsOfADelayedThread) {
  ThreadPool pool(some_cores(2));
  constexpr std::int64_t kParts = 20;
  std::atomic<std::int64_t> done = 0;
  pool.run_parts(kParts, [&](std::int64_t part, int /*thread*/) {
    while (part == 0 && done < kParts - 1) std::this_thread::yield();
    ++done;
  });
  EXPECT_EQ(done, kParts);
}

TEST(ThreadPool, RunsManySmallForksOfParts) {
  ThreadPool pool(some_cores(3));
  std::vector<std::int64_t> sums(5);
  constexpr int kForks = 3000;
  for (int i = 0; i < kForks; ++i) {
    pool.run_parts(5,
                   [&](std::int64_t part, int) { sums[static_cast<std::size_t>(part)] += part; });
    if (i % 100 == 0) pool.run([](int) {});
    if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sums, (std::vector<std::int64_t>{0, kForks, 2 * kForks, 3 * kForks, 4 * kForks}));
}

TEST(ThreadPool, RethrowsTheErrorOfAPart) {
  ThreadPool pool(some_cores(3));
  for (std::int64_t thrower = 0; thrower < 9; ++thrower) {
    EXPECT_THROW(pool.run_parts(9,
                                [&](std::int64_t part, int) {
                                  if (part == thrower) throw std::runtime_error("a part");
                                }),
                 std::runtime_error);
  }
  std::atomic<int> calls = 0;
  pool.run_parts(9, [&](std::int64_t, int) { ++calls; });
  EXPECT_EQ(calls, 9);
}

TEST(ThreadPool, RejectsTooManyParts) {
  for (const int threads : {1, 2}) {
    ThreadPool pool(some_cores(threads));
    EXPECT_THROW(pool.run_parts(std::int64_t{1} << 31, [](std::int64_t, int) {}), Error);
  }
}

TEST(ThreadPool, MeasuresHandingOut) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(some_cores(threads));
    for (int i = 0; i < 10000; ++i) {
      const double handing_out_s = pool.handing_out_s();
      ASSERT_EQ(handing_out_s > 0, threads > 1);
      ASSERT_LT(handing_out_s, 1);
    }
  }
  ThreadPool pool(some_cores(2));
  EXPECT_THROW(pool.run([&](int) { pool.handing_out_s(); }), Error);
}

TEST(ThreadPool, DoesNotPinToUnknownCores) {
  ThreadPool pool({0, 1000000, -1});
  std::atomic<int> calls = 0;
  pool.run([&](int) { ++calls; });
  EXPECT_EQ(calls, 3);
}

TEST(ParallelFor, ChunksCoverTheRangeOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(some_cores(threads));
    for (const std::int64_t n : {0, 1, 2, 15, 16, 17, 64, 1000}) {
      for (const std::int64_t grain : {0, 1, 4, 16, 2000}) {
        SCOPED_TRACE(testing::Message() << threads << " threads, n " << n << ", grain " << grain);
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
        std::atomic<int> ragged = 0;
        pool.parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
          EXPECT_LT(begin, end);
          if (grain > 0 && (end - begin) % grain != 0) ++ragged;
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        EXPECT_LE(ragged, 1);
        for (const auto& s : seen) ASSERT_EQ(s, 1);
      }
    }
  }
}

TEST(ParallelFor, SmallWorkRunsOnTheCaller) {
  ThreadPool pool(some_cores(4));
  int calls = 0;
  pool.parallel_for(31, 16, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 31);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST(ParallelFor, IgnoresNegativeCounts) {
  ThreadPool pool(some_cores(2));
  pool.parallel_for(-5, 1, [](std::int64_t, std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace lab
