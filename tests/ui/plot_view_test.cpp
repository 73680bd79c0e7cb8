#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ui/plot/view.h"

namespace lab::ui::plot {
namespace {

TEST(AxisMap, MapsBothWays) {
  for (const Scale scale : {Scale::Linear, Scale::Log10, Scale::Log2}) {
    const AxisMap map{.scale = scale, .range = {2, 5000}, .from = 100, .to = 20};
    EXPECT_FLOAT_EQ(map.pixel(2), 100);
    EXPECT_FLOAT_EQ(map.pixel(5000), 20);
    EXPECT_NEAR(map.value(map.pixel(77)), 77, 77 * 1e-4);
  }
}

TEST(AxisMap, FarAwayValuesStayFinite) {
  const AxisMap map{.scale = Scale::Linear, .range = {0, 1e-9}, .from = 0, .to = 500};
  EXPECT_TRUE(std::isfinite(map.pixel(1e300)));
  EXPECT_TRUE(std::isfinite(map.pixel(-1e300)));
}

TEST(Zoomed, KeepsTheAnchorInPlace) {
  for (const Scale scale : {Scale::Linear, Scale::Log10, Scale::Log2}) {
    const AxisMap before{.scale = scale, .range = {1, 1000}, .from = 0, .to = 600};
    const double anchor = 42;
    const AxisMap after{
        .scale = scale, .range = zoomed(scale, before.range, anchor, 0.5), .from = 0, .to = 600};
    EXPECT_NEAR(after.pixel(anchor), before.pixel(anchor), 0.01);
    EXPECT_NEAR(to_even(scale, after.range.max) - to_even(scale, after.range.min),
                (to_even(scale, 1000) - to_even(scale, 1)) / 2, 1e-6);
  }
}

TEST(Zoomed, InAndOutAgainIsTheSame) {
  const Range r = zoomed(Scale::Linear, zoomed(Scale::Linear, {-3, 9}, 1, 0.8), 1, 1 / 0.8);
  EXPECT_NEAR(r.min, -3, 1e-9);
  EXPECT_NEAR(r.max, 9, 1e-9);
}

TEST(Zoomed, StopsBeforeNumbersRunOut) {
  for (const Scale scale : {Scale::Linear, Scale::Log10}) {
    Range r{1, 2};
    for (int i = 0; i < 500; ++i) r = zoomed(scale, r, 1.5, 0.5);
    EXPECT_LT(r.min, r.max);
    for (int i = 0; i < 5000; ++i) r = zoomed(scale, r, 1.5, 2);
    EXPECT_LT(r.min, r.max);
    EXPECT_TRUE(std::isfinite(r.min) && std::isfinite(r.max));
    EXPECT_TRUE(can_show(scale, r.min));
  }
}

TEST(Panned, MovesByAShare) {
  const Range r = panned(Scale::Linear, {0, 10}, 0.25);
  EXPECT_DOUBLE_EQ(r.min, 2.5);
  EXPECT_DOUBLE_EQ(r.max, 12.5);
  const Range l = panned(Scale::Log10, {1, 100}, 0.5);
  EXPECT_NEAR(l.min, 10, 1e-9);
  EXPECT_NEAR(l.max, 1000, 1e-6);
}

TEST(Sane, RepairsWhatCannotBeShown) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Range r : {Range{5, 5}, Range{9, 1}, Range{nan, 1}, Range{-INFINITY, INFINITY},
                        Range{0, 0}, Range{-2, -1}}) {
    for (const Scale scale : {Scale::Linear, Scale::Log10, Scale::Log2}) {
      const Range s = sane(scale, r);
      EXPECT_LT(s.min, s.max);
      EXPECT_TRUE(can_show(scale, s.min) && can_show(scale, s.max));
    }
  }
}

TEST(Extent, FollowsTheDataWithRoom) {
  Extent e(Scale::Linear);
  EXPECT_EQ(e.padded(0.1, true), (Range{0, 1}));
  e.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(e.empty());
  e.add(10);
  EXPECT_EQ(e.padded(0.1, true), (Range{5, 15})) << "a constant stands in the middle";
  e.add(2);
  const Range r = e.padded(0.1, true);
  EXPECT_DOUBLE_EQ(r.min, 0);
  EXPECT_DOUBLE_EQ(r.max, 10.8);
}

TEST(Extent, ALogAxisIgnoresZero) {
  Extent e(Scale::Log10);
  e.add(0);
  e.add(-4);
  EXPECT_TRUE(e.empty());
  e.add(100);
  const Range r = e.padded(0, true);
  EXPECT_LT(r.min, 100);
  EXPECT_GT(r.max, 100);
}

}  // namespace
}  // namespace lab::ui::plot
