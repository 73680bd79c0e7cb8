// Races between the threads of a kernel that runs on an emulated GPU.
#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/emulator/device/emulated_device.h"
#include "tests/compute/gpu/emulator/device/emulated_gpu.h"

namespace lab {
namespace {

using test::EmulatedPair;
using test::GpuFloats;
using test::message_of;

// All threads store the value that the first one wrote to shared memory; without the barrier, it
// may not have written it yet.
void queue_broadcast(GpuDevice& gpu, float* out, bool barrier) {
  static_cast<emulated::EmulatedDevice&>(gpu).launch(
      "broadcast", {1}, {64},
      [out, barrier] {
        LAB_SHARED(float, first, 1);
        const int i = simt::thread_idx().x;
        if (i == 0) first[0] = 4.0F;
        if (barrier) simt::sync_threads();
        simt::global(out)[i] = first[0];
      },
      gpu.main_stream());
}

TEST(EmulatedChecks, ARaceIsAnErrorOfItsGpuOnly) {
  EmulatedPair gpus;
  GpuFloats right(gpus.gpu, 64), wrong(gpus.gpu, 64), there(gpus.peer, 64);
  queue_broadcast(gpus.gpu, right.data(), /*barrier=*/true);
  EXPECT_EQ(right.values(gpus.main)[5], 4);
  queue_broadcast(gpus.gpu, wrong.data(), /*barrier=*/false);
  const std::string text = message_of([&] { gpus.main.synchronise(); }, Errc::DeviceLost);
  EXPECT_TRUE(text.starts_with("emu:0 is lost: broadcast failed with ")) << text;
  EXPECT_NE(text.find("after a write by thread 0"), std::string::npos) << text;
  EXPECT_NE(text.find("sync_threads"), std::string::npos) << text;
  EXPECT_EQ(gpus.gpu.lost(), text);
  queue_broadcast(gpus.peer, there.data(), /*barrier=*/true);
  EXPECT_EQ(there.values(gpus.peer.main_stream())[5], 4);
}

TEST(EmulatedChecks, ARaceInAGraphIsAnErrorToo) {
  EmulatedPair gpus;
  GpuFloats out(gpus.gpu, 64);
  gpus.gpu.begin_recording(gpus.main);
  queue_broadcast(gpus.gpu, out.data(), /*barrier=*/false);
  const auto graph = gpus.gpu.end_recording(gpus.main);
  EXPECT_TRUE(gpus.gpu.lost().empty());
  graph->launch(gpus.main);
  const std::string text = message_of([&] { gpus.main.synchronise(); }, Errc::DeviceLost);
  EXPECT_NE(text.find("broadcast: "), std::string::npos) << text;
}

// As outside tests, where a kernel runs several times faster without the checks.
TEST(EmulatedChecks, RacesAreNotLookedForUnlessWanted) {
  EmulatedGpus backend{{.gpus = 1, .memory_bytes = test::kEmulatedMemory_bytes}};
  GpuDevice& gpu = *backend.devices()[0];
  GpuFloats out(gpu, 64);
  queue_broadcast(gpu, out.data(), /*barrier=*/false);
  EXPECT_EQ(out.values(gpu.main_stream()).size(), 64U);
  EXPECT_TRUE(gpu.lost().empty());
}

}  // namespace
}  // namespace lab
