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
#include "compute/machine/simd_level.h"
#include "compute/measure/measure.h"
#include "compute/tensor/tensor.h"
#include "tests/support/compare.h"
#include "tests/support/simd_targets.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

constexpr float kSentinel = -12345;

// Runs `body` with the native kernels, if available, and with the FP32 kernels of each instruction
// set that this processor supports.
template <typename Body>
void for_each_kernel_set(Body body) {
  for (const Bf16Kernels* native : {amx_kernels(), avx512_bf16_kernels()}) {
    if (native == nullptr) continue;
    SCOPED_TRACE(native->name);
    body(*native);
  }
  test::for_each_simd_target([&] { body(f32_kernels_of_bf16()); });
}

std::vector<std::uint16_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  bits.reserve(values.size());
  for (const float x : values) bits.push_back(to_bf16(x).bits);
  return bits;
}

std::vector<std::uint32_t> packed(const Bf16Kernels& kernels, const Bf16PackArgs<float>& args) {
  std::vector<std::uint32_t> out(
      static_cast<std::size_t>(kernels.words(args.terms) * args.width + 1), 0xabcdabcdU);
  Bf16PackArgs<float> pack = args;
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

TEST(Bf16Kernels, PackRowsAndColumnsAsWords) {
  for_each_kernel_set([](const Bf16Kernels& kernels) {
    for (const Strip& s : strips(kernels)) {
      SCOPED_TRACE(std::to_string(s.valid) + " of " + std::to_string(s.width) + ", " +
                   std::to_string(s.terms) + " terms" + (s.along ? " along" : ""));
      const std::int64_t ld = (s.along ? s.valid : s.terms) + 1;
      const auto source = test::uniform_values(ld * (s.along ? s.terms : s.valid), 3);
      const auto bits = bits_of(source);
      Bf16PackArgs<float> args{.source = source.data(),
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
      for (std::int64_t p = 0; p < kernels.words(s.terms); ++p) {
        for (int i = 0; i < s.width; ++i) {
          want.push_back(kernels.native() ? term(i, 2 * p) | term(i, 2 * p + 1) << 16
                                          : term(i, p) << 16);
        }
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

// Returns the bf16 bits of a term of a row of words.
std::uint16_t bits_at(const Bf16Kernels& kernels, const std::vector<std::uint32_t>& words,
                      std::int64_t term) {
  const std::uint32_t word = words[static_cast<std::size_t>(term / kernels.terms_per_word)];
  const bool low = kernels.native() && term % 2 == 0;
  return static_cast<std::uint16_t>(low ? word : word >> 16);
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
  const auto count = static_cast<std::int64_t>(values.size());
  for_each_kernel_set([&](const Bf16Kernels& kernels) {
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, count}) {
      std::vector<std::uint32_t> got(static_cast<std::size_t>(kernels.words(n) + 1), 0xabcdabcdU);
      kernels.round_row(values.data(), got.data(), n);
      EXPECT_EQ(got.back(), 0xabcdabcdU);
      for (std::int64_t i = 0; i < kernels.words(n) * kernels.terms_per_word; ++i) {
        EXPECT_EQ(bits_at(kernels, got, i), i < n ? want[static_cast<std::size_t>(i)] : 0) << i;
      }
    }
    const std::vector<float> bad = {nan, -nan, std::bit_cast<float>(0x7f800001U)};
    std::vector<std::uint32_t> got(bad.size());
    kernels.round_row(bad.data(), got.data(), 3);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::isnan(to_float(Bf16{bits_at(kernels, got, i)})));
    }
  });
  test::for_each_simd_target([&] {
    std::vector<std::uint16_t> got(values.size() + 1, 0xabcd);
    to_bf16(values.data(), got.data(), count);
    EXPECT_EQ(got.back(), 0xabcd);
    EXPECT_TRUE(std::equal(got.begin(), got.end() - 1, want.begin()));
  });
}

enum class Rows { Packed, SideBySide, Strided };

struct TileCase {
  int rows, cols;
  std::int64_t steps;
  Rows layout;
  bool accumulate;
};

// Expects a tile to equal the float64 result exactly, since all values are small integers.
void expect_exact(const Bf16Kernels& kernels, const TileCase& s) {
  const std::int64_t terms = kernels.terms_per_word * s.steps;
  const auto a = test::small_integers(s.rows * terms, 1);
  const auto b = test::small_integers(terms * s.cols, 2);
  const auto b_words = packed(kernels, {.source = b.data(),
                                        .strip_stride = 1,
                                        .k_stride = s.cols,
                                        .terms = terms,
                                        .valid = s.cols,
                                        .width = kernels.nr});
  Bf16TileArgs tile{.steps = s.steps,
                    .a_row_stride = 1,
                    .a_k_stride = kernels.mr,
                    .b = b_words.data(),
                    .b_k_stride = kernels.nr,
                    .rows = s.rows,
                    .cols = s.cols,
                    .accumulate = s.accumulate};
  if (s.layout == Rows::SideBySide) {
    tile.a_row_stride = s.steps + 1;
    tile.a_k_stride = 1;
  } else if (s.layout == Rows::Strided) {
    tile.a_k_stride = 2 * s.rows + 1;
  }
  const std::int64_t words = s.rows * tile.a_row_stride + s.steps * tile.a_k_stride;
  std::vector<std::uint32_t> a_words(static_cast<std::size_t>(words));
  for (int i = 0; i < s.rows; ++i) {
    for (std::int64_t p = 0; p < s.steps; ++p) {
      const auto word = static_cast<std::size_t>(i * tile.a_row_stride + p * tile.a_k_stride);
      const std::int64_t term = i * terms + kernels.terms_per_word * p;
      kernels.round_row(a.data() + term, &a_words[word], kernels.terms_per_word);
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
        const std::int64_t steps = mix % 5 == 0 ? 16 + mix % 20 : 1 + mix % 5;
        const TileCase s{rows, cols, steps, static_cast<Rows>(mix % 3), mix % 2 == 0};
        SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(cols));
        expect_exact(kernels, s);
      }
    }
    for (const Rows layout : {Rows::Packed, Rows::SideBySide, Rows::Strided}) {
      expect_exact(kernels, {kernels.mr, kernels.nr, 100, layout, true});
      expect_exact(kernels, {kernels.mr - 1, kernels.nr, 500, layout, false});
      expect_exact(kernels, {kernels.mr, kernels.nr, 0, layout, false});
    }
  });
}

