// Copies between the CPU and GPUs, and between GPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "compute/core/units.h"
#include "compute/tensor/tensor.h"
#include "tests/gpu/gpu_machine.h"

namespace lab {
namespace {

using test::gpu_machine;

// Below, at and above the copy chunk size, with ragged ends.
constexpr std::int64_t kCopyBytes[] = {
    1, 3, 1000, 4 * kMiB - 1, 4 * kMiB, 4 * kMiB + 1, 37 * kMiB + 5};

bool same_bytes(const Tensor& x, const Tensor& y) {
  return x.bytes() == y.bytes() &&
         std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.bytes())) == 0;
}

Tensor numbered(std::int64_t bytes) {
  return arange(gpu_machine().at(cpu()), bytes, DType::U8);
}

TEST(GpuCopy, RoundTrips) {
  LAB_REQUIRE_GPU();
  for (const std::int64_t bytes : kCopyBytes) {
    SCOPED_TRACE(bytes);
    const Tensor x = numbered(bytes);
    const Tensor there = x.to(gpu_machine().at(gpu()));
    EXPECT_TRUE(same_bytes(there.to(gpu_machine().at(cpu())), x));
  }
}

TEST(GpuCopy, CopiesOnOneGpu) {
  LAB_REQUIRE_GPU();
  for (const std::int64_t bytes : kCopyBytes) {
    SCOPED_TRACE(bytes);
    const Tensor x = numbered(bytes);
    const Tensor copy = x.to(gpu_machine().at(gpu())).copy_to(gpu_machine().at(gpu()));
    EXPECT_TRUE(same_bytes(copy.to(gpu_machine().at(cpu())), x));
  }
}

TEST(GpuCopy, CopiesBetweenGpusWithAndWithoutPeerAccess) {
  LAB_REQUIRE_GPUS(2);
  DeviceContext& first = gpu_machine().at(gpu(0));
  DeviceContext& second = gpu_machine().at(gpu(1));
  const Tensor x = numbered(9 * kMiB + 1);
  EXPECT_TRUE(same_bytes(x.to(first).to(second).to(gpu_machine().at(cpu())), x));
  if (!first.gpu()->can_access(*second.gpu())) return;
  first.gpu()->set_peer_access(*second.gpu(), true);
  EXPECT_TRUE(same_bytes(x.to(first).to(second).to(gpu_machine().at(cpu())), x));
  first.gpu()->set_peer_access(*second.gpu(), false);
}

TEST(GpuCopy, UsesPinnedMemoryStreamsAndEvents) {
  LAB_REQUIRE_GPU();
  GpuDevice& gpu = *gpu_machine().at(lab::gpu()).gpu();
  constexpr std::int64_t kBytes = 16 * kMiB;
  const auto sent = gpu.allocate_pinned(kBytes);
  const auto back = gpu.allocate_pinned(kBytes);
  std::fill_n(sent->data(), kBytes, std::byte{0x5a});
  std::fill_n(back->data(), kBytes, std::byte{0});
  const auto up = gpu.make_stream(), down = gpu.make_stream();
  const auto begin = gpu.make_event(), there = gpu.make_event();
  std::byte* memory = gpu.allocate(kBytes, *up);
  begin->record(*up);
  gpu.copy(GpuCopy::HostToDevice, memory, sent->data(), kBytes, *up);
  there->record(*up);
  down->wait(*there);
  gpu.copy(GpuCopy::DeviceToHost, back->data(), memory, kBytes, *down);
  down->synchronise();
  EXPECT_TRUE(there->done());
  EXPECT_GT(there->seconds_since(*begin), 0);
  EXPECT_TRUE(std::equal(sent->data(), sent->data() + kBytes, back->data()));
  gpu.release(memory, *down);
  down->synchronise();
}

}  // namespace
}  // namespace lab
