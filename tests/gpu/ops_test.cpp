// GPU operations against the CPU: bitwise where results must match, otherwise against float64.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "compute/experiments/matmul/tensor_matmul.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/element_counts.h"

namespace lab {
namespace {

using test::gpu_machine;

constexpr DType kAll[] = {DType::F32, DType::BF16, DType::I32, DType::I64, DType::U8};
const std::vector<std::int64_t> kSizes = test::counts_with({0, 1'000'003});

DeviceContext& host() {
  return gpu_machine().at(cpu());
}
DeviceContext& remote() {
  return gpu_machine().at(gpu());
}

void expect_same_bits(const Tensor& on_gpu, const Tensor& on_cpu) {
  const Tensor back = on_gpu.to(host());
  ASSERT_EQ(back.bytes(), on_cpu.bytes());
  if (back.bytes() == 0) return;
  EXPECT_EQ(std::memcmp(back.data(), on_cpu.data(), static_cast<std::size_t>(back.bytes())), 0);
}

TEST(GpuFill, ConstantsAndIndicesMatchCpuBitForBit) {
  LAB_REQUIRE_GPU();
  for (const DType dtype : kAll) {
    for (const std::int64_t n : kSizes) {
      SCOPED_TRACE(std::string(to_string(dtype)) + " " + std::to_string(n));
      expect_same_bits(zeros(remote(), {n}, dtype), zeros(host(), {n}, dtype));
      expect_same_bits(full(remote(), {n}, 42, dtype), full(host(), {n}, 42, dtype));
      expect_same_bits(arange(remote(), n, dtype), arange(host(), n, dtype));
    }
  }
}

TEST(GpuFill, RandomNumbersMatchCpuBitForBit) {
  LAB_REQUIRE_GPU();
  for (const DType dtype : {DType::F32, DType::BF16}) {
    for (const std::int64_t n : kSizes) {
      for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x123456789abcdef}}) {
        SCOPED_TRACE(std::string(to_string(dtype)) + " " + std::to_string(n));
        expect_same_bits(rand(remote(), {n}, seed, dtype), rand(host(), {n}, seed, dtype));
        expect_same_bits(randn(remote(), {n}, seed, dtype), randn(host(), {n}, seed, dtype));
      }
    }
  }
}

TEST(GpuFill, PartialFillMatchesTheWhole) {
  LAB_REQUIRE_GPU();
  const FillWith with{Fill::Randn, 0, 7};
  Tensor parts = zeros(remote(), {10'001});
  for (const auto& [begin, end] : {std::pair{0, 5}, {5, 1030}, {1030, 1031}, {1031, 10'001}}) {
    fill_range(parts, with, begin, end);
  }
  expect_same_bits(parts, randn(host(), {10'001}, 7));
}

TEST(GpuAdd, AgreesWithTheCpu) {
  LAB_REQUIRE_GPU();
  for (const DType dtype : kAll) {
    for (const std::int64_t n : kSizes) {
      SCOPED_TRACE(std::string(to_string(dtype)) + " " + std::to_string(n));
      const Tensor x = arange(host(), n, dtype), y = full(host(), {n}, 97, dtype);
      expect_same_bits(x.to(remote()) + y.to(remote()), x + y);
    }
  }
}

TEST(GpuAdd, PropagatesNanAndInfinity) {
  LAB_REQUIRE_GPU();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::F32, DType::BF16}) {
    const Tensor nan = full(remote(), {3}, std::nan(""), dtype);
    EXPECT_TRUE(std::isnan(norm(nan + ones(remote(), {3}, dtype))));
    const Tensor inf = full(remote(), {3}, infinity, dtype);
    EXPECT_EQ(preview(inf + ones(remote(), {3}, dtype)), "inf, inf, inf");
  }
}

TEST(GpuNorm, AgreesWithLongDouble) {
  LAB_REQUIRE_GPU();
  for (const std::int64_t n : test::counts_with({0, 300'000, 5'000'003})) {
    const Tensor x = randn(host(), {n}, 3);
    long double sum = 0;
    for (const float v : x.values<float>()) sum += static_cast<long double>(v) * v;
    const auto expected = static_cast<double>(std::sqrt(sum));
    EXPECT_NEAR(norm(x.to(remote())), expected, 64 * 0x1p-53 * expected) << n;
  }
  EXPECT_EQ(norm(full(remote(), {4}, 2, DType::I64)), 4);
}

TEST(GpuMatmul, MatchesCpuWithinRounding) {
  LAB_REQUIRE_GPU();
  for (const DType dtype : {DType::F32, DType::BF16}) {
    SCOPED_TRACE(to_string(dtype));
    const Tensor a = rand(host(), {65, 40}, 1, dtype), b = rand(host(), {40, 72}, 2, dtype);
    const Tensor here = matmul(a, b);
    const Tensor there = matmul(a.to(remote()), b.to(remote())).to(host());
    for (std::size_t i = 0; i < 65 * 72; ++i) {
      // Bound for sums of 40 terms below 1.
      ASSERT_NEAR(there.values<float>()[i], here.values<float>()[i], 40 * 40 * 0x1p-23) << i;
    }
  }
}

}  // namespace
}  // namespace lab
