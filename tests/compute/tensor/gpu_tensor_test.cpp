#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compute/core/units.h"
#include "compute/machine/machine.h"
#include "compute/machine/telemetry.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"
#include "compute/tensor/tensor_store.h"
#include "tests/support/errors.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab {
namespace {

using test::FakeBackend;
using test::message_of;

constexpr DType kEveryDType[] = {DType::F32, DType::BF16, DType::I32, DType::I64, DType::U8};

struct TensorOnGpu : ::testing::Test {
  std::shared_ptr<FakeBackend> fake = std::make_shared<FakeBackend>(2, 64 * kMiB);
  Machine machine{{.open_gpus = test::backend_opener(fake)}};
  DeviceContext& host = machine.at(cpu());
  DeviceContext& first = machine.at(gpu(0));
  DeviceContext& second = machine.at(gpu(1));

  // Bitwise comparison, including NaN.
  void expect_equal(const Tensor& on_gpu, const Tensor& on_cpu) {
    const Tensor back = on_gpu.to(host);
    ASSERT_EQ(back.bytes(), on_cpu.bytes());
    if (back.bytes() == 0) return;
    EXPECT_EQ(std::memcmp(back.data(), on_cpu.data(), static_cast<std::size_t>(on_cpu.bytes())), 0);
  }
};

TEST_F(TensorOnGpu, FillsMatchTheCpu) {
  for (const DType dtype : kEveryDType) {
    SCOPED_TRACE(to_string(dtype));
    expect_equal(zeros(first, {3, 5}, dtype), zeros(host, {3, 5}, dtype));
    expect_equal(ones(first, {3, 5}, dtype), ones(host, {3, 5}, dtype));
    expect_equal(full(first, {7}, 42, dtype), full(host, {7}, 42, dtype));
    expect_equal(arange(first, 1000, dtype), arange(host, 1000, dtype));
    expect_equal(ones(first, {3, 0}, dtype), ones(host, {3, 0}, dtype));
  }
  for (const DType dtype : {DType::F32, DType::BF16}) {
    expect_equal(rand(second, {1001}, 7, dtype), rand(host, {1001}, 7, dtype));
    expect_equal(randn(second, {1001}, 7, dtype), randn(host, {1001}, 7, dtype));
    expect_equal(full(first, {4}, std::nan(""), dtype), full(host, {4}, std::nan(""), dtype));
  }
  const std::vector<float> values = {1, 2, 3, 4};
  EXPECT_EQ(preview(from(first, {2, 2}, values)), "1, 2, 3, 4");
}

TEST_F(TensorOnGpu, TypedValuesAndGridsMatchTheCpu) {
  const std::vector<double> values = {1, 2, 3, 40, 5, 6};
  for (const DType dtype : kEveryDType) {
    SCOPED_TRACE(to_string(dtype));
    Tensor there(first, {2, 3}, dtype), here(host, {2, 3}, dtype);
    for (Tensor* x : {&there, &here})
      fill_range(*x, {.fill = Fill::Values, .values = values}, 0, 6);
    expect_equal(there, here);
    EXPECT_EQ(value_grid(there).values, values);
    const Tensor large = arange(first, 100, dtype);
    EXPECT_EQ(value_grid(large).values, (std::vector<double>{0, 1, 2, 3, 96, 97, 98, 99}));
  }
}

TEST_F(TensorOnGpu, CopiesInEveryDirection) {
  // More than two staging chunks, with a ragged end.
  const Tensor x = randn(host, {3 * kMiB + 5}, 3);
  const Tensor there = x.to(first);
  EXPECT_EQ(there.device(), gpu(0));
  expect_equal(there, x);
  const Tensor beside = there.copy_to(second);
  EXPECT_EQ(beside.device(), gpu(1));
  expect_equal(beside, x);
  const Tensor again = there.copy_to(first);
  EXPECT_FALSE(again.shares_storage_with(there));
  expect_equal(again, x);
  EXPECT_TRUE(there.to(first).shares_storage_with(there));
  EXPECT_EQ(fake->gpu(0).pinned_pieces(), 2);
  EXPECT_EQ(fake->gpu(0).holdings().pinned_bytes, 8 * kMiB) << "kept for the next copy";
}

TEST_F(TensorOnGpu, CopiesWorkWithoutPinnedMemory) {
  fake->gpu(0).faults.no_pinned_memory = true;
  const Tensor x = randn(host, {3 * kMiB + 5}, 4);
  expect_equal(x.to(first), x);
  EXPECT_EQ(fake->gpu(0).pinned_pieces(), 0);
}

TEST_F(TensorOnGpu, ComputesSumsAndNorms) {
  for (const DType dtype : kEveryDType) {
    SCOPED_TRACE(to_string(dtype));
    const Tensor x = arange(host, 300, dtype);
    const Tensor y = full(host, {300}, 9, dtype);
    expect_equal(x.to(first) + y.to(first), x + y);
    EXPECT_DOUBLE_EQ(norm(x.to(first)), norm(x));
  }
  EXPECT_EQ(norm(zeros(first, {0})), 0);
}

TEST_F(TensorOnGpu, RejectsImplicitCopies) {
  const Tensor x = ones(first, {2});
  const Tensor y = ones(host, {2});
  EXPECT_EQ(message_of([&] { add(x, y); }, Errc::DeviceMismatch),
            "add: X is on cuda:0 and Y on cpu:0; copy one first: X.copy_to(cpu:0)");
  EXPECT_EQ(message_of([&] { add(x, ones(second, {2})); }, Errc::DeviceMismatch),
            "add: X is on cuda:0 and Y on cuda:1; copy one first: X.copy_to(cuda:1)");
  EXPECT_EQ(message_of([&] { x.values<float>(); }, Errc::DeviceMismatch),
            "values: the tensor is on cuda:0, which the CPU cannot read; copy it first: x.to(cpu)");
  EXPECT_EQ(message_of([&] { first.threads(); }, Errc::Unsupported),
            "cuda:0 is a GPU and has no CPU threads; choose cpu:0 for this");
}

TEST_F(TensorOnGpu, AccountsAreExact) {
  {
    const Tensor x = zeros(first, {1000});
    const Tensor y = x.copy_to(first);
    const Tensor shared = x.to(first);
    EXPECT_EQ(first.memory().used_bytes(), 8000);
    EXPECT_EQ(fake->gpu(0).used_bytes(), 8000);
    const TensorList list = list_tensors(machine);
    ASSERT_EQ(list.tensors.size(), 2U);
    EXPECT_EQ(list.tensors[0].device, gpu(0));
  }
  EXPECT_EQ(first.memory().used_bytes(), 0);
  EXPECT_EQ(first.memory().peak_bytes(), 8000);
  EXPECT_EQ(first.memory().limit_bytes(), 64 * kMiB);
  EXPECT_EQ(fake->gpu(0).used_bytes(), 0);
}

TEST_F(TensorOnGpu, OutOfMemoryReportsSizesAndIsRecoverable) {
  const Tensor kept = ones(first, {4 * kMiB});  // 16 MiB
  EXPECT_EQ(message_of([&] { zeros(first, {16 * kMiB}); }, Errc::OutOfMemory),
            "cuda:0: 64.0 MiB requested, 48.0 MiB free of 64.0 MiB; free some tensors, or choose a "
            "smaller size or another device");
  // Memory held by other processes is not in this process's accounting, so the GPU itself rejects
  // the allocation.
  GpuStream& stream = fake->gpu(0).main_stream();
  std::byte* others = fake->gpu(0).allocate(40 * kMiB, stream);
  EXPECT_EQ(
      message_of([&] { zeros(first, {4 * kMiB}); }, Errc::OutOfMemory),
      "cuda:0: 16.0 MiB requested, but the GPU has 8.00 MiB free of 64.0 MiB; this process's pool "
      "holds 56.0 MiB, 56.0 MiB of it in use; free some tensors, or choose a smaller size or "
      "another "
      "device");
  EXPECT_EQ(first.memory().used_bytes(), 16 * kMiB);
  EXPECT_EQ(preview(ones(first, {2}) + ones(first, {2})), "2, 2");
  EXPECT_EQ(preview(kept, 1), "1, ...");
  fake->gpu(0).release(others, stream);
}

TEST_F(TensorOnGpu, FailedCallLeavesTheGpuUsable) {
  fake->gpu(0).faults.fails = "fill";
  EXPECT_EQ(message_of([&] { zeros(first, {2}); }, Errc::Cuda),
            "cuda:0: fill failed: cudaErrorInvalidValue (invalid argument)");
  EXPECT_EQ(first.memory().used_bytes(), 0);
  EXPECT_EQ(preview(zeros(first, {2})), "0, 0");
}

TEST_F(TensorOnGpu, LostGpuIsReportedAndOthersWork) {
  {
    const Tensor x = ones(first, {2});
    fake->gpu(0).faults.loses = "add";
    const std::string sentence = message_of([&] { add(x, x); }, Errc::DeviceLost);
    EXPECT_EQ(sentence,
              "cuda:0 is lost: add failed with cudaErrorIllegalAddress (an illegal memory access); "
              "its data is gone; restart device-lab to use it again");
    fake->gpu(0).faults = {};
    EXPECT_EQ(message_of([&] { zeros(first, {2}); }, Errc::DeviceLost), sentence);
    EXPECT_EQ(message_of([&] { x.to(host); }, Errc::DeviceLost), sentence);
    EXPECT_EQ(first.gpu()->lost(), sentence);
    EXPECT_EQ(preview(ones(second, {2})), "1, 1");
    EXPECT_EQ(preview(ones(host, {2})), "1, 1");
  }
  EXPECT_EQ(first.memory().used_bytes(), 0);
  EXPECT_TRUE(second.gpu()->lost().empty());
}

TEST_F(TensorOnGpu, StorePreviewsTheFirstValues) {
  TensorStore store;
  const TensorId id = store.add(arange(first, 10), "X");
  EXPECT_EQ(first.memory().list().at(0).preview, "0, 1, 2, 3, 4, 5, ...");
  store.free(id);
  EXPECT_EQ(first.memory().used_bytes(), 0);
}

TEST(Norm, MatchesItsDefinition) {
  Machine machine;
  DeviceContext& host = machine.at(cpu());
  EXPECT_EQ(norm(zeros(host, {0})), 0);
  EXPECT_EQ(norm(full(host, {}, -3)), 3);
  const std::vector<float> pair = {3, 4};
  EXPECT_EQ(norm(from(host, {2}, pair)), 5);
  const Tensor x = randn(host, {200'001}, 5);
  long double sum = 0;
  for (const float v : x.values<float>()) sum += static_cast<long double>(v) * v;
  EXPECT_NEAR(norm(x), static_cast<double>(std::sqrt(sum)), 1e-10);
  EXPECT_TRUE(std::isnan(norm(full(host, {3}, std::nan("")))));
}

}  // namespace
}  // namespace lab
