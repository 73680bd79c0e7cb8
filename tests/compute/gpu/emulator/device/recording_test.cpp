#include <gtest/gtest.h>

#include <thread>

#include "tests/compute/gpu/emulator/device/emulated_gpu.h"

namespace lab::test {
namespace {

class EmulatedRecording : public ::testing::Test {
 protected:
  // Expects that `body` breaks a rule of recordings, and that the recording reports it at its end.
  template <typename Body>
  void expect_broken(const Body& body, const std::string& rule) {
    gpus_.gpu.begin_recording(gpus_.main);
    const std::string text = message_of(body, Errc::Cuda);
    EXPECT_NE(text.find(rule), std::string::npos) << text;
    const auto end = [&] { gpus_.gpu.end_recording(gpus_.main); };
    EXPECT_EQ(message_of(end, Errc::Cuda), text);
    gpus_.main.synchronise();
  }
  // Sets x and adds y to it `adds` times.
  void add_times(int adds) {
    for (int i = 0; i < adds; ++i) gpus_.gpu.add(x_.plus(y_), gpus_.main);
  }
  void set(GpuFloats& to, float value) {
    const std::vector<float> values(4, value);
    to.write(values, gpus_.main);
    gpus_.main.synchronise();
  }

  EmulatedPair gpus_;
  GpuFloats x_{gpus_.gpu, 4}, y_{gpus_.gpu, 4};
};

TEST_F(EmulatedRecording, RunsWhenItIsLaunched) {
  set(x_, 0);
  set(y_, 1);
  gpus_.gpu.begin_recording(gpus_.main);
  add_times(3);
  const auto graph = gpus_.gpu.end_recording(gpus_.main);
  EXPECT_EQ(x_.values(gpus_.main), std::vector<float>(4, 0.0F)) << "recorded, not run";
  graph->launch(gpus_.main);
  graph->launch(gpus_.main);
  EXPECT_EQ(x_.values(gpus_.main), std::vector<float>(4, 6.0F));
}

TEST_F(EmulatedRecording, HoldsPinnedCopiesAndFills) {
  const auto pinned = gpus_.gpu.allocate_pinned(16);
  auto* host = reinterpret_cast<float*>(pinned->data());
  gpus_.gpu.begin_recording(gpus_.main);
  gpus_.gpu.copy(GpuCopy::HostToDevice, x_.bytes(), host, 16, gpus_.main);
  gpus_.gpu.fill({.dtype = DType::F32, .bits = 0x3f800000, .to = y_.bytes(), .count = 4},
                 gpus_.main);
  add_times(1);
  const auto graph = gpus_.gpu.end_recording(gpus_.main);
  for (const float value : {2.0F, 5.0F}) {
    std::fill_n(host, 4, value);
    graph->launch(gpus_.main);
    EXPECT_EQ(x_.values(gpus_.main), std::vector<float>(4, value + 1));
  }
}

TEST_F(EmulatedRecording, OtherStreamsJoinByEvents) {
  set(x_, 1);
  set(y_, 1);
  const auto side = gpus_.gpu.make_stream();
  const auto fork = gpus_.gpu.make_event(), join = gpus_.gpu.make_event();
  gpus_.gpu.begin_recording(gpus_.main);
  add_times(1);
  fork->record(gpus_.main);
  side->wait(*fork);
  gpus_.gpu.add(y_.plus(x_), *side);
  join->record(*side);
  gpus_.main.wait(*join);
  add_times(1);
  const auto graph = gpus_.gpu.end_recording(gpus_.main);
  graph->launch(gpus_.main);
  EXPECT_EQ(x_.values(gpus_.main), std::vector<float>(4, 5.0F));
  const auto wait = [&] { gpus_.main.wait(*join); };
  EXPECT_NE(message_of(wait, Errc::Cuda).find("part of a graph"), std::string::npos);
}

TEST_F(EmulatedRecording, StreamsThatJoinedAreWaitedFor) {
  const auto side = gpus_.gpu.make_stream();
  const auto fork = gpus_.gpu.make_event();
  gpus_.gpu.begin_recording(gpus_.main);
  fork->record(gpus_.main);
  side->wait(*fork);
  gpus_.gpu.add(x_.plus(y_), *side);
  const auto end = [&] { gpus_.gpu.end_recording(gpus_.main); };
  EXPECT_NE(message_of(end, Errc::Cuda).find("must wait for all streams"), std::string::npos);
  side->synchronise();
}

TEST_F(EmulatedRecording, RejectsWaitsOfTheHost) {
  const auto event = gpus_.gpu.make_event();
  expect_broken([&] { gpus_.main.synchronise(); }, "cannot be synchronised");
  expect_broken(
      [&] {
        gpus_.gpu.norm({DType::F32, x_.bytes(), 4}, gpus_.main);
      },
      "cannot wait in a recording");
  const auto wait = [&] {
    event->record(gpus_.main);
    event->synchronise();
  };
  expect_broken(wait, "an event that is recorded");
}

TEST_F(EmulatedRecording, RejectsMemoryOperations) {
  std::vector<float> host(4);
  expect_broken([&] { gpus_.gpu.allocate(16, gpus_.main); }, "cannot be allocated");
  expect_broken([&] { x_.write(host, gpus_.main); }, "pageable memory");
  gpus_.gpu.begin_recording(gpus_.main);
  y_.release();
  const auto end = [&] { gpus_.gpu.end_recording(gpus_.main); };
  EXPECT_NE(message_of(end, Errc::Cuda).find("cannot be released"), std::string::npos);
}

TEST_F(EmulatedRecording, RejectsEventsFromOutside) {
  const auto event = gpus_.gpu.make_event();
  event->record(gpus_.main);
  expect_broken([&] { gpus_.main.wait(*event); }, "outside of the recording");
}

TEST_F(EmulatedRecording, BelongsToOneThread) {
  gpus_.gpu.begin_recording(gpus_.main);
  std::string text;
  std::thread other([&] { text = message_of([&] { add_times(1); }, Errc::Cuda); });
  other.join();
  EXPECT_NE(text.find("only the thread"), std::string::npos) << text;
  gpus_.gpu.abandon_recording(gpus_.main);
  gpus_.main.synchronise();
}

TEST_F(EmulatedRecording, BeginsOnceAndCanBeAbandoned) {
  gpus_.gpu.abandon_recording(gpus_.main);  // does nothing
  message_of([&] { gpus_.gpu.end_recording(gpus_.main); }, Errc::Cuda);
  gpus_.gpu.begin_recording(gpus_.main);
  message_of([&] { gpus_.gpu.begin_recording(gpus_.main); }, Errc::Cuda);
  gpus_.gpu.abandon_recording(gpus_.main);
  set(x_, 1);
  set(y_, 1);
  add_times(1);
  EXPECT_EQ(x_.values(gpus_.main), std::vector<float>(4, 2.0F));
}

TEST_F(EmulatedRecording, LaunchChecksTheMemoryAgain) {
  set(x_, 1);
  set(y_, 1);
  gpus_.gpu.begin_recording(gpus_.main);
  add_times(1);
  const auto graph = gpus_.gpu.end_recording(gpus_.main);
  y_.release();
  graph->launch(gpus_.main);
  const std::string text = message_of([&] { gpus_.main.synchronise(); }, Errc::DeviceLost);
  EXPECT_NE(text.find("graph failed with add: use of memory that is not allocated"),
            std::string::npos)
      << text;
}

TEST_F(EmulatedRecording, LaunchRequiresAStreamOfItsGpu) {
  gpus_.gpu.begin_recording(gpus_.main);
  const auto graph = gpus_.gpu.end_recording(gpus_.main);
  message_of([&] { graph->launch(gpus_.peer.main_stream()); }, Errc::Cuda);
}

}  // namespace
}  // namespace lab::test