TEST(Bf16Kernels, ARowOfTilesEqualsItsTiles) {
  for_each_kernel_set([](const Bf16Kernels& kernels) {
    constexpr std::int64_t kSteps = 35, kTiles = 3;
    constexpr float kBefore = 3;
    const std::int64_t strip = kSteps * kernels.nr;
    const int last = kernels.nr / 2 + 1;
    const std::int64_t columns = (kTiles - 1) * kernels.nr + last;
    const auto values = test::uniform_values((kernels.mr + kTiles * kernels.nr) * kSteps * 2, 7);
    std::vector<std::uint32_t> words(values.size());
    kernels.round_row(values.data(), words.data(), static_cast<std::int64_t>(values.size()));
    Bf16TileArgs row{.steps = kSteps,
                     .a = words.data(),
                     .b = words.data() + kernels.mr * kSteps,
                     .b_k_stride = kernels.nr,
                     .ldc = columns,
                     .rows = kernels.mr - 1,
                     .cols = last,
                     .tiles = kTiles,
                     .b_tile_stride = strip};
    for (const bool by_rows : {true, false}) {
      row.a_row_stride = by_rows ? kSteps : 1;
      row.a_k_stride = by_rows ? 1 : kernels.mr;
      row.accumulate = !row.accumulate;
      std::vector<float> together(static_cast<std::size_t>(row.rows * columns), kBefore);
      std::vector<float> alone = together;
      row.c = together.data();
      kernels.tile(row);
      Bf16TileArgs tile = row;
      tile.tiles = 1;
      for (std::int64_t i = 0; i < kTiles; ++i) {
        tile.c = alone.data() + i * kernels.nr;
        tile.cols = i + 1 < kTiles ? kernels.nr : last;
        kernels.tile(tile);
        tile.b += strip;
      }
      EXPECT_EQ(together, alone);
      EXPECT_EQ(std::ranges::count(together, kBefore), 0);
    }
  });
}

