#include "app/window/icon.h"

#include <gtest/gtest.h>

namespace lab::app {
namespace {

TEST(Icon, HasRoundedTransparentCornersAndAnOpaqueMiddle) {
  for (const int side : {16, 48, 128}) {
    const Icon icon = make_icon(side);
    ASSERT_EQ(icon.rgba.size(), static_cast<std::size_t>(side * side * 4));
    EXPECT_LT(icon.rgba[3], 128);
    EXPECT_EQ(icon.rgba[static_cast<std::size_t>((side / 2 * side + side / 2) * 4 + 3)], 255);
  }
}

TEST(Icon, ShowsTheBlueCurve) {
  const Icon icon = make_icon(64);
  int blue = 0;
  for (std::size_t i = 0; i < icon.rgba.size(); i += 4) {
    blue += icon.rgba[i + 2] > 200 && icon.rgba[i] < 120 ? 1 : 0;
  }
  EXPECT_GT(blue, 60);
}

}  // namespace
}  // namespace lab::app
