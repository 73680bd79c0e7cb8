#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/compute/kernels/convolution/convolution_cases.h"
#include "tests/support/simd_targets.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

using simd::conv_shape;

// Image sizes that are and are not multiples of tiles of 2 and 4, channels around the widths of the
// micro-kernels' tiles, and every padding.
std::vector<simd::ConvShape> shapes() {
  return {conv_shape(4, 4, 16, 16, 3, 1, 1), conv_shape(7, 7, 16, 48, 3, 1, 1),
          conv_shape(6, 9, 48, 16, 3, 1, 1), conv_shape(8, 5, 32, 32, 3, 1, 0),
          conv_shape(5, 6, 16, 32, 3, 1, 2), conv_shape(1, 1, 16, 16, 3, 1, 1),
          conv_shape(3, 13, 80, 64, 3, 1, 1)};
}

// Tolerances, as in CheckOptions.
struct Bounds {
  double tolerance, norm_tolerance;
};
constexpr Bounds kWinograd2{1e-6, 1e-6}, kWinograd4{4e-6, 4e-6}, kGemmBf16{1e-2, 6e-3},
    kWinograd2Bf16{1e-2, 1e-2}, kWinograd4Bf16{5e-2, 3e-2};

int check(const ConvolutionAlgorithm& algorithm, const Bounds& bounds, Precision products,
          std::vector<std::int64_t> batches = {1, 3, 17},
          std::vector<simd::ConvShape> of = shapes()) {
  return test::check_algorithm(algorithm, {.tolerance = bounds.tolerance,
                                           .norm_tolerance = bounds.norm_tolerance,
                                           .shapes = std::move(of),
                                           .batches = std::move(batches),
                                           .threads = {1, 3},
                                           .products = products});
}

// All combinations of stages, threads and shapes.
int all_cases() {
  return 3 * 2 * static_cast<int>(shapes().size());
}

TEST(Winograd, ErrorsInFp32AreBounded) {
  SKIP_UNDER_THREAD_SANITIZER();
  EXPECT_EQ(check(winograd2_convolution(), kWinograd2, Precision::F32), all_cases());
  EXPECT_EQ(check(winograd4_convolution(), kWinograd4, Precision::F32), all_cases());
}

TEST(Winograd, ErrorsOfBf16OperandsAreBounded) {
  SKIP_UNDER_THREAD_SANITIZER();
  EXPECT_EQ(check(winograd2_convolution(), kWinograd2Bf16, Precision::BF16), all_cases());
  EXPECT_EQ(check(winograd4_convolution(), kWinograd4Bf16, Precision::BF16), all_cases());
}

// More terms than one product handles, sums too large for one copy per thread, and so many columns
// that the other operand is packed, with rows that do not fill its last strip.
TEST(Convolution, ManyChannelsMatchFloat64) {
  SKIP_UNDER_THREAD_SANITIZER();
  struct Case {
    const ConvolutionAlgorithm& algorithm;
    Bounds f32, bf16;
  };
  for (const Case& c : {Case{gemm_convolution(), {1e-6, 1e-6}, kGemmBf16},
                        Case{winograd2_convolution(), kWinograd2, kWinograd2Bf16},
                        Case{winograd4_convolution(), kWinograd4, kWinograd4Bf16}}) {
    for (const Precision products : {Precision::F32, Precision::BF16}) {
      const Bounds& bounds = products == Precision::F32 ? c.f32 : c.bf16;
      EXPECT_EQ(test::check_algorithm(c.algorithm, {.tolerance = bounds.tolerance,
                                                    .norm_tolerance = bounds.norm_tolerance,
                                                    .shapes = {conv_shape(2, 2, 256, 288, 3, 1, 1),
                                                               conv_shape(2, 2, 512, 80, 3, 1, 1)},
                                                    .batches = {1, 3},
                                                    .threads = {2},
                                                    .products = products}),
                6);
    }
  }
}

// Weight gradients by im2col over several blocks of an odd number of pixels: with the sums of each
// part, and with sums that all threads share.
TEST(Convolution, GradientsOfSeveralBlocksMatchFloat64) {
  SKIP_UNDER_THREAD_SANITIZER();
  for (const Precision products : {Precision::F32, Precision::BF16}) {
    const Bounds bounds = products == Precision::F32 ? Bounds{1e-6, 1e-6} : kGemmBf16;
    EXPECT_EQ(check(gemm_convolution(), bounds, products, {1},
                    {conv_shape(19, 18, 400, 17, 1, 1, 0), conv_shape(31, 31, 1100, 128, 1, 1, 0)}),
              12);
  }
}

