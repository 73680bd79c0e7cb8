#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>

#include "tests/compute/gpu/emulator/device/emulated_gpu.h"

namespace lab::test {
namespace {

using Floats = std::vector<float>;

TEST(EmulatedStreams, WorkRunsOnlyWhenTheHostWaits) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 2);
  Floats in = {1, 2}, out = {0, 0};
  x.write(in, gpus.main);
  x.read(out, gpus.main);
  EXPECT_EQ(out, (Floats{0, 0})) << "nothing waits yet";
  in = {3, 4};  // pageable memory is read when the copy runs
  gpus.main.synchronise();
  EXPECT_EQ(out, (Floats{3, 4}));
}

TEST(EmulatedStreams, UnsynchronisedStreamsDoNotSeeOneAnother) {
  EmulatedPair gpus;
  const auto side = gpus.gpu.make_stream();
  GpuFloats x(gpus.gpu, 1);
  const Floats first = {1}, second = {2};
  x.write(first, gpus.main);
  gpus.main.synchronise();
  x.write(second, *side);  // without a wait the read below does not see it
  EXPECT_EQ(x.values(gpus.main), first);
  side->synchronise();
  EXPECT_EQ(x.values(gpus.main), second);
}

TEST(EmulatedStreams, AWaitRunsTheOtherStreamFirst) {
  EmulatedPair gpus;
  const auto side = gpus.gpu.make_stream();
  const auto written = gpus.gpu.make_event();
  GpuFloats x(gpus.gpu, 1);
  const Floats value = {7}, later = {8};
  x.write(value, *side);
  written->record(*side);
  x.write(later, *side);  // after the event
  gpus.main.wait(*written);
  EXPECT_EQ(x.values(gpus.main), value);
  side->synchronise();
}

TEST(EmulatedStreams, WaitsCrossDevices) {
  EmulatedPair gpus;
  const auto sent = gpus.gpu.make_event();
  GpuFloats here(gpus.gpu, 1), there(gpus.peer, 1);
  const Floats value = {5};
  here.write(value, gpus.main);
  gpus.gpu.copy_to_peer(gpus.peer, there.bytes(), here.bytes(), 4, gpus.main);
  sent->record(gpus.main);
  gpus.peer.main_stream().wait(*sent);
  EXPECT_EQ(there.values(gpus.peer.main_stream()), value);
}

TEST(EmulatedStreams, WaitForAnUnrecordedEventReturnsAtOnce) {
  EmulatedPair gpus;
  const auto event = gpus.gpu.make_event();
  EXPECT_TRUE(event->done());
  event->synchronise();
  gpus.main.wait(*event);
  gpus.main.synchronise();
}

TEST(EmulatedStreams, AnEventWaitsForItsLastRecordOnly) {
  EmulatedPair gpus;
  const auto begin = gpus.gpu.make_event(), end = gpus.gpu.make_event();
  GpuFloats x(gpus.gpu, 1);
  Floats in = {1}, out = {0};
  begin->record(gpus.main);
  x.write(in, gpus.main);
  x.read(out, gpus.main);
  end->record(gpus.main);
  begin->synchronise();
  EXPECT_EQ(out, Floats{0});
  EXPECT_NE(message_of([&] { end->seconds_since(*begin); }, Errc::Cuda).find("NotReady"),
            std::string::npos);
  EXPECT_FALSE(end->done());
  EXPECT_TRUE(end->done()) << "a host that polls makes progress";
  EXPECT_EQ(out, in);
  EXPECT_GE(end->seconds_since(*begin), 0);
}

TEST(EmulatedStreams, AFullQueueRunsItsOldestWork) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 1);
  Floats in = {1}, out = {0};
  x.write(in, gpus.main);
  x.read(out, gpus.main);
  for (int i = 0; i < 1100; ++i) x.write(in, gpus.main);
  EXPECT_EQ(out, in);
  gpus.main.synchronise();
}

TEST(EmulatedStreams, DestructionRunsQueuedWork) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 1);
  Floats in = {1}, out = {0};
  {
    const auto side = gpus.gpu.make_stream();
    x.write(in, *side);
    x.read(out, *side);
  }
  EXPECT_EQ(out, in);
}

TEST(EmulatedStreams, OperationsRequireAStreamOfTheirGpu) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 1);
  const auto wrong = [&] { gpus.gpu.add(x.plus(x), gpus.peer.main_stream()); };
  EXPECT_NE(message_of(wrong, Errc::Cuda).find("belongs to emu:1"), std::string::npos);
}

// ---- Work that may be dropped

