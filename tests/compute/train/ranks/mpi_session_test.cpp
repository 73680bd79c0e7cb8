// Rounds of jobs, and the handling of failed ones. Every rank runs every case.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compute/core/backoff.h"
#include "tests/compute/train/ranks/ranks_main.h"
#include "tests/support/errors.h"

namespace lab::test {
namespace {

// Enters the job `text` on all ranks.
void begin_job(const std::string& text) {
  if (ranks().rank() == 0) {
    session().lead(text);
  } else {
    EXPECT_EQ(session().follow({}).value_or("rank 0 has left"), text);
  }
}

float sum_of_ones() {
  std::vector<float> one = {1};
  const auto sum = ranks().start_sum(one);
  Backoff backoff;
  while (!sum->test()) backoff.pause();
  return one[0];
}

void wait_for_failure() {
  Backoff backoff;
  while (true) {
    ranks().check();
    backoff.pause();
  }
}

TEST(MpiSession, FollowersReceiveTheJobsOfRankZero) {
  for (const std::string& text : {std::string("first"), std::string(), std::string(20'000, 'x')}) {
    begin_job(text);
    EXPECT_EQ(sum_of_ones(), static_cast<float>(ranks().size()));
  }
}

TEST(MpiSession, FailureReachesEveryRankAndEndsWithItsRound) {
  for (int failing = 0; failing < ranks().size(); ++failing) {
    begin_job("that fails");
    if (ranks().rank() == failing) {
      ranks().fail(Errc::Io, "model.safetensors cannot be read");
      EXPECT_FALSE(session().failure_elsewhere());
    } else {
      const std::string text = message_of(wait_for_failure, Errc::Io);
      const auto r = static_cast<std::size_t>(failing);
      EXPECT_EQ(text, "rank " + std::to_string(failing) + " (" + ranks().hosts()[r] +
                          "): model.safetensors cannot be read");
      ASSERT_TRUE(session().failure_elsewhere());
      ranks().fail(Errc::Io, text);  // while unwinding; must not be reported twice
    }
    begin_job("that works");
    EXPECT_FALSE(session().failure_elsewhere());
    EXPECT_EQ(sum_of_ones(), static_cast<float>(ranks().size()));
  }
}

TEST(MpiSession, FailureEndsEveryWait) {
  const int failing = ranks().size() - 1;
  std::vector<float> values(3'000'000);
  for (const int kind : {0, 1, 2}) {
    SCOPED_TRACE(kind);
    begin_job("with a missing rank");
    if (ranks().rank() == failing) {
      ranks().fail(Errc::NotFound, "no data");
      continue;
    }
    const auto wait = [&] {
      if (kind == 0) ranks().all_gather({}, {});
      if (kind == 1) ranks().broadcast(std::as_writable_bytes(std::span(values)), failing, {});
      if (kind == 2) {
        const auto sum = ranks().start_sum(values);
        Backoff backoff;
        while (!sum->test()) backoff.pause();
      }
    };
    message_of(wait, Errc::NotFound);
  }
  begin_job("that works");
  EXPECT_EQ(sum_of_ones(), static_cast<float>(ranks().size()));
}

TEST(MpiSession, WaitingCanBeStopped) {
  begin_job("that is stopped");
  std::stop_source stop;
  stop.request_stop();
  int asked = 0;
  if (ranks().rank() == 0) {
    message_of([&] { ranks().all_gather({}, {.stop = stop.get_token()}); }, Errc::Cancelled);
    message_of([&] { ranks().all_gather({}, {.interrupted = [&] { return ++asked == 3; }}); },
               Errc::Cancelled);
    ranks().fail(Errc::Cancelled, "stopped");
  } else {
    message_of(wait_for_failure, Errc::Cancelled);
  }
  begin_job("that works");
  EXPECT_EQ(sum_of_ones(), static_cast<float>(ranks().size()));
}

}  // namespace
}  // namespace lab::test
