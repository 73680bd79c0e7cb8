#include "compute/tensor/tensor.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "compute/core/units.h"
#include "compute/machine/machine.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor_store.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

using test::message_of;

struct TensorTest : ::testing::Test {
  Machine machine{{.cpu_devices = 2}};
  DeviceContext& first = machine.at(cpu(0));
  DeviceContext& second = machine.at(cpu(1));
};

constexpr DType kAll[] = {DType::F32, DType::BF16, DType::I32, DType::I64, DType::U8};

TEST_F(TensorTest, CreatesEveryDtype) {
  for (const DType dtype : kAll) {
    SCOPED_TRACE(to_string(dtype));
    const Shape shape{2, 3};
    EXPECT_EQ(preview(zeros(first, shape, dtype)), "0, 0, 0, 0, 0, 0");
    EXPECT_EQ(preview(ones(first, shape, dtype)), "1, 1, 1, 1, 1, 1");
    EXPECT_EQ(preview(full(first, shape, 42, dtype)), "42, 42, 42, 42, 42, 42");
    EXPECT_EQ(preview(arange(first, 8, dtype), 3), "0, 1, 2, ...");
    const Tensor x = zeros(first, shape, dtype);
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(x.shape(), shape);
    EXPECT_EQ(x.size(), 6);
    EXPECT_EQ(x.bytes(), 6 * size_of(dtype));
    EXPECT_EQ(x.device(), cpu(0));
  }
}

TEST_F(TensorTest, SupportsEmptyAndScalarShapes) {
  for (const DType dtype : kAll) {
    const Tensor empty = ones(first, {3, 0}, dtype);
    EXPECT_TRUE(empty.defined());
    EXPECT_EQ(empty.bytes(), 0);
    EXPECT_EQ(preview(empty), "(empty)");
    EXPECT_EQ(preview(add(empty, empty)), "(empty)");
    EXPECT_EQ(preview(empty.copy_to(second)), "(empty)");
    EXPECT_EQ(preview(full(first, {}, 7, dtype)), "7");
  }
}

TEST_F(TensorTest, StorageIsAlignedAndAccounted) {
  const std::int64_t before = first.memory().used_bytes();
  {
    const Tensor small = zeros(first, {3});
    const Tensor large = zeros(first, {5 * kMiB / 4});
    EXPECT_EQ(first.memory().used_bytes(), before + 12 + 5 * kMiB);
    for (const Tensor* x : {&small, &large}) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x->values<float>().data()) % 64, 0U);
    }
    const Tensor shared = large;
    EXPECT_TRUE(shared.shares_storage_with(large));
    EXPECT_EQ(first.memory().used_bytes(), before + 12 + 5 * kMiB);
  }
  EXPECT_EQ(first.memory().used_bytes(), before);
  EXPECT_EQ(first.memory().peak_bytes(), before + 12 + 5 * kMiB);
}

// Otherwise the speed of a copy depends on where its arrays happen to lie; see buffer.cpp.
TEST_F(TensorTest, StorageOfAPageOrMoreStartsAtAPage) {
  std::vector<Tensor> kept;
  for (const std::int64_t n : {1024, 1025, 3000, 100'000}) {
    kept.push_back(zeros(first, {n}));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kept.back().values<float>().data()) % 4096, 0U) << n;
  }
}

TEST_F(TensorTest, RejectsHugeShapesBeforeAllocating) {
  const std::int64_t most = std::int64_t{1} << 62;
  EXPECT_THROW(Tensor(first, {most, 4}, DType::U8), Error);
  EXPECT_NE(message_of([&] { Tensor(first, {most}, DType::I64); }, Errc::InvalidArgument)
                .find("2^62 bytes"),
            std::string::npos);
  const std::string refused = message_of([&] { zeros(first, {most / 4}); }, Errc::OutOfMemory);
  EXPECT_EQ(refused.rfind("cpu:0: 4194304 TiB requested, ", 0), 0U) << refused;
  EXPECT_EQ(first.memory().list().size(), 0U);
}

TEST_F(TensorTest, TypedAccessChecksTheType) {
  Tensor x = zeros(first, {2}, DType::I32);
  x.values<std::int32_t>()[1] = 5;
  EXPECT_EQ(preview(x), "0, 5");
  EXPECT_EQ(message_of([&] { x.values<float>(); }, Errc::InvalidArgument),
            "values: the tensor is i32 but was read as f32");
  EXPECT_THROW(Tensor().values<float>(), Error);
}

