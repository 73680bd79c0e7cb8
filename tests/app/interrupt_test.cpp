#include "app/headless/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

namespace lab::app {
namespace {

TEST(Interrupt, IsRequestedBySignals) {
  ::signal(SIGHUP, SIG_DFL);  // nohup may have started the tests
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Interrupt interrupt;
    EXPECT_FALSE(interrupt.requested());
    raise(signal);
    EXPECT_TRUE(interrupt.requested()) << signal;
  }
}

// nohup and disown protect a job from a closing terminal.
TEST(Interrupt, LeavesAnIgnoredHangUpAlone) {
  ::signal(SIGHUP, SIG_IGN);
  {
    Interrupt interrupt;
    raise(SIGHUP);
    EXPECT_FALSE(interrupt.requested());
  }
  EXPECT_EQ(::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST(Interrupt, EndsAWaitForInput) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  Interrupt interrupt;
  ASSERT_EQ(write(pipe_ends[1], "x", 1), 1);
  EXPECT_FALSE(interrupt.wait_for_input(pipe_ends[0])) << "there is some";
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  raise(SIGINT);
  EXPECT_TRUE(interrupt.wait_for_input(pipe_ends[0]));
  for (const int end : pipe_ends) close(end);
}

}  // namespace
}  // namespace lab::app