TEST(EmulatedStreams, AStopDropsWhatWasQueuedForIt) {
  EmulatedPair gpus;
  const std::int64_t before = gpus.gpu.holdings().pool_reserved_bytes;
  std::stop_source stop;
  const Floats ones = {1}, twos = {2};
  {
    GpuFloats first(gpus.gpu, 1), second(gpus.gpu, 1);
    first.write(ones, gpus.main);
    gpus.gpu.begin_interruptible(stop.get_token());
    second.write(ones, gpus.main);
    stop.request_stop();
    gpus.main.synchronise();
    second.write(twos, gpus.main);
    EXPECT_TRUE(gpus.gpu.end_interruptible());
    EXPECT_EQ(first.values(gpus.main), ones) << "queued before";
    EXPECT_NE(second.values(gpus.main), ones);
    EXPECT_NE(second.values(gpus.main), twos);
    second.write(twos, gpus.main);
    EXPECT_EQ(second.values(gpus.main), twos) << "queued after";
  }
  gpus.main.synchronise();
  EXPECT_EQ(gpus.gpu.holdings().pool_reserved_bytes, before);
  EXPECT_EQ(gpus.gpu.lost(), "");
}

TEST(EmulatedStreams, WorkThatWasKeptRunsInSpiteOfALaterStop) {
  EmulatedPair gpus;
  std::stop_source stop;
  GpuFloats x(gpus.gpu, 1);
  const Floats value = {3};
  gpus.gpu.begin_interruptible(stop.get_token());
  x.write(value, gpus.main);
  EXPECT_FALSE(gpus.gpu.end_interruptible());
  stop.request_stop();
  EXPECT_EQ(x.values(gpus.main), value);
}

TEST(EmulatedStreams, EventsOfDroppedWorkAreReached) {
  EmulatedPair gpus;
  std::stop_source stop;
  const auto begin = gpus.gpu.make_event(), end = gpus.gpu.make_event();
  GpuFloats x(gpus.gpu, 1);
  const Floats value = {3};
  gpus.gpu.begin_interruptible(stop.get_token());
  begin->record(gpus.main);
  x.write(value, gpus.main);
  end->record(gpus.main);
  gpus.peer.main_stream().wait(*end);
  stop.request_stop();
  gpus.peer.main_stream().synchronise();
  EXPECT_TRUE(end->done());
  EXPECT_GE(end->seconds_since(*begin), 0);
  EXPECT_TRUE(gpus.gpu.end_interruptible());
}

// A kernel, and a graph, that would take minutes.
TEST(EmulatedStreams, AStopEndsAKernelBetweenTwoBlocks) {
  EmulatedGpus backend{{.gpus = 1}};
  GpuDevice& gpu = *backend.devices()[0];
  GpuStream& main = gpu.main_stream();
  GpuFloats x(gpu, std::int64_t{1} << 28);
  for (const bool recorded : {false, true}) {
    std::stop_source stop;
    std::unique_ptr<GpuGraph> graph;
    if (recorded) gpu.begin_recording(main);
    if (!recorded) gpu.begin_interruptible(stop.get_token());
    for (int i = 0; i < 10; ++i) gpu.add(x.plus(x), main);
    if (recorded) {
      graph = gpu.end_recording(main);
      gpu.begin_interruptible(stop.get_token());
      graph->launch(main);
    }
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      stop.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    main.synchronise();
    EXPECT_TRUE(gpu.end_interruptible());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3)) << recorded;
  }
}

// Adds on a GPU of its own, with work that depends on the other GPU.
void add_often(GpuDevice& gpu, GpuEvent& other, std::vector<float>& result) {
  GpuFloats sum(gpu, 3000), one(gpu, 3000);
  const Floats zeros(3000, 0.0F), ones(3000, 1.0F);
  gpu.main_stream().wait(other);
  sum.write(zeros, gpu.main_stream());
  one.write(ones, gpu.main_stream());
  for (int i = 0; i < 5; ++i) gpu.add(sum.plus(one), gpu.main_stream());
  result = sum.values(gpu.main_stream());
}

TEST(EmulatedStreams, DevicesRunOnSeveralThreads) {
  EmulatedPair gpus;
  const auto here = gpus.gpu.make_event(), there = gpus.peer.make_event();
  here->record(gpus.main);
  there->record(gpus.peer.main_stream());
  Floats first, second;
  std::thread other([&] { add_often(gpus.peer, *here, second); });
  add_often(gpus.gpu, *there, first);
  other.join();
  EXPECT_EQ(first, Floats(3000, 5.0F));
  EXPECT_EQ(second, first);
}

}  // namespace
}  // namespace lab::test
