#include <gtest/gtest.h>

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