TEST_F(TensorTest, ToSharesStorageAndCopyToCopies) {
  const Tensor x = arange(first, 1000, DType::I64);
  EXPECT_TRUE(x.to(first).shares_storage_with(x));
  const Tensor there = x.to(second);
  EXPECT_EQ(there.device(), cpu(1));
  EXPECT_FALSE(there.shares_storage_with(x));
  Tensor again = x.copy_to(first);
  EXPECT_FALSE(again.shares_storage_with(x));
  EXPECT_EQ(again.device(), cpu(0));
  again.values<std::int64_t>()[0] = -1;
  EXPECT_EQ(x.values<std::int64_t>()[0], 0);
  EXPECT_EQ(there.values<std::int64_t>()[999], 999);
  EXPECT_NE(there.id(), x.id());
}

TEST_F(TensorTest, AddsEveryDtype) {
  for (const DType dtype : kAll) {
    SCOPED_TRACE(to_string(dtype));
    const Tensor x = arange(first, 50000, dtype);
    const Tensor sum = x + full(first, {50000}, 3, dtype);
    EXPECT_EQ(sum.dtype(), dtype);
    EXPECT_EQ(preview(sum, 4), "3, 4, 5, 6, ...");
  }
}

TEST_F(TensorTest, IntegerSumsWrapAround) {
  const Tensor bytes = full(first, {2}, 250, DType::U8);
  EXPECT_EQ(preview(bytes + bytes), "244, 244");
  const Tensor ints = full(first, {1}, std::numeric_limits<std::int32_t>::max(), DType::I32);
  EXPECT_EQ(preview(ints + ones(first, {1}, DType::I32)), "-2147483648");
}

TEST_F(TensorTest, MismatchErrorsNameBothOperands) {
  const Tensor x = ones(first, {2, 3});
  EXPECT_EQ(message_of(
                [&] {
                  add(x, ones(second, {2, 3}));
                },
                Errc::DeviceMismatch),
            "add: X is on cpu:0 and Y on cpu:1; copy one first: X.copy_to(cpu:1)");
  EXPECT_EQ(message_of(
                [&] {
                  add(x, ones(first, {3, 2}));
                },
                Errc::InvalidArgument),
            "add: X is [2,3] but Y is [3,2]; the shapes must be equal");
  EXPECT_EQ(message_of(
                [&] {
                  add(x, ones(first, {2, 3}, DType::I32));
                },
                Errc::InvalidArgument),
            "add: X is f32 but Y is i32; the dtypes must be equal");
}

TEST_F(TensorTest, ReportsUndefinedTensors) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  const Tensor x = ones(first, {2});
  EXPECT_EQ(message_of([&] { add(none, x); }, Errc::InvalidArgument),
            "tensor: it is undefined and has no storage; create it first");
  EXPECT_THROW(add(x, none), Error);
  EXPECT_THROW(none.copy_to(second), Error);
  EXPECT_THROW(none.to(second), Error);
  EXPECT_THROW(none.device(), Error);
  EXPECT_THROW(none.id(), Error);
}

TEST_F(TensorTest, FullRejectsValuesOutOfRange) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(full(first, {1}, 1e39, DType::F32), Error);
  EXPECT_THROW(full(first, {1}, -3.4e38, DType::BF16), Error);
  EXPECT_EQ(preview(full(first, {1}, 3.4e38, DType::F32)), "3.4e+38");
  EXPECT_EQ(preview(full(first, {1}, 3.38e38, DType::BF16)), "3.376e+38");
  EXPECT_EQ(preview(full(first, {2}, -kInfinity, DType::BF16)), "-inf, -inf");
}

TEST_F(TensorTest, RejectsInvalidFills) {
  EXPECT_THROW(rand(first, {2}, 1, DType::I32), Error);
  EXPECT_THROW(randn(first, {2}, 1, DType::U8), Error);
  EXPECT_EQ(message_of([&] { full(first, {2}, 256, DType::U8); }, Errc::InvalidArgument),
            "full: 256 does not fit in u8; choose a value in its range or another dtype");
  EXPECT_THROW(full(first, {2}, -1, DType::U8), Error);
  EXPECT_THROW(full(first, {2}, std::nan(""), DType::I64), Error);
  EXPECT_THROW(full(first, {2}, 0x1p63, DType::I64), Error);
  EXPECT_NO_THROW(full(first, {2}, -0x1p63, DType::I64));
  EXPECT_EQ(preview(full(first, {1}, 255.5, DType::U8)), "255");
  EXPECT_EQ(first.memory().list().size(), 0U);
}

