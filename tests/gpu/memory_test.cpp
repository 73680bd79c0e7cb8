// Accounting of GPU memory, and out-of-memory errors.
#include <gtest/gtest.h>

#include "compute/core/units.h"
#include "compute/tensor/tensor.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

using test::gpu_machine;

TEST(GpuMemory, CountsTensorsExactly) {
  LAB_REQUIRE_GPU();
  DeviceContext& context = gpu_machine().at(gpu());
  const std::int64_t before = context.memory().used_bytes();
  const std::int64_t pool_before = context.gpu()->memory().pool_used_bytes;
  {
    const Tensor x = zeros(context, {1 << 20});
    EXPECT_EQ(context.memory().used_bytes() - before, 4 * kMiB);
    const GpuMemory memory = context.gpu()->memory();
    EXPECT_EQ(memory.pool_used_bytes - pool_before, 4 * kMiB);
    EXPECT_GE(memory.pool_reserved_bytes, memory.pool_used_bytes);
    EXPECT_GT(memory.free_bytes, 0);
    EXPECT_LE(memory.free_bytes + memory.pool_reserved_bytes, memory.total_bytes);
  }
  context.gpu()->main_stream().synchronise();
  EXPECT_EQ(context.memory().used_bytes(), before);
  EXPECT_EQ(context.gpu()->memory().pool_used_bytes, pool_before);
}

TEST(GpuMemory, CountsMemoryBesideTensors) {
  LAB_REQUIRE_GPU();
  DeviceContext& context = gpu_machine().at(gpu());
  GpuDevice& gpu = *context.gpu();
  const std::int64_t before = gpu.holdings().pinned_bytes;
  {
    const auto pinned = gpu.allocate_pinned(3 * kMiB);
    EXPECT_EQ(gpu.holdings().pinned_bytes - before, 3 * kMiB);
  }
  EXPECT_EQ(gpu.holdings().pinned_bytes, before);
  const Tensor x = zeros(context, {1 << 20});
  EXPECT_GE(gpu.holdings().pool_reserved_bytes, 4 * kMiB);
  EXPECT_EQ(gpu.holdings().pool_reserved_bytes, gpu.memory().pool_reserved_bytes);
}

TEST(GpuMemory, PoolReleasesCachedMemory) {
  LAB_REQUIRE_GPU();
  DeviceContext& context = gpu_machine().at(gpu());
  { const Tensor x = zeros(context, {64 << 20}); }
  context.gpu()->main_stream().synchronise();
  context.gpu()->trim_pool();
  const GpuMemory memory = context.gpu()->memory();
  EXPECT_LT(memory.pool_reserved_bytes - memory.pool_used_bytes, 64 * kMiB);
}

TEST(GpuMemory, RejectsMoreThanTheGpuHas) {
  LAB_REQUIRE_GPU();
  DeviceContext& context = gpu_machine().at(gpu());
  const std::int64_t total = context.info().memory_total_bytes;
  const std::string refused =
      test::message_of([&] { Tensor(context, {total + 1}, DType::U8); }, Errc::OutOfMemory);
  EXPECT_NE(refused.find(format_bytes(total)), std::string::npos) << refused;
  EXPECT_EQ(preview(ones(context, {2})), "1, 1");
}

// Less than the GPU's capacity but more than is free: the GPU itself must reject it.
TEST(GpuMemory, DriverOutOfMemoryReportsSizesAndIsRecoverable) {
  LAB_REQUIRE_GPU();
  DeviceContext& context = gpu_machine().at(gpu());
  const GpuMemory memory = context.gpu()->memory();
  const std::int64_t held = context.memory().used_bytes();
  const std::int64_t others = memory.total_bytes - memory.free_bytes - memory.pool_reserved_bytes;
  if (others < 64 * kMiB) GTEST_SKIP() << "no other process uses GPU memory";
  const std::int64_t asked = context.info().memory_limit_bytes - held - 16 * kMiB;
  const std::string refused =
      test::message_of([&] { Tensor(context, {asked}, DType::U8); }, Errc::OutOfMemory);
  EXPECT_NE(refused.find(format_bytes(asked) + " requested, but the GPU has"), std::string::npos)
      << refused;
  EXPECT_EQ(context.memory().used_bytes(), held);
  EXPECT_EQ(preview(ones(context, {2}) + ones(context, {2})), "2, 2");
}

}  // namespace
}  // namespace lab
