#include "compute/tensor/shape.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"

namespace lab {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({0}), 0);
  EXPECT_EQ(count({2, 3, 5}), 30);
  EXPECT_EQ(count({std::int64_t{1} << 31, std::int64_t{1} << 31}), std::int64_t{1} << 62);
}

TEST(Shape, ZeroSizesGiveZeroElements) {
  const std::int64_t wide = std::int64_t{1} << 40;
  EXPECT_EQ(count({wide, wide, 0, wide}), 0);
}

TEST(Shape, RejectsNegativeAndHugeSizes) {
  EXPECT_THROW(count({2, -1}), Error);
  EXPECT_THROW(count({0, -1}), Error);
  try {
    count({std::int64_t{1} << 62, 2});
    FAIL() << "no exception was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::InvalidArgument);
    EXPECT_STREQ(e.what(),
                 "shape [4611686018427387904,2]: more than 2^62 elements; choose smaller sizes");
  }
}

TEST(Shape, FormatsAsAList) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{2, 3}), "[2,3]");
}

}  // namespace
}  // namespace lab
