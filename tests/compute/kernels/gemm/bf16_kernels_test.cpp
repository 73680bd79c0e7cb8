#include "compute/kernels/gemm/bf16_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compute/kernels/gemm/amx.h"
#include "compute/kernels/gemm/peak.h"
#include "compute/measure/measure.h"
#include "compute/tensor/tensor.h"
#include "tests/support/compare.h"
#include "tests/support/simd_targets.h"

namespace lab {
namespace {

constexpr float kSentinel = -12345;

// Runs `body` with the native kernels, if available, and with the portable kernels of each
// instruction set that this processor supports.
template <typename Body>
void for_each_kernel_set(Body body) {
  if (const Bf16Kernels* native = native_bf16_kernels()) {
    SCOPED_TRACE(native->name);
    body(*native);
  }
  test::for_each_simd_target([&] { body(portable_bf16_kernels()); });
}

std::vector<std::uint16_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float x : values) bits.push_back(to_bf16(x).bits);
  return bits;
}

std::vector<std::uint32_t> packed(const Bf16Kernels& kernels, const PairPackArgs<float>& args) {
  std::vector<std::uint32_t> out(static_cast<std::size_t>((args.terms + 1) / 2 * args.width + 1),
                                 0xabcdabcdU);
  PairPackArgs<float> pack = args;
  pack.out = out.data();
  kernels.pack_f32(pack);
  EXPECT_EQ(out.back(), 0xabcdabcdU) << "wrote past the end";
  out.pop_back();
  return out;
}

struct Strip {
  int valid, width;
  std::int64_t terms;
  bool along;  // the strip is contiguous in memory
};

std::vector<Strip> strips(const Bf16Kernels& kernels) {
  std::vector<Strip> all;
  for (const std::int64_t terms : {1, 2, 3, 8, 31, 32, 33, 67}) {
    for (const int width : {kernels.mr, kernels.nr}) {
      for (const int valid : {1, 2, 3, width / 2 + 1, width}) {
        for (const bool along : {false, true}) {
          if (valid <= width) all.push_back({valid, width, terms, along});
        }
      }
    }
  }
  return all;
}

TEST(Bf16Kernels, PackRowsAndColumnsInPairs) {
  for_each_kernel_set([](const Bf16Kernels& kernels) {
    for (const Strip& s : strips(kernels)) {
      SCOPED_TRACE(std::to_string(s.valid) + " of " + std::to_string(s.width) + ", " +
                   std::to_string(s.terms) + " terms" + (s.along ? " along" : ""));
      const std::int64_t ld = (s.along ? s.valid : s.terms) + 1;
      const auto source = test::uniform_values(ld * (s.along ? s.terms : s.valid), 3);
      const auto bits = bits_of(source);
      PairPackArgs<float> args{.source = source.data(),
                               .strip_stride = s.along ? 1 : ld,
                               .k_stride = s.along ? ld : 1,
                               .terms = s.terms,
                               .valid = s.valid,
                               .width = s.width};
      const auto term = [&](int i, std::int64_t q) -> std::uint32_t {
        if (i >= s.valid || q >= s.terms) return 0;
        return bits[static_cast<std::size_t>(i * args.strip_stride + q * args.k_stride)];
      };
      std::vector<std::uint32_t> want;
      for (std::int64_t p = 0; p < (s.terms + 1) / 2; ++p) {
        for (int i = 0; i < s.width; ++i) want.push_back(term(i, 2 * p) | term(i, 2 * p + 1) << 16);
      }
      ASSERT_EQ(packed(kernels, args), want);

      std::vector<std::uint32_t> from_bf16(want.size());
      kernels.pack_bf16({.source = bits.data(),
                         .strip_stride = args.strip_stride,
                         .k_stride = args.k_stride,
                         .terms = s.terms,
                         .valid = s.valid,
                         .width = s.width,
                         .out = from_bf16.data()});
      ASSERT_EQ(from_bf16, want);
    }
  });
}

