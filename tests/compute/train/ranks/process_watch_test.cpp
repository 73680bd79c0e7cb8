#include "compute/train/ranks/process_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "tests/support/eventually.h"

namespace lab {
namespace {

// Starts a child process that waits to be killed.
pid_t start_sleeper() {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  return child;
}

TEST(ProcessWatch, DetectsAZombieProcess) {
  const pid_t child = start_sleeper();
  ProcessWatch watch({{0, getpid()}, {3, child}});
  EXPECT_FALSE(watch.dead());
  kill(child, SIGKILL);
  std::optional<WatchedProcess> dead;
  const auto found = test::eventually([&] { return (dead = watch.dead()).has_value(); });
  waitpid(child, nullptr, 0);  // until here the child is a zombie
  ASSERT_TRUE(found);
  EXPECT_EQ(dead->rank, 3);
  EXPECT_EQ(dead->pid, child);
  EXPECT_TRUE(watch.dead());
}

TEST(ProcessWatch, IgnoresInvisibleAndDismissedProcesses) {
  const pid_t child = start_sleeper();
  ProcessWatch watch({{1, 0x7ffffff0}, {2, child}});
  watch.dismiss(2);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(watch.dead());
}

}  // namespace
}  // namespace lab
