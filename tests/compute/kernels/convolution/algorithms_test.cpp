#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compute/kernels/ops/image_lanes.h"
#include "tests/compute/kernels/convolution/convolution_cases.h"
#include "tests/support/compare.h"
#include "tests/support/simd_targets.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

TEST(GemmConvolution, MatchesFloat64OnEveryShape) {
  SKIP_UNDER_THREAD_SANITIZER();
  const auto shapes = test::ragged_shapes().size();
  EXPECT_EQ(test::check_algorithm(gemm_convolution()), 3 * 3 * static_cast<int>(shapes));
}

TEST(DirectConvolution, MatchesFloat64OnEveryShape) {
  SKIP_UNDER_THREAD_SANITIZER();
  EXPECT_GT(test::check_algorithm(direct_convolution()), 3 * 3 * 10);
}

TEST(DirectConvolution, MatchesFloat64OnEveryTarget) {
  const test::CheckOptions options{
      .shapes = {simd::conv_shape(7, 6, 3, 5, 3, 1, 1), simd::conv_shape(5, 9, 1, 7, 5, 2, 1),
                 simd::conv_shape(9, 8, 6, 16, 5, 1, 0), simd::conv_shape(4, 3, 19, 8, 3, 1, 2),
                 simd::conv_shape(8, 9, 1, 6, 5, 1, 2), simd::conv_shape(6, 7, 3, 12, 3, 1, 1)},
      .batches = {2, 17},
      .threads = {1, 2}};
  test::for_each_simd_target(
      [&] { EXPECT_GT(test::check_algorithm(direct_convolution(), options), 0); });
}

TEST(DirectConvolution, RejectsUnsupportedCases) {
  ConvolutionCase c{.shape = simd::conv_shape(14, 14, 6, 16, 5, 1, 0), .batch = 256};
  EXPECT_TRUE(direct_convolution().supports(c));
  c.products = Precision::BF16;
  EXPECT_FALSE(direct_convolution().supports(c));
  c.products = Precision::F32;
  c.batch = 1;
  EXPECT_EQ(direct_convolution().supports(c), simd::image_lanes() <= 2)
      << "most lanes would be empty";
  c = {.shape = simd::conv_shape(14, 14, 6, 16, 5, 2, 0),
       .stage = ConvolutionStage::InputGradient,
       .batch = 256};
  EXPECT_FALSE(direct_convolution().supports(c)) << "a stride scatters";
}

// Interleaves, de-interleaves and sums images, for every number of images and odd lengths.
TEST(ImageLanes, RoundTripIsExact) {
  test::for_each_simd_target([] {
    const std::int64_t lanes = simd::image_lanes();
    for (std::int64_t images = 1; images <= lanes; ++images) {
      for (const std::int64_t size : {1, 3, 16, 37}) {
        SCOPED_TRACE(std::to_string(images) + " images of " + std::to_string(size));
        const std::int64_t stride = size + 2;
        const auto x = test::small_integers(images * stride + 16, 1);
        std::vector<float> memory(static_cast<std::size_t>(size * lanes + 16));
        void* at = memory.data();
        std::size_t room = memory.size() * sizeof(float);
        auto* block = static_cast<float*>(
            std::align(64, static_cast<std::size_t>(size * lanes) * sizeof(float), at, room));
        simd::images_to_lanes({x.data(), stride, images, size}, block);
        std::vector<float> sums(static_cast<std::size_t>(size)), want_sums = sums, y(x.size()),
                                                                 want = y;
        for (std::int64_t i = 0; i < images; ++i) {
          for (std::int64_t e = 0; e < size; ++e) {
            const float v = x[static_cast<std::size_t>(i * stride + e)];
            EXPECT_EQ(block[e * lanes + i], v);
            want[static_cast<std::size_t>(i * stride + e)] = 2 * v;
            want_sums[static_cast<std::size_t>(e)] += v;
          }
        }
        simd::lanes_to_images(block, {y.data(), stride, images, size}, /*accumulate=*/false);
        simd::lanes_to_images(block, {y.data(), stride, images, size}, /*accumulate=*/true);
        EXPECT_EQ(y, want);
        simd::sum_lanes(block, sums.data(), size);
        EXPECT_EQ(sums, want_sums);
      }
    }
  });
}

}  // namespace
}  // namespace lab
