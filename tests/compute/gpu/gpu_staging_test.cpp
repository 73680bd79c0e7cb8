#include "compute/gpu/gpu_staging.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "compute/core/units.h"
#include "tests/support/errors.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab {
namespace {

void move_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

std::vector<std::byte> numbered(std::int64_t bytes, int first) {
  std::vector<std::byte> values(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::byte>(i * 7 + i / 251 + static_cast<std::size_t>(first));
  }
  return values;
}

void round_trip(GpuDevice& gpu, GpuStaging& staging, std::int64_t bytes, int first) {
  std::byte* there = gpu.allocate(bytes, gpu.main_stream());
  const std::vector<std::byte> sent = numbered(bytes, first);
  std::vector<std::byte> back(sent.size());
  staging.to_gpu(there, sent.data(), bytes, move_bytes);
  staging.from_gpu(back.data(), there, bytes, move_bytes);
  EXPECT_EQ(back, sent);
  gpu.release(there, gpu.main_stream());
}

TEST(GpuStaging, CopiesAnySize) {
  test::FakeGpu gpu(0, 64 * kMiB);
  GpuStaging staging(gpu);
  for (const std::int64_t bytes :
       {std::int64_t{1}, 4 * kMiB - 1, 4 * kMiB, 4 * kMiB + 1, 8 * kMiB, 13 * kMiB + 3}) {
    SCOPED_TRACE(bytes);
    round_trip(gpu, staging, bytes, 3);
  }
}

TEST(GpuStaging, SerializesConcurrentThreads) {
  test::FakeGpu gpu(0, 64 * kMiB);
  GpuStaging staging(gpu);
  std::vector<std::jthread> threads;
  threads.reserve(3);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] { round_trip(gpu, staging, 5 * kMiB, t); });
  }
}

TEST(GpuStaging, LostGpuIsNotReportedAsOutOfMemory) {
  test::FakeGpu gpu(0, kMiB);
  GpuStaging staging(gpu);
  gpu.faults.loses = "allocate_pinned";
  std::byte byte{};
  test::message_of([&] { staging.to_gpu(&byte, &byte, 1, move_bytes); }, Errc::DeviceLost);
}

}  // namespace
}  // namespace lab
