#include "compute/kernels/convolution/lane_winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compute/kernels/convolution/chooser.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/kernels/ops/lane_winograd_loops.h"
#include "tests/compute/kernels/convolution/convolution_cases.h"
#include "tests/support/simd_targets.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

using simd::conv_shape;
using simd::ConvShape;

constexpr ConvolutionStage kLaneStages[] = {
    ConvolutionStage::Forward, ConvolutionStage::InputGradient, ConvolutionStage::WeightGradient};

// Where most of a tile is outside the image, errors are large compared with the few products
// inside.
double tolerance_of(const ConvShape& s) {
  return std::min(s.in_h, s.out_h) < simd::kLaneTileHeight ? 1e-5 : 4e-6;
}

// Every padding, heights and widths that tiles divide and do not divide, images smaller than a
// tile, channels around the sizes of the tiles of accumulators, and several bands of tiles.
std::vector<ConvShape> lane_shapes() {
  std::vector<ConvShape> all = {
      conv_shape(14, 14, 6, 16, 5, 1, 0), conv_shape(5, 5, 1, 1, 5, 1, 0),
      conv_shape(1, 1, 2, 3, 5, 1, 2),    conv_shape(1, 2, 3, 2, 5, 1, 4),
      conv_shape(6, 9, 7, 17, 5, 1, 2),   conv_shape(9, 6, 17, 7, 5, 1, 1),
      conv_shape(28, 28, 1, 6, 5, 1, 2),  conv_shape(70, 7, 5, 8, 5, 1, 3)};
  for (std::int64_t channels = 1; channels <= 17; ++channels) {
    all.push_back(conv_shape(5 + channels % 4, 6 + channels % 3, channels, 18 - channels, 5, 1,
                             channels % 5));
  }
  return all;
}

TEST(LaneWinograd, MatchesFloat64OnEveryShape) {
  SKIP_UNDER_THREAD_SANITIZER();
  for (const ConvShape& shape : lane_shapes()) {
    const double tolerance = tolerance_of(shape);
    const test::CheckOptions options{
        .tolerance = tolerance, .norm_tolerance = tolerance, .shapes = {shape}};
    EXPECT_EQ(test::check_algorithm(lane_winograd_convolution(), options), 3 * 3);
  }
}

class LaneWinogradTargets : public test::SimdTargetTest {};

// Whole blocks, and blocks with fewer images than lanes.
TEST_P(LaneWinogradTargets, MatchFloat64) {
  SKIP_UNDER_THREAD_SANITIZER();
  const std::int64_t lanes = simd::image_lanes();
  for (const ConvShape& shape : lane_shapes()) {
    const double tolerance = tolerance_of(shape);
    const test::CheckOptions options{.tolerance = tolerance,
                                     .norm_tolerance = tolerance,
                                     .shapes = {shape},
                                     .batches = {1, lanes / 2 + 1, lanes, lanes + 1},
                                     .threads = {2}};
    EXPECT_EQ(test::check_algorithm(lane_winograd_convolution(), options), 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LaneWinogradTargets, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);

TEST(LaneWinograd, SupportsOnlyItsShapes) {
  ConvolutionCase c{.shape = conv_shape(14, 14, 6, 16, 5, 1, 0), .batch = 64};
  const ConvolutionAlgorithm& winograd = lane_winograd_convolution();
  EXPECT_TRUE(winograd.supports(c));
  c.batch = 1;
  EXPECT_EQ(winograd.supports(c), simd::image_lanes() <= 2) << "most lanes would be empty";
  c.batch = 64;
  c.products = Precision::BF16;
  EXPECT_FALSE(winograd.supports(c));
  c.products = Precision::F32;
  for (const ConvShape& shape :
       {conv_shape(14, 14, 6, 16, 5, 2, 0), conv_shape(14, 14, 6, 16, 3, 1, 0),
        conv_shape(14, 14, 6, 16, 5, 1, 5), conv_shape(14, 14, 128, 128, 5, 1, 0)}) {
    c.shape = shape;
    EXPECT_FALSE(winograd.supports(c));
  }
}

// LeNet's first convolution has too few products per transform.
TEST(LaneWinograd, ReplacesDirectWhereItPays) {
  ThreadPool pool({0});
  for (const ConvolutionStage stage : kLaneStages) {
    const auto chosen = [&](const ConvShape& shape) {
      const ConvolutionCase c{.shape = shape, .stage = stage, .batch = 64};
      for (const ConvolutionAlgorithm* algorithm : candidates(c)) {
        EXPECT_TRUE(algorithm == &gemm_convolution() ||
                    algorithm == &rule_chooser().choose(c, pool));
      }
      return &rule_chooser().choose(c, pool);
    };
    EXPECT_EQ(chosen(conv_shape(14, 14, 6, 16, 5, 1, 0)), &lane_winograd_convolution());
    EXPECT_EQ(chosen(conv_shape(28, 28, 1, 6, 5, 1, 2)), &direct_convolution());
  }
}

// A network allocates the memory that its largest batch needs; smaller batches must not need more.
TEST(LaneWinograd, SmallerBatchesNeedNoMoreMemory) {
  for (const ConvolutionStage stage : kLaneStages) {
    ConvolutionCase c{.shape = conv_shape(14, 14, 6, 16, 5, 1, 0), .stage = stage, .threads = 2};
    std::int64_t before = 0;
    for (c.batch = 1; c.batch <= 600; c.batch += 7) {
      const std::int64_t bytes = lane_winograd_convolution().scratch_bytes(c);
      EXPECT_GE(bytes, before) << to_string(stage) << ", batch " << c.batch;
      before = bytes;
    }
  }
}

}  // namespace
}  // namespace lab