TEST(Bf16Kernels, RoundToNearestEven) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0F,
                               -0.0F,
                               1.0F,
                               1.0F + 0x1p-8F,             // halfway, down to even
                               1.0F + 0x1p-7F + 0x1p-8F,   // halfway, up to even
                               1.0F + 0x1p-8F + 0x1p-23F,  // just above halfway
                               -1.0F - 0x1.8p-8F,
                               infinity,
                               -infinity,
                               std::numeric_limits<float>::max(),  // rounds to infinity
                               std::numeric_limits<float>::min(),
                               0x1.fep127F};  // the largest bf16
  for (const float x : test::uniform_values(300, 5)) values.push_back(x * 1e3F);
  const auto want = bits_of(values);
  EXPECT_EQ(want[3], 0x3f80);
  EXPECT_EQ(want[4], 0x3f82);
  EXPECT_EQ(want[5], 0x3f81);
  EXPECT_EQ(want[9], 0x7f80);
  for_each_kernel_set([&](const Bf16Kernels& kernels) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{31}, values.size()}) {
      std::vector<std::uint16_t> got(n + 1, 0xabcd);
      kernels.round(values.data(), got.data(), static_cast<std::int64_t>(n));
      EXPECT_EQ(got.back(), 0xabcd);
      EXPECT_TRUE(std::equal(got.begin(), got.end() - 1, want.begin()));
    }
    const std::vector<float> bad = {nan, -nan, std::bit_cast<float>(0x7f800001U)};
    std::vector<std::uint16_t> got(bad.size());
    kernels.round(bad.data(), got.data(), 3);
    for (const std::uint16_t bits : got) EXPECT_TRUE(std::isnan(to_float(Bf16{bits})));
  });
}

enum class Rows { Packed, SideBySide, Strided };

struct TileCase {
  int rows, cols;
  std::int64_t pairs;
  Rows layout;
  bool accumulate;
};

// Expects a tile to equal the float64 result exactly, since all values are small integers.
void expect_exact(const Bf16Kernels& kernels, const TileCase& s) {
  const std::int64_t terms = 2 * s.pairs;
  const auto a = test::small_integers(s.rows * terms, 1);
  const auto b = test::small_integers(terms * s.cols, 2);
  const auto b_words = packed(kernels, {.source = b.data(),
                                        .strip_stride = 1,
                                        .k_stride = s.cols,
                                        .terms = terms,
                                        .valid = s.cols,
                                        .width = kernels.nr});
  Bf16TileArgs tile{.k_pairs = s.pairs,
                    .a_row_stride = 1,
                    .a_k_stride = kernels.mr,
                    .b = b_words.data(),
                    .b_k_stride = kernels.nr,
                    .rows = s.rows,
                    .cols = s.cols,
                    .accumulate = s.accumulate};
  if (s.layout == Rows::SideBySide) {
    tile.a_row_stride = s.pairs + 1;
    tile.a_k_stride = 1;
  } else if (s.layout == Rows::Strided) {
    tile.a_row_stride = 2;
    tile.a_k_stride = 2 * s.rows + 1;
  }
  const std::int64_t words = s.rows * tile.a_row_stride + s.pairs * tile.a_k_stride;
  std::vector<std::uint32_t> a_words(static_cast<std::size_t>(words));
  for (int i = 0; i < s.rows; ++i) {
    for (std::int64_t p = 0; p < s.pairs; ++p) {
      const auto at = static_cast<std::size_t>(i * terms + 2 * p);
      a_words[static_cast<std::size_t>(i * tile.a_row_stride + p * tile.a_k_stride)] =
          to_bf16(a[at]).bits | std::uint32_t{to_bf16(a[at + 1]).bits} << 16;
    }
  }
  tile.a = a_words.data();
  tile.ldc = s.cols + 1;
  std::vector<float> c(static_cast<std::size_t>(s.rows * tile.ldc), kSentinel);
  for (int i = 0; i < s.rows; ++i) std::fill_n(c.begin() + i * tile.ldc, s.cols, 3.0F);
  tile.c = c.data();
  kernels.tile(tile);
  for (int i = 0; i < s.rows; ++i) {
    for (int j = 0; j < s.cols; ++j) {
      double want = s.accumulate ? 3 : 0;
      for (std::int64_t q = 0; q < terms; ++q) {
        want += double{a[static_cast<std::size_t>(i * terms + q)]} *
                double{b[static_cast<std::size_t>(q * s.cols + j)]};
      }
      ASSERT_EQ(c[static_cast<std::size_t>(i * tile.ldc + j)], want) << i << "," << j;
    }
    ASSERT_EQ(c[static_cast<std::size_t>(i * tile.ldc + s.cols)], kSentinel)
        << "wrote past row " << i;
  }
}

