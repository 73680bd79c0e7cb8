#include <gtest/gtest.h>

#include <cmath>

#include "tests/compute/gpu/emulator/device/emulated_gpu.h"

namespace lab::test {
namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(EmulatedMemory, ReportsItsLimitAndUse) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 1000);
  const GpuMemory memory = gpus.gpu.memory();
  EXPECT_EQ(memory.total_bytes, kEmulatedMemory_bytes);
  EXPECT_EQ(memory.pool_used_bytes, 4000);
  EXPECT_EQ(memory.free_bytes, kEmulatedMemory_bytes - 4000);
  EXPECT_EQ(gpus.gpu.holdings().pool_reserved_bytes, 4000);
  EXPECT_EQ(gpus.peer.memory().pool_used_bytes, 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.bytes()) % 256, 0U);
}

TEST(EmulatedMemory, TooLargeAllocationsNameTheSizes) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 1000);
  const auto allocate = [&] { gpus.gpu.allocate(kEmulatedMemory_bytes, gpus.main); };
  const std::string text = message_of(allocate, Errc::OutOfMemory);
  EXPECT_TRUE(contains(text, "emu:0") && contains(text, "1.00 MiB")) << text;
  EXPECT_TRUE(gpus.gpu.lost().empty());
}

TEST(EmulatedMemory, AllocationsWaitForReleasedMemory) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, kEmulatedMemory_bytes / 8);
  x.release();
  EXPECT_EQ(gpus.gpu.memory().pool_used_bytes, kEmulatedMemory_bytes / 2) << "not released yet";
  GpuFloats y(gpus.gpu, kEmulatedMemory_bytes / 4);
  EXPECT_EQ(gpus.gpu.memory().free_bytes, 0);
}

TEST(EmulatedMemory, NewMemoryHoldsNaN) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 3);
  for (const float value : x.values(gpus.main)) EXPECT_TRUE(std::isnan(value));
}

TEST(EmulatedMemory, CopiesOutsideAnAllocationAreRejected) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 4), y(gpus.gpu, 4), other(gpus.peer, 4);
  std::vector<float> host(8);
  EXPECT_TRUE(contains(message_of([&] { x.read(host, gpus.main); }, Errc::Cuda), "32 bytes"));
  EXPECT_TRUE(contains(message_of([&] { x.write(host, gpus.main); }, Errc::Cuda), "InvalidValue"));
  const auto across = [&] {
    gpus.gpu.copy(GpuCopy::DeviceToDevice, other.bytes(), x.bytes(), 16, gpus.main);
  };
  message_of(across, Errc::Cuda);
  const auto wrong_kind = [&] {
    gpus.gpu.copy(GpuCopy::HostToDevice, x.bytes(), y.bytes(), 16, gpus.main);
  };
  EXPECT_TRUE(contains(message_of(wrong_kind, Errc::Cuda), "not an address of the host"));
  EXPECT_TRUE(gpus.gpu.lost().empty()) << "the GPU remains usable";
}

TEST(EmulatedMemory, ReleasedMemoryIsNotUsedAgain) {
  EmulatedPair gpus;
  std::vector<float> host(4);
  std::byte* const x = gpus.gpu.allocate(16, gpus.main);
  gpus.gpu.release(x, gpus.main);
  const auto use = [&] { gpus.gpu.copy(GpuCopy::DeviceToHost, host.data(), x, 16, gpus.main); };
  message_of(use, Errc::Cuda);
}

TEST(EmulatedMemory, WorkOnAnotherStreamAfterTheReleaseLosesTheGpu) {
  EmulatedPair gpus;
  const auto side = gpus.gpu.make_stream();
  GpuFloats x(gpus.gpu, 4);
  std::vector<float> host(4);
  x.read(host, *side);
  x.release();
  gpus.main.synchronise();
  const std::string text = message_of([&] { side->synchronise(); }, Errc::DeviceLost);
  EXPECT_TRUE(contains(text, "copy failed with memory that was released")) << text;
}

TEST(EmulatedMemory, KernelsOutsideTheirMemoryLoseTheGpuOnly) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 4), there(gpus.peer, 4);
  GpuSum sum = x.plus(x);
  sum.count = 5;
  gpus.gpu.add(sum, gpus.main);
  const std::string text = message_of([&] { gpus.main.synchronise(); }, Errc::DeviceLost);
  EXPECT_TRUE(contains(text,
                       "emu:0 is lost: add failed with read of 4 bytes at allocation 1 of "
                       "emu:0[4] of 4"))
      << text;
  EXPECT_EQ(gpus.gpu.lost(), text);
  EXPECT_EQ(message_of([&] { gpus.gpu.memory(); }, Errc::DeviceLost), text);
  EXPECT_EQ(message_of([&] { gpus.gpu.allocate(4, gpus.main); }, Errc::DeviceLost), text);
  const std::vector<float> values = {1, 2, 3, 4};
  there.write(values, gpus.peer.main_stream());
  EXPECT_EQ(there.values(gpus.peer.main_stream()), values);
}