TEST_F(TensorTest, FromChecksTheNumberOfValues) {
  const std::vector<float> values{1, 2, 3, 4};
  EXPECT_EQ(preview(from(first, {2, 2}, values)), "1, 2, 3, 4");
  EXPECT_EQ(message_of([&] { from(first, {3}, values); }, Errc::InvalidArgument),
            "from: shape [3] holds 3 values but 4 were given");
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(to_bf16(1.0F).bits, 0x3F80);
  EXPECT_EQ(to_bf16(1.0F + 0x1p-8F).bits, 0x3F80);      // tie, rounds down to even
  EXPECT_EQ(to_bf16(1.0F + 3 * 0x1p-8F).bits, 0x3F82);  // tie, rounds up to even
  EXPECT_EQ(to_bf16(1.0F + 0x1.02p-8F).bits, 0x3F81);
  EXPECT_EQ(to_bf16(-0.0F).bits, 0x8000);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()).bits, 0x7F80);  // overflows to infinity
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::infinity()).bits, 0x7F80);
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7F800001U)))));
  EXPECT_EQ(to_float({0x4049}), 3.140625F);
}

TEST(Buffer, MovesOwnership) {
  Machine machine;
  DeviceContext& context = machine.at(cpu());
  Buffer a(context, 100, {});
  const TensorId id = a.id();
  Buffer b(std::move(a));
  EXPECT_EQ(b.id(), id);
  Buffer c(context, 50, {});
  c = std::move(b);
  EXPECT_EQ(c.bytes(), 100);
  b = Buffer();
  EXPECT_EQ(context.memory().used_bytes(), 100);
  c = Buffer();
  EXPECT_EQ(context.memory().used_bytes(), 0);
}

TEST_F(TensorTest, StoreNamesMarksAndFrees) {
  TensorStore store;
  const TensorId a = store.add(ones(first, {3}));
  const TensorId b = store.add(zeros(second, {2}), "weights");
  EXPECT_EQ(store.name(a), "X1");
  EXPECT_EQ(store.name(b), "weights");
  const auto list = first.memory().list();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].id, a);
  EXPECT_EQ(list[0].name, "X1");
  EXPECT_TRUE(list[0].owned_by_page);
  EXPECT_EQ(list[0].preview, "1, 1, 1");
  store.free(a);
  EXPECT_TRUE(first.memory().list().empty());
  EXPECT_EQ(message_of([&] { store.free(a); }, Errc::NotFound),
            "tensor " + std::to_string(a) + " is not in the list; it may have been freed already");
  EXPECT_THROW(store.at(a), Error);
  EXPECT_THROW(store.name(a), Error);
  EXPECT_THROW(store.add(Tensor()), Error);
  store.clear();
  EXPECT_EQ(second.memory().used_bytes(), 0);
}

TEST(ValueGrid, HoldsAllValuesOrTheEdges) {
  Machine machine;
  DeviceContext& host = machine.at(cpu());
  const ValueGrid small = value_grid(arange(host, 6));
  EXPECT_TRUE(small.complete());
  EXPECT_EQ(small.rows, 1);
  EXPECT_EQ(small.values, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(value_grid(full(host, {}, 7)).values, std::vector<double>{7});
  EXPECT_TRUE(value_grid(zeros(host, {3, 0})).complete());

  Tensor x(host, {2, 20, 17}, DType::F32);
  fill_range(x, {.fill = Fill::Arange}, 0, x.size());
  const ValueGrid large = value_grid(x);
  EXPECT_FALSE(large.complete());
  EXPECT_EQ(large.rows, 40);
  EXPECT_EQ(large.shown_rows, (std::vector<std::int64_t>{0, 1, 2, 3, 36, 37, 38, 39}));
  EXPECT_EQ(large.shown_columns, (std::vector<std::int64_t>{0, 1, 2, 3, 13, 14, 15, 16}));
  ASSERT_EQ(large.values.size(), 64U);
  EXPECT_EQ(large.values[4], 13);
  EXPECT_EQ(large.values[63], 39 * 17 + 16);
}

TEST(Fills, TypedValuesMustMatchTheShape) {
  Machine machine;
  Tensor x(machine.at(cpu()), {3}, DType::F32);
  const std::vector<double> two = {1, 2};
  const std::string message = message_of(
      [&] { fill_range(x, {.fill = Fill::Values, .values = two}, 0, 3); }, Errc::InvalidArgument);
  EXPECT_NE(message.find("3 values but 2"), std::string::npos) << message;
}

}  // namespace
}  // namespace lab
