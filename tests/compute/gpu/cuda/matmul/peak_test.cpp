// Runs the portable peak kernels in the emulator and compares their sums with float64, which
// verifies that every multiply-add contributes.
#include "compute/gpu/cuda/matmul/peak.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/gpu/emulator/launch.h"
#include "compute/gpu/emulator/memory/global_array.h"
#include "tests/support/matmul_operands.h"

namespace lab::test {
namespace {

using namespace cuda_matmul;

constexpr int kBlocks = 2, kThreads = 64, kWarps = kBlocks * kThreads / 32;

// Returns the result of each warp; NaN if it was not written.
std::vector<float> sums_of(void (*body)(const PeakArgs&), std::int64_t rounds) {
  const std::vector<float> none(kWarps, std::nanf(""));
  simt::GlobalArray<float> sums("sums", std::span<const float>(none));
  simt::launch({.grid = {kBlocks}, .block = {kThreads}, .arrays = {sums}},
               [&] { body({.sums = sums.data(), .rounds = rounds}); });
  return {sums.values().begin(), sums.values().end()};
}

// Expected result of a warp, and the sum of its terms' magnitudes.
struct Sum {
  double value = 0, magnitude = 0;
  void add(double term) {
    value += term;
    magnitude += std::abs(term);
  }
};

constexpr int kChains = 3, kMultipliers = 4, kRepeats = 2;

std::uint32_t first_index(int warp, int lane) {
  return static_cast<std::uint32_t>((warp * 32 + lane) * kPeakWords);
}

Sum fp32_sum(int warp, std::int64_t rounds) {
  Sum sum;
  for (int lane = 0; lane < 32; ++lane) {
    const std::uint32_t first = first_index(warp, lane);
    for (std::uint32_t j = 0; j < kChains; ++j) {
      double x = peak_operand(first + j);
      const double b = peak_operand(j);
      for (std::int64_t i = 0; i < rounds * kRepeats * kMultipliers; ++i) {
        const auto s = static_cast<std::uint32_t>(i % kMultipliers);
        x = double{kPeakDamping * peak_operand(first + kChains + s)} * x + b;
      }
      EXPECT_LT(std::abs(x), 4);
      sum.add(x);
    }
  }
  return sum;
}

// Elements of a fragment, arranged as a matrix with `cols` columns.
struct Matrix {
  int cols;
  std::vector<double> values = std::vector<double>(256);
  double& at(simt::FragmentIndex place) {
    return values.at(static_cast<std::size_t>(place.row) * static_cast<std::size_t>(cols) +
                     static_cast<std::size_t>(place.col));
  }
};

// Positions of a lane's element i in A and in B, and its value. A product sums kTerms terms; each
// lane holds kOfA elements of A and kOfB of B.
struct Bf16Layout {
  using Kind = PeakBf16;
  static constexpr int kTerms = 16, kOfA = 8, kOfB = 4;
  static simt::FragmentIndex a(int lane, int i) { return simt::bf16_fragment_a(lane, i); }
  static simt::FragmentIndex b(int lane, int i) { return simt::bf16_fragment_b(lane, i); }
  static double value(std::uint32_t first_word, int i) {
    const std::uint32_t word = Kind::word(first_word + static_cast<std::uint32_t>(i / 2));
    return simt::from_bf16(static_cast<std::uint16_t>(i % 2 == 0 ? word : word >> 16));
  }
};
struct Tf32Layout {
  using Kind = PeakTf32;
  static constexpr int kTerms = 8, kOfA = 4, kOfB = 2;
  static simt::FragmentIndex a(int lane, int i) { return simt::tf32_fragment_a(lane, i); }
  static simt::FragmentIndex b(int lane, int i) { return simt::tf32_fragment_b(lane, i); }
  static double value(std::uint32_t first_word, int i) {
    const std::uint32_t word = Kind::word(first_word + static_cast<std::uint32_t>(i));
    return __builtin_bit_cast(float, word);
  }
};

// Expected result of a warp for one round.
template <class Layout>
Sum mma_sum(int warp) {
  Sum sum;
  for (std::uint32_t step = 0; step < 2; ++step) {
    for (std::uint32_t j = 0; j < kChains; ++j) {
      Matrix a{.cols = Layout::kTerms}, b{.cols = 8};
      for (int lane = 0; lane < 32; ++lane) {
        const std::uint32_t first = first_index(warp, lane);
        for (int i = 0; i < Layout::kOfA; ++i) {
          a.at(Layout::a(lane, i)) = Layout::value(first + 4 * step, i);
        }
        for (int i = 0; i < Layout::kOfB; ++i) {
          b.at(Layout::b(lane, i)) = Layout::value(first + 8 + 2 * j, i);
        }
      }
      for (int row = 0; row < 16; ++row) {
        for (int col = 0; col < 8; ++col) {
          for (int k = 0; k < Layout::kTerms; ++k) {
            sum.add(kRepeats * a.at({row, k}) * b.at({k, col}));
          }
        }
      }
    }
  }
  return sum;
}

TEST(PeakFactors, HaveMixedSignsAndAreNeverSmall) {
  int negative = 0;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const float x = peak_operand(i);
    EXPECT_GE(std::abs(x), 0.5F);
    EXPECT_LT(std::abs(x), 1.0F);
    negative += x < 0;
  }
  EXPECT_NEAR(negative, 5000, 200);
}

TEST(PeakKernel, Fp32SumsMatchFloat64AfterAnyRounds) {
  for (const std::int64_t rounds : {0, 1, 7, 40}) {
    SCOPED_TRACE(rounds);
    const auto sums = sums_of(fp32_peak_body<kChains, kMultipliers, kRepeats>, rounds);
    for (int warp = 0; warp < kWarps; ++warp) {
      const Sum want = fp32_sum(warp, rounds);
      // 32*u per chain, plus the rounding error of the warp's sum over 32*kChains of them.
      const double bound = 32 * kChains * 32 * 0x1p-24 + gamma(32 * kChains) * want.magnitude;
      EXPECT_NEAR(sums[static_cast<std::size_t>(warp)], want.value, bound);
    }
  }
}

template <class Layout>
void expect_mma_sums() {
  using Kind = typename Layout::Kind;
  for (const std::int64_t rounds : {0, 1, 2, 5, 6}) {
    SCOPED_TRACE(rounds);
    const auto sums = sums_of(mma_peak_body<Kind, kChains, kRepeats>, rounds);
    for (int warp = 0; warp < kWarps; ++warp) {
      const Sum round = mma_sum<Layout>(warp);
      const double want = rounds % 2 == 1 ? round.value : 0;
      const std::int64_t terms = rounds * kRepeats * 2 * Layout::kTerms + 16 * 8 * kChains;
      const double bound = 2 * gamma(terms) * static_cast<double>(rounds) * round.magnitude;
      EXPECT_NEAR(sums[static_cast<std::size_t>(warp)], want, bound);
      if (rounds % 2 == 1) {
        EXPECT_GT(std::abs(want), bound);  // zeros would fail
      }
    }
  }
}

TEST(PeakKernel, Bf16SumsMatchFloat64AndReturnToZero) {
  expect_mma_sums<Bf16Layout>();
}

TEST(PeakKernel, Tf32SumsMatchFloat64AndReturnToZero) {
  expect_mma_sums<Tf32Layout>();
}

}  // namespace
}  // namespace lab::test