TEST(Bf16Kernels, TilesOfEverySizeAreExactOnSmallIntegers) {
  for_each_kernel_set([](const Bf16Kernels& kernels) {
    for (int rows = 1; rows <= kernels.mr; ++rows) {
      for (int cols = 1; cols <= kernels.nr; ++cols) {
        const int mix = rows + cols;
        const TileCase s{rows, cols, 1 + mix % 5, static_cast<Rows>(mix % 3), mix % 2 == 0};
        SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(cols));
        expect_exact(kernels, s);
      }
    }
    for (const Rows layout : {Rows::Packed, Rows::SideBySide, Rows::Strided}) {
      expect_exact(kernels, {kernels.mr, kernels.nr, 100, layout, true});
      expect_exact(kernels, {kernels.mr, kernels.nr, 0, layout, false});
    }
  });
}

TEST(Bf16Kernels, PropagateNaNAndInfinity) {
  for_each_kernel_set([](const Bf16Kernels& kernels) {
    const std::uint32_t nan_and_one = 0x3f807fc0U;
    const std::vector<std::uint32_t> b(static_cast<std::size_t>(kernels.nr), 0x3f803f80U);
    std::vector<float> c(static_cast<std::size_t>(2 * kernels.nr), 0);
    const std::uint32_t a[2] = {nan_and_one, 0x3f80ff80U};  // the second word: 1 and -infinity
    kernels.tile({.k_pairs = 1,
                  .a = a,
                  .a_row_stride = 1,
                  .a_k_stride = 2,
                  .b = b.data(),
                  .b_k_stride = kernels.nr,
                  .c = c.data(),
                  .ldc = kernels.nr,
                  .rows = 2,
                  .cols = kernels.nr});
    for (int j = 0; j < kernels.nr; ++j) {
      EXPECT_TRUE(std::isnan(c[static_cast<std::size_t>(j)]));
      EXPECT_EQ(c[static_cast<std::size_t>(kernels.nr + j)],
                -std::numeric_limits<float>::infinity());
    }
  });
}

TEST(Bf16Kernels, PeakLoopReportsItsFlop) {
  for_each_kernel_set([](const Bf16Kernels& kernels) {
    float result = 0;
    const double once = kernels.peak_loop(1000, 0.25F, &result);
    EXPECT_GT(once, 0);
    EXPECT_EQ(kernels.peak_loop(2000, 0.25F, &result), 2 * once);
    EXPECT_NEAR(result, 0.5F, 1e-3F);
  });
}

TEST(Amx, PeakLoopReportsItsFlop) {
  if (!amx_bf16_available()) GTEST_SKIP() << "no AMX with bf16, or the kernel does not grant it";
  float result = 0;
  EXPECT_EQ(amx_bf16_loop(1000, 0.25F, &result), 1000 * 4 * 2.0 * 16 * 16 * 32);
  EXPECT_NEAR(result, 0.5F, 1e-3F);
  EXPECT_EQ(amx_bf16_loop(2000, 0.375F, &result), 2000 * 4 * 2.0 * 16 * 16 * 32);
  EXPECT_NEAR(result, 0.75F, 1e-3F);
}

TEST(Amx, IsUsedOnlyWithTheNativeKernels) {
  test::for_each_simd_target([] {
    if (!bf16_kernels().native) {
      EXPECT_FALSE(amx_bf16_available());
      EXPECT_EQ(amx_remark(cpu()), "");
    }
  });
}

TEST(Amx, PeakExceedsThatOfVectors) {
  if (!amx_bf16_available()) GTEST_SKIP() << "no AMX with bf16, or the kernel does not grant it";
  // The best of several runs, in CPU time: other programs may run.
  const auto rate = [](double (*loop)(std::int64_t, float, float*), std::int64_t iterations) {
    double best = 0;
    for (int run = 0; run < 20; ++run) {
      float result = 0;
      const double begin_s = thread_cpu_s();
      const double flop = loop(iterations, 0.25F, &result);
      best = std::max(best, flop / (thread_cpu_s() - begin_s));
    }
    return best;
  };
  EXPECT_GT(rate(&amx_bf16_loop, 20'000), 2 * rate(bf16_kernels().peak_loop, 100'000));
}

TEST(MeasurePeak, ReportsTheBf16Type) {
  const PeakSample peak =
      measure_peak(cpu(), nullptr, {.budget_s = 0.01, .min_time_s = 0.001}, Precision::BF16);
  EXPECT_EQ(peak.dtype, Precision::BF16);
  EXPECT_EQ(peak.amx, amx_bf16_available());
  EXPECT_FALSE(measure_peak(cpu(), nullptr, {.budget_s = 0.01, .min_time_s = 0.001}).amx);
  EXPECT_GT(peak.gflops, 0);
}

}  // namespace
}  // namespace lab