// Several blocks of tiles: of all threads, and of one, there with an odd number of tiles.
TEST(Winograd, SumsOfSeveralBlocksMatchFloat64) {
  SKIP_UNDER_THREAD_SANITIZER();
  const auto &two = winograd2_convolution(), &four = winograd4_convolution();
  const simd::ConvShape shared = conv_shape(1, 1, 2048, 16, 3, 1, 1);
  EXPECT_EQ(check(two, kWinograd2, Precision::F32, {130}, {shared}), 6);
  EXPECT_EQ(check(two, kWinograd2Bf16, Precision::BF16, {130}, {shared}), 6);
  const simd::ConvShape large = conv_shape(80, 80, 16, 16, 3, 1, 1);
  EXPECT_EQ(check(four, kWinograd4, Precision::F32, {1}, {large}), 6);
  EXPECT_EQ(check(four, kWinograd4Bf16, Precision::BF16, {1}, {large}), 6);
}

// So many sums that each unit of them is added to the weight gradient at once, for every block of
// tiles; three blocks or more.
TEST(Winograd, SumsOfManyChannelsAreAddedBlockByBlock) {
  SKIP_UNDER_THREAD_SANITIZER();
  const simd::ConvShape shape = conv_shape(1, 1, 4096, 32, 3, 1, 1);
  const ConvolutionAlgorithm& four = winograd4_convolution();
  EXPECT_EQ(check(four, kWinograd4, Precision::F32, {59}, {shape}), 6);
  EXPECT_EQ(check(four, kWinograd4Bf16, Precision::BF16, {115}, {shape}), 6);
}

class WinogradTargets : public test::SimdTargetTest {};

TEST_P(WinogradTargets, StayWithinTheBounds) {
  SKIP_UNDER_THREAD_SANITIZER();
  EXPECT_EQ(check(winograd2_convolution(), kWinograd2, Precision::F32, {3}), all_cases());
  EXPECT_EQ(check(winograd4_convolution(), kWinograd4, Precision::F32, {3}), all_cases());
  EXPECT_EQ(check(winograd4_convolution(), kWinograd4Bf16, Precision::BF16, {3}), all_cases());
  EXPECT_GT(test::check_algorithm(gemm_convolution(), {.batches = {3}, .threads = {2}}), 0);
  EXPECT_GT(test::check_algorithm(gemm_convolution(), {.tolerance = kGemmBf16.tolerance,
                                                       .norm_tolerance = kGemmBf16.norm_tolerance,
                                                       .batches = {3},
                                                       .threads = {2},
                                                       .products = Precision::BF16}),
            0);
}

// So many kernels for so few tiles that they are transformed where they are multiplied. Neither the
// terms nor the channels fill their last block.
TEST_P(WinogradTargets, ManyKernelsMatchFloat64) {
  SKIP_UNDER_THREAD_SANITIZER();
  if (GetParam() == HWY_EMU128) GTEST_SKIP() << "takes ten times as long as the others";
  const simd::ConvShape shape = conv_shape(1, 2, 528, 528, 3, 1, 1);
  const auto &two = winograd2_convolution(), &four = winograd4_convolution();
  EXPECT_EQ(check(two, kWinograd2, Precision::F32, {3}, {shape}), 6);
  EXPECT_EQ(check(four, kWinograd4, Precision::F32, {1, 3}, {shape}), 6);
  EXPECT_EQ(check(four, kWinograd4Bf16, Precision::BF16, {3}, {shape}), 6);
}

INSTANTIATE_TEST_SUITE_P(Targets, WinogradTargets, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);

TEST(Winograd, SupportsOnlyItsShapes) {
  ConvolutionCase c{.shape = conv_shape(8, 8, 16, 16, 3, 1, 1)};
  EXPECT_TRUE(winograd4_convolution().supports(c));
  for (const simd::ConvShape& shape :
       {conv_shape(8, 8, 16, 16, 3, 2, 1), conv_shape(8, 8, 16, 16, 5, 1, 1),
        conv_shape(8, 8, 16, 16, 1, 1, 0), conv_shape(8, 8, 16, 16, 3, 1, 3),
        conv_shape(8, 8, 1, 16, 3, 1, 1), conv_shape(8, 8, 16, 24, 3, 1, 1)}) {
    c.shape = shape;
    EXPECT_FALSE(winograd4_convolution().supports(c));
  }
}

// A network allocates the memory that its largest batch needs; smaller batches must not need more.
TEST(Winograd, SmallerBatchesNeedNoMoreMemory) {
  for (const auto* algorithm : {&winograd2_convolution(), &winograd4_convolution()}) {
    for (const simd::ConvShape& shape :
         {conv_shape(14, 14, 128, 128, 3, 1, 1), conv_shape(1, 1, 4096, 256, 3, 1, 1),
          conv_shape(1, 1, 256, 4096, 3, 1, 1)}) {
      for (const auto stage : {ConvolutionStage::Forward, ConvolutionStage::InputGradient,
                               ConvolutionStage::WeightGradient}) {
        for (const int threads : {1, 2, 128}) {
          ConvolutionCase c{.shape = shape, .stage = stage, .threads = threads};
          std::int64_t before = 0;
          for (c.batch = 1; c.batch <= 300; ++c.batch) {
            const std::int64_t bytes = algorithm->scratch_bytes(c);
            ASSERT_GE(bytes, before)
                << algorithm->name() << ", " << describe(c) << ", " << threads << " threads";
            before = bytes;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lab
