#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "compute/gpu/cuda/ops/fill.cuh"
#include "compute/gpu/emulator/launch.h"
#include "compute/tensor/random.h"
#include "compute/tensor/tensor.h"
#include "tests/support/element_counts.h"

namespace lab {
namespace {

using cuda::Bf16Bits;
using simt::GlobalArray;

struct Range {
  std::int64_t first, count;
};
// Whole Philox blocks, ragged ends on either side, part of one block, and indices beyond 32 bits.
constexpr Range kRanges[] = {{0, 2048}, {0, 1},    {3, 1},
                             {1, 2},    {5, 1030}, {(std::int64_t{1} << 34) - 2, 9}};

template <typename T, bool kNormal>
std::vector<T> run_random(const Range& range, std::uint64_t seed, bool whole_stores) {
  GlobalArray<T> to("to", static_cast<std::size_t>(range.count));
  const cuda::RandomArgs<T> args{to.data(), seed, range.first, range.count, whole_stores};
  simt::launch({.grid = {static_cast<int>(cuda::random_blocks(range.first, range.count))},
                .block = {cuda::kFillThreads},
                .arrays = {to}},
               [&] { cuda::random_body<T, kNormal>(args); });
  std::vector<T> values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(range.count); ++i) values.push_back(to[i]);
  return values;
}

template <bool kNormal>
void expect_cpu_bits(std::uint64_t seed) {
  for (const Range& range : kRanges) {
    SCOPED_TRACE(std::to_string(range.first) + " + " + std::to_string(range.count));
    const bool whole = range.first % 4 == 0;
    const auto floats = run_random<float, kNormal>(range, seed, whole);
    const auto halves = run_random<Bf16Bits, kNormal>(range, seed, whole);
    const RandomStream stream{seed, 0};
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(range.first) + i;
      const float expected = kNormal ? stream.normal(index) : stream.uniform(index);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]), std::bit_cast<std::uint32_t>(expected))
          << index;
      ASSERT_EQ(halves[i].bits, to_bf16(expected).bits) << index;
    }
  }
}

TEST(FillKernel, UniformMatchesCpuBitForBit) {
  expect_cpu_bits<false>(0);
  expect_cpu_bits<false>(0x123456789abcdefULL);
}

TEST(FillKernel, NormalMatchesCpuBitForBit) {
  expect_cpu_bits<true>(0);
  expect_cpu_bits<true>(0x123456789abcdefULL);
}

template <typename T>
void expect_constant(T value) {
  for (const std::int64_t n : test::kElementCounts) {
    GlobalArray<T> to("to", static_cast<std::size_t>(n));
    const cuda::ConstantArgs<T> args{value, to.data(), n};
    simt::launch({.grid = {static_cast<int>(cuda::fill_blocks(n))},
                  .block = {cuda::kFillThreads},
                  .arrays = {to}},
                 [&] { cuda::constant_body(args); });
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) ASSERT_EQ(to[i], value);
  }
}

TEST(FillKernel, FillsConstantsOfEverySize) {
  expect_constant<std::uint8_t>(0xa5);
  expect_constant<std::uint16_t>(0xa55a);
  expect_constant<std::uint32_t>(0x12345678);
  expect_constant<std::uint64_t>(0x123456789abcdef0ULL);
}

template <typename T, typename Expected>
void expect_indices(Expected expected) {
  constexpr std::int64_t kFirst = 250, kCount = 1100;
  GlobalArray<T> to("to", kCount);
  const cuda::ArangeArgs<T> args{to.data(), kFirst, kCount};
  simt::launch({.grid = {static_cast<int>(cuda::fill_blocks(kCount))},
                .block = {cuda::kFillThreads},
                .arrays = {to}},
               [&] { cuda::arange_body(args); });
  for (std::int64_t i = 0; i < kCount; ++i) {
    const T value = to[static_cast<std::size_t>(i)];
    ASSERT_TRUE(expected(value, kFirst + i)) << i;
  }
}

TEST(FillKernel, FillsIndicesOfEveryType) {
  expect_indices<float>([](float x, std::int64_t i) { return x == static_cast<float>(i); });
  expect_indices<Bf16Bits>(
      [](Bf16Bits x, std::int64_t i) { return x.bits == to_bf16(static_cast<float>(i)).bits; });
  expect_indices<std::int32_t>([](std::int32_t x, std::int64_t i) { return x == i; });
  expect_indices<std::int64_t>([](std::int64_t x, std::int64_t i) { return x == i; });
  expect_indices<std::uint8_t>([](std::uint8_t x, std::int64_t i) { return x == i % 256; });
}

TEST(FillKernel, DetectsIndexOutOfBounds) {
  GlobalArray<std::uint32_t> to("to", 10);
  const cuda::ConstantArgs<std::uint32_t> args{1, to.data(), 11};
  EXPECT_ANY_THROW(simt::launch({.grid = {1}, .block = {cuda::kFillThreads}, .arrays = {to}},
                                [&] { cuda::constant_body(args); }));
}

}  // namespace
}  // namespace lab
