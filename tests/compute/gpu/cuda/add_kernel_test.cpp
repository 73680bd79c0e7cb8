#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "compute/gpu/cuda/ops/add.cuh"
#include "compute/tensor/tensor.h"
#include "tests/support/element_counts.h"
#include "tests/support/simt/launch.h"

namespace lab {
namespace {

using simt::GlobalArray;

template <typename T>
std::vector<T> run_add(const std::vector<T>& x, const std::vector<T>& y) {
  const auto n = static_cast<std::int64_t>(x.size());
  GlobalArray<T> a("x", std::span<const T>(x));
  GlobalArray<T> b("y", std::span<const T>(y));
  GlobalArray<T> z("z", x.size());
  const cuda::AddArgs<T> args{a.data(), b.data(), z.data(), n};
  simt::launch({.grid = {static_cast<int>(cuda::add_blocks(n))},
                .block = {cuda::kAddThreads},
                .arrays = {a.input(), b.input(), z}},
               [&] { cuda::add_body(args); });
  std::vector<T> sums;
  for (std::size_t i = 0; i < x.size(); ++i) sums.push_back(z[i]);
  return sums;
}

template <typename T>
std::vector<T> numbers(int n, int step) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values.push_back(static_cast<T>(i * step + 3));
  return values;
}

template <typename T>
void expect_sums() {
  for (const std::int64_t n : test::kElementCounts) {
    SCOPED_TRACE(n);
    const auto x = numbers<T>(static_cast<int>(n), 5), y = numbers<T>(static_cast<int>(n), 11);
    const std::vector<T> sums = run_add(x, y);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(sums[i], static_cast<T>(x[i] + y[i])) << i;
  }
}

TEST(AddKernel, AnyLengthOfAnyType) {
  expect_sums<float>();
  expect_sums<std::int32_t>();
  expect_sums<std::int64_t>();
  expect_sums<std::uint8_t>();  // wraps
}

TEST(AddKernel, Bf16IsRoundedOnceAsOnTheCpu) {
  std::vector<cuda::Bf16Bits> x, y;
  for (int i = 0; i < 1500; ++i) {
    x.push_back({to_bf16(static_cast<float>(i) * 1.37F).bits});
    y.push_back({to_bf16(static_cast<float>(i % 17) * 0.013F - 5).bits});
  }
  const std::vector<cuda::Bf16Bits> sums = run_add(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float exact = to_float({x[i].bits}) + to_float({y[i].bits});
    ASSERT_EQ(sums[i].bits, to_bf16(exact).bits) << i;
  }
}

}  // namespace
}  // namespace lab
