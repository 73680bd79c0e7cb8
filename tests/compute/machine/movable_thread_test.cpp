#include "compute/machine/movable_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "compute/machine/cpu_topology.h"

namespace lab {
namespace {

TEST(MovableThread, CountsTheCpuTimeThatItUsed) {
  MovableThread thread;
  EXPECT_EQ(thread.cpu_ns(), 0);
  thread.attach();
  const std::int64_t before = thread.cpu_ns();
  EXPECT_GT(before, 0);
  while (thread.cpu_ns() < before + 100'000) {
  }
}

TEST(MovableThread, MovesToTheCallersCoreAndBack) {
  const std::vector<int> cores = thread_affinity();
  if (cores.size() < 2) GTEST_SKIP() << "needs at least two cores";
  MovableThread moved;
  std::latch attached(1), was_moved(1), read(1), was_moved_back(1);
  std::vector<std::vector<int>> places;
  std::thread worker([&] {
    set_thread_affinity({&cores[1], 1});
    moved.attach();
    places.push_back(thread_affinity());
    attached.count_down();
    was_moved.wait();
    places.push_back(thread_affinity());
    read.count_down();
    was_moved_back.wait();
    places.push_back(thread_affinity());
  });
  set_thread_affinity({cores.data(), 1});
  attached.wait();
  moved.move_here();
  was_moved.count_down();
  read.wait();
  moved.move_back();
  was_moved_back.count_down();
  worker.join();
  set_thread_affinity(cores);
  EXPECT_EQ(places, (std::vector<std::vector<int>>{{cores[1]}, {cores[0]}, {cores[1]}}));
}

TEST(MovableThread, IsReadyUnlessItSleeps) {
  MovableThread own;
  own.attach();
  EXPECT_TRUE(own.is_ready());
  MovableThread sleeper;
  std::latch attached(1), over(1);
  std::thread thread([&] {
    sleeper.attach();
    attached.count_down();
    over.wait();
  });
  attached.wait();
  while (sleeper.is_ready()) std::this_thread::yield();
  over.count_down();
  thread.join();
}

TEST(MovableThread, IsMovedByOneObjectAtATime) {
  const std::vector<int> cores = thread_affinity();
  MovableThread first, second;
  first.attach();
  second.attach();
  first.move_here();
  second.move_here();
  EXPECT_TRUE(first.moved());
  EXPECT_FALSE(second.moved());
  second.move_back();
  first.move_back();
  EXPECT_EQ(thread_affinity(), cores);
  second.move_here();
  EXPECT_TRUE(second.moved());
  second.move_back();
  EXPECT_EQ(thread_affinity(), cores);
}

TEST(MovableThread, IsNotMovedBeforeItIsKnown) {
  const std::vector<int> cores = thread_affinity();
  MovableThread unknown;
  unknown.move_here();
  unknown.move_back();
  EXPECT_EQ(thread_affinity(), cores);
}

}  // namespace
}  // namespace lab
