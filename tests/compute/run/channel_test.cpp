#include "compute/run/channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace lab {
namespace {

Event log_event(int i) {
  return {1, 0, LogLine{Severity::Info, std::to_string(i)}};
}

TEST(Channel, PreservesOrderAndAllEvents) {
  Channel channel;
  for (int i = 0; i < 100; ++i) channel.push(log_event(i));
  const auto events = channel.drain();
  ASSERT_EQ(events.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(std::get<LogLine>(events[static_cast<std::size_t>(i)].payload).text,
              std::to_string(i));
  }
  EXPECT_TRUE(channel.drain().empty());
}

TEST(Channel, NewStateReplacesThePendingOne) {
  Channel channel;
  channel.push({1, 0, Progress{0.1, "a", {}}});
  channel.push(log_event(0));
  channel.push({1, 0, Progress{0.2, "b", {}}});
  channel.push({2, 0, Progress{0.3, "c", {}}});
  const auto events = channel.drain();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(std::get<Progress>(events[1].payload).what, "b");
  EXPECT_EQ(std::get<Progress>(events[2].payload).what, "c");
}

TEST(Channel, FullChannelBlocksWithoutLoss) {
  Channel channel({}, 8);
  std::jthread writer([&](std::stop_token stop) {
    for (int i = 0; i < 1000; ++i) channel.push(log_event(i), stop);
  });
  int seen = 0;
  while (seen < 1000) {
    for (const Event& e : channel.wait_and_drain(1)) {
      EXPECT_EQ(std::get<LogLine>(e.payload).text, std::to_string(seen++));
    }
  }
}

TEST(Channel, StopAndCloseUnblockWriters) {
  Channel channel({}, 1);
  channel.push(log_event(0));
  {
    std::jthread writer([&](std::stop_token stop) { channel.push(log_event(1), stop); });
  }
  std::thread writer([&] { channel.push(log_event(2)); });
  channel.close();
  writer.join();
  EXPECT_EQ(channel.drain().size(), 1U);
}

TEST(Channel, WakesTheReaderOncePerPush) {
  std::atomic<int> wakes = 0;
  Channel channel([&] { ++wakes; });
  channel.push(log_event(0));
  channel.push(log_event(1));
  EXPECT_EQ(wakes, 2);
}

}  // namespace
}  // namespace lab