TEST(Bf16Kernels, PropagateNaNAndInfinity) {
  for_each_kernel_set([](const Bf16Kernels& kernels) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float rows[2][2] = {{std::numeric_limits<float>::quiet_NaN(), 1}, {-infinity, 1}};
    const std::int64_t words = kernels.words(2);
    std::uint32_t a[4] = {};
    for (int i = 0; i < 2; ++i) kernels.round_row(rows[i], a + i * words, 2);
    const std::vector<float> ones(static_cast<std::size_t>(2 * kernels.nr), 1.0F);
    const auto b = packed(kernels, {.source = ones.data(),
                                    .strip_stride = 1,
                                    .k_stride = kernels.nr,
                                    .terms = 2,
                                    .valid = kernels.nr,
                                    .width = kernels.nr});
    std::vector<float> c(static_cast<std::size_t>(2 * kernels.nr), 0);
    kernels.tile({.steps = words,
                  .a = a,
                  .a_row_stride = words,
                  .a_k_stride = 1,
                  .b = b.data(),
                  .b_k_stride = kernels.nr,
                  .c = c.data(),
                  .ldc = kernels.nr,
                  .rows = 2,
                  .cols = kernels.nr});
    for (int j = 0; j < kernels.nr; ++j) {
      EXPECT_TRUE(std::isnan(c[static_cast<std::size_t>(j)]));
      EXPECT_EQ(c[static_cast<std::size_t>(kernels.nr + j)], -infinity);
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

// Returns the best of several runs, FLOP per second of CPU time: other programs may run.
double best_rate(double (*loop)(std::int64_t, float, float*), std::int64_t iterations) {
  double best = 0;
  for (int run = 0; run < 20; ++run) {
    float result = 0;
    const double begin_s = thread_cpu_s();
    const double flop = loop(iterations, 0.25F, &result);
    best = std::max(best, flop / (thread_cpu_s() - begin_s));
  }
  return best;
}

TEST(Amx, PeakLoopReportsItsFlop) {
  const Bf16Kernels* const amx = amx_kernels();
  if (amx == nullptr) GTEST_SKIP() << "no AMX with bf16, or the kernel does not grant it";
  float result = 0;
  EXPECT_EQ(amx->peak_loop(1000, 0.25F, &result), 1000 * 4 * 2.0 * 16 * 16 * 32);
  EXPECT_NEAR(result, 0.5F, 1e-3F);
  EXPECT_EQ(amx->peak_loop(2000, 0.375F, &result), 2000 * 4 * 2.0 * 16 * 16 * 32);
  EXPECT_NEAR(result, 0.75F, 1e-3F);
}

TEST(Amx, IsUsedUnlessAvx512IsExcluded) {
  EXPECT_EQ(uses_amx(), amx_kernels() != nullptr);
  test::for_each_simd_target([] {
    if (bf16_kernels().lanes < 16) {
      EXPECT_FALSE(uses_amx());
    }
  });
}

TEST(Bf16Kernels, MultiplyAsF32WhereThatIsFaster) {
  EXPECT_EQ(bf16_kernels().native(), uses_amx() || why_bf16_products_are_f32().empty());
  const Bf16Kernels* const native = avx512_bf16_kernels();
  EXPECT_EQ(native != nullptr, why_no_avx512_bf16().empty());
  if (native == nullptr) GTEST_SKIP() << why_no_avx512_bf16();
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer slows one loop far more than the other";
  const double as_f32 = best_rate(f32_kernels_of_bf16().peak_loop, 100'000);
  const double by_pairs = best_rate(native->peak_loop, 100'000);
  const bool native_is_used = why_bf16_products_are_f32().empty();
  EXPECT_GT(native_is_used ? by_pairs / as_f32 : as_f32 / by_pairs, 0.8)
      << by_pairs / 1e9 << " GFLOP/s in pairs, " << as_f32 / 1e9 << " as FP32";
}

TEST(Amx, PeakExceedsThatOfVectors) {
  const Bf16Kernels* const amx = amx_kernels();
  if (amx == nullptr) GTEST_SKIP() << "no AMX with bf16, or the kernel does not grant it";
  EXPECT_GT(best_rate(amx->peak_loop, 20'000),
            2 * best_rate(avx512_bf16_kernels()->peak_loop, 100'000));
}

TEST(MeasurePeak, ReportsTheBf16Type) {
  const PeakSample peak =
      measure_peak(cpu(), nullptr, {.budget_s = 0.01, .min_time_s = 0.001}, Precision::BF16);
  EXPECT_EQ(peak.dtype, Precision::BF16);
  EXPECT_EQ(peak.amx, uses_amx());
  EXPECT_FALSE(measure_peak(cpu(), nullptr, {.budget_s = 0.01, .min_time_s = 0.001}).amx);
  EXPECT_GT(peak.gflops, 0);
}

}  // namespace
}  // namespace lab
