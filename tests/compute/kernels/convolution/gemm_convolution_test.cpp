#include <gtest/gtest.h>

#include "tests/compute/kernels/convolution/convolution_cases.h"

namespace lab {
namespace {

TEST(GemmConvolution, MatchesFloat64OnEveryShape) {
  const auto shapes = test::ragged_shapes().size();
  EXPECT_EQ(test::check_algorithm(gemm_convolution()), 3 * 3 * static_cast<int>(shapes));
}

}  // namespace
}  // namespace lab