TEST(EmulatedMemory, KernelsReachPeersWithAccessOnly) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 4), there(gpus.peer, 4);
  const std::vector<float> values = {1, 2, 3, 4};
  x.write(values, gpus.main);
  there.write(values, gpus.peer.main_stream());
  gpus.peer.main_stream().synchronise();
  ASSERT_TRUE(gpus.gpu.can_access(gpus.peer));
  EXPECT_FALSE(gpus.gpu.can_access(gpus.gpu));
  gpus.gpu.set_peer_access(gpus.peer, true);
  gpus.gpu.add(x.plus(there), gpus.main);
  EXPECT_EQ(x.values(gpus.main), (std::vector<float>{2, 4, 6, 8}));
  gpus.gpu.set_peer_access(gpus.peer, false);
  gpus.gpu.add(x.plus(there), gpus.main);
  message_of([&] { gpus.main.synchronise(); }, Errc::DeviceLost);
}

TEST(EmulatedMemory, OnlyPeerCopiesReachPeersWithoutAccess) {
  EmulatedPair gpus(/*peer_access=*/false);
  GpuFloats x(gpus.gpu, 4), there(gpus.peer, 4);
  const std::vector<float> values = {1, 2, 3, 4};
  x.write(values, gpus.main);
  EXPECT_FALSE(gpus.gpu.can_access(gpus.peer));
  EXPECT_FALSE(gpus.peer.can_access(gpus.gpu));
  for (const bool on : {true, false}) {
    const auto choose = [&] { gpus.gpu.set_peer_access(gpus.peer, on); };
    EXPECT_EQ(message_of(choose, Errc::Unsupported),
              "emu:0 cannot reach the memory of emu:1 directly; copies between them go through the "
              "host");
  }
  gpus.gpu.copy_to_peer(gpus.peer, there.bytes(), x.bytes(), 16, gpus.main);
  gpus.main.synchronise();
  EXPECT_EQ(there.values(gpus.peer.main_stream()), values);
  const auto direct = [&] {
    gpus.gpu.copy(GpuCopy::DeviceToDevice, there.bytes(), x.bytes(), 16, gpus.main);
  };
  message_of(direct, Errc::Cuda);
  gpus.gpu.add(x.plus(there), gpus.main);
  const std::string text = message_of([&] { gpus.main.synchronise(); }, Errc::DeviceLost);
  EXPECT_TRUE(contains(text, "memory that is not allocated on emu:0")) << text;
  EXPECT_EQ(there.values(gpus.peer.main_stream()), values) << "the peer continues";
}

TEST(EmulatedMemory, SecondReleaseLosesTheGpu) {
  EmulatedPair gpus;
  std::byte* const x = gpus.gpu.allocate(16, gpus.main);
  gpus.gpu.release(x, gpus.main);
  gpus.gpu.release(x, gpus.main);
  EXPECT_TRUE(contains(gpus.gpu.lost(), "released before"));
}

TEST(EmulatedMemory, PinnedMemoryIsCountedAndReachable) {
  EmulatedPair gpus;
  {
    const auto pinned = gpus.gpu.allocate_pinned(16);
    EXPECT_EQ(gpus.gpu.holdings().pinned_bytes, 16);
    auto* host = reinterpret_cast<float*>(pinned->data());
    for (int i = 0; i < 4; ++i) host[i] = 1;
    GpuFloats x(gpus.peer, 4);
    const GpuSum sum{DType::F32, pinned->data(), pinned->data(), x.bytes(), 4};
    gpus.peer.add(sum, gpus.peer.main_stream());
    EXPECT_EQ(x.values(gpus.peer.main_stream()), std::vector<float>(4, 2.0F));
  }
  EXPECT_EQ(gpus.gpu.holdings().pinned_bytes, 0);
}

TEST(EmulatedGpus, DescribeThemselves) {
  EmulatedPair gpus;
  EXPECT_EQ(gpus.gpu.facts().name, "Emulated GPU");
  EXPECT_EQ(to_string(gpus.peer.facts().device), "emu:1");
  EXPECT_TRUE(gpus.gpu.matmul().rungs().empty());
  const auto transfers = [&] { gpus.gpu.transfers(); };
  EXPECT_EQ(message_of(transfers, Errc::Unsupported), "emulated: never timed");
}

}  // namespace
}  // namespace lab::test
