#include "compute/tensor/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "compute/core/random_bits.h"
#include "compute/machine/machine.h"
#include "compute/tensor/tensor.h"

namespace lab {
namespace {

using random::philox4x32;

// The known-answer vectors published with the generator.
TEST(Philox, MatchesPublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, DependsOnSeedStreamAndIndex) {
  const RandomStream s{0x299f31d0a4093822, 0x0370734413198a2e};
  const PhiloxCounter block =
      philox4x32({0x89abcdef, 0x01234567, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(s.bits(0x0123456789abcdef * 4 + i), block[i]);
  const RandomStream a{1, 0}, b{2, 0}, c{1, 1};
  EXPECT_NE(a.bits(0), b.bits(0));
  EXPECT_NE(a.bits(0), c.bits(0));
  EXPECT_NE(a.bits(0), a.bits(1));
}

TEST(RandomStream, UniformStaysInItsRange) {
  const RandomStream s{7};
  double sum = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const float u = s.uniform(i);
    ASSERT_GE(u, 0.0F);
    ASSERT_LT(u, 1.0F);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.004);
}

TEST(RandomStream, BelowIsUniformAndInRange) {
  const RandomStream s{3};
  std::vector<int> counts(10);
  for (std::uint64_t i = 0; i < 100000; ++i) ++counts[s.below(i, 10)];
  for (const int n : counts) EXPECT_NEAR(n, 10000, 500);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(s.below(i, 1), 0U);
}

// Every value of a range is bitwise equal to the value generated alone, wherever the range begins.
TEST(RandomStream, RangesMatchSingleValues) {
  const RandomStream s{0x123456789abcdef0, 5};
  const std::uint64_t near_carry = 4 * 0xffffffffULL - 37;  // the low half of the block counter
                                                            // wraps
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, near_carry}) {
    for (const std::size_t n : {0, 1, 3, 4, 5, 63, 64, 65, 1000}) {
      SCOPED_TRACE(testing::Message() << "first " << first << ", n " << n);
      std::vector<float> uniform(n + 1, -9), normal(n + 1, -9);
      s.fill_uniform({uniform.data(), n}, first);
      s.fill_normal({normal.data(), n}, first);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(uniform[i]),
                  std::bit_cast<std::uint32_t>(s.uniform(first + i)))
            << i;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(normal[i]),
                  std::bit_cast<std::uint32_t>(s.normal(first + i)))
            << i;
      }
      EXPECT_EQ(uniform[n], -9);  // no write past the end
      EXPECT_EQ(normal[n], -9);
    }
  }
}

// Compares the polynomials with the library functions in double precision.
TEST(RandomStream, NormalMatchesBoxMuller) {
  const RandomStream s{11};
  double worst = 0;
  for (std::uint64_t i = 0; i < 40000; i += 2) {
    const double u = (std::floor(s.bits(i) / 2.0) + 0.5) * 0x1p-31;
    const double radius = std::sqrt(-2 * std::log(u));
    const double angle = s.bits(i + 1) * (2 * M_PI / 0x1p32);
    worst = std::max(worst, std::abs(s.normal(i) - radius * std::cos(angle)));
    worst = std::max(worst, std::abs(s.normal(i + 1) - radius * std::sin(angle)));
  }
  // The radius is rounded near u = 1, where its slope is steep.
  EXPECT_LT(worst, 2e-4);
}

TEST(RandomStream, NormalHasTheRightMomentsAndTails) {
  constexpr std::size_t kN = 2'000'000;
  std::vector<float> x(kN);
  RandomStream{42}.fill_normal(x);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  int past1 = 0, past2 = 0, past3 = 0, past4 = 0;
  float largest = 0;
  for (const float v : x) {
    const double d = v, a = std::abs(d);
    m1 += d, m2 += d * d, m3 += d * d * d, m4 += d * d * d * d;
    past1 += a > 1, past2 += a > 2, past3 += a > 3, past4 += a > 4;
    largest = std::max(largest, std::abs(v));
    ASSERT_TRUE(std::isfinite(v));
  }
  // Five standard errors of each estimate.
  const double error = 5 / std::sqrt(double{kN});
  EXPECT_NEAR(m1 / kN, 0, error);
  EXPECT_NEAR(m2 / kN, 1, error * std::sqrt(2.0));
  EXPECT_NEAR(m3 / kN, 0, error * std::sqrt(15.0));
  EXPECT_NEAR(m4 / kN, 3, error * std::sqrt(96.0));
  const auto expect_share = [&](int n, double p) {
    EXPECT_NEAR(n / double{kN}, p, error * std::sqrt(p * (1 - p)));
  };
  expect_share(past1, 0.3173105);
  expect_share(past2, 0.0455003);
  expect_share(past3, 0.0026998);
  expect_share(past4, 6.3342e-5);
  EXPECT_GT(largest, 4.5F);
  EXPECT_LT(largest, 7.0F);
}

TEST(RandomStream, AdjacentValuesAreUncorrelated) {
  constexpr std::size_t kN = 400'000;
  std::vector<float> x(kN + 4);
  RandomStream{9}.fill_normal(x);
  for (std::size_t lag = 1; lag <= 4; ++lag) {
    double sum = 0;
    for (std::size_t i = 0; i < kN; ++i) sum += double{x[i]} * x[i + lag];
    EXPECT_NEAR(sum / kN, 0, 5 / std::sqrt(double{kN})) << "lag " << lag;
  }
}

// A device with one thread and a device with many generate the same tensor.
TEST(RandomTensors, AreIndependentOfTheThreadCount) {
  Machine machine;
  DeviceInfo info = machine.info().devices[0];
  const int core = info.cores[0];
  DeviceContext& whole = machine.at(cpu());
  info.cores = {core};
  DeviceContext one(info);
  info.cores = {core, core, core, core, core};
  DeviceContext five(info);
  const Shape shape{3, 33333};
  for (const DType dtype : {DType::F32, DType::BF16}) {
    const auto same = [&](const Tensor& a, const Tensor& b) {
      const auto bytes = static_cast<std::size_t>(a.bytes());
      const void* left = dtype == DType::F32 ? static_cast<const void*>(a.values<float>().data())
                                             : a.values<Bf16>().data();
      const void* right = dtype == DType::F32 ? static_cast<const void*>(b.values<float>().data())
                                              : b.values<Bf16>().data();
      return std::memcmp(left, right, bytes) == 0;
    };
    EXPECT_TRUE(same(randn(one, shape, 5, dtype), randn(five, shape, 5, dtype)));
    EXPECT_TRUE(same(randn(one, shape, 5, dtype), randn(whole, shape, 5, dtype)));
    EXPECT_TRUE(same(rand(one, shape, 5, dtype), rand(five, shape, 5, dtype)));
    EXPECT_FALSE(same(rand(one, shape, 5, dtype), rand(one, shape, 6, dtype)));
  }
}

TEST(RandomTensors, Bf16IsRoundedF32) {
  Machine machine;
  DeviceContext& context = machine.at(cpu());
  const Tensor wide = randn(context, {5000}, 3), narrow = randn(context, {5000}, 3, DType::BF16);
  for (std::size_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(narrow.values<Bf16>()[i].bits, to_bf16(wide.values<float>()[i]).bits) << i;
  }
}

}  // namespace
}  // namespace lab
