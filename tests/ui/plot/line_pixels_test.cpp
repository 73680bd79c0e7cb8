#include "ui/plot/line_pixels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <span>

namespace lab::ui::plot {
namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

AxisMap map_of(float from, float to, Range range, Scale scale = Scale::Linear) {
  return {.scale = scale, .range = range, .from = from, .to = to};
}
const AxisMap kX = map_of(0, 100, {0, 100});
const AxisMap kY = map_of(100, 0, {0, 100});

TEST(LinePixels, BreakAtGapsAndKeepSinglePoints) {
  const Thinned line{.points = {{0, 10}, {10, 20}, {20, kGap}, {30, 50}, {40, kGap}, {50, 5}}};
  const LinePixels pixels = line_pixels(line, kX, kY, false);
  EXPECT_EQ(pixels.run_ends, (std::vector<std::size_t>{2, 3, 4}));
  ASSERT_EQ(pixels.points.size(), 4U);
  EXPECT_FLOAT_EQ(pixels.points[2].x, 30);
  EXPECT_FLOAT_EQ(pixels.points[2].y, 50);
  EXPECT_TRUE(pixels.strokes.empty());
}

TEST(LinePixels, LeaveOutWhatALogAxisCannotShow) {
  const Thinned line{.points = {{0, 10}, {1, 10}, {100, 10}}};
  const LinePixels pixels = line_pixels(line, map_of(0, 100, {1, 100}, Scale::Log10), kY, false);
  ASSERT_EQ(pixels.points.size(), 2U);
  EXPECT_NEAR(pixels.points[0].x, 0, 1e-3);
  EXPECT_NEAR(pixels.points[1].x, 100, 1e-3);
}

TEST(LinePixels, MergeStepsOfEqualValues) {
  const Thinned line{.points = {{0, 10}, {10, 10}, {20, 10}, {30, 40}}};
  const LinePixels pixels = line_pixels(line, kX, kY, true);
  ASSERT_EQ(pixels.points.size(), 4U) << "two ends, the corner and the new value";
  EXPECT_FLOAT_EQ(pixels.points[2].x, 30);
  EXPECT_FLOAT_EQ(pixels.points[2].y, 90);
}

TEST(LinePixels, HaveNoStepOfLengthZero) {
  const Thinned line{.points = {{0, 10}, {10, 60}, {10, 60}, {10, 40}, {20, 10}, {20, 10}}};
  const LinePixels pixels = line_pixels(line, kX, kY, true);
  for (std::size_t i = 1; i < pixels.points.size(); ++i) {
    const ImVec2 a = pixels.points[i - 1], b = pixels.points[i];
    EXPECT_FALSE(a.x == b.x && a.y == b.y) << i;
  }
}

TEST(LinePixels, DropInvisibleDetailButNotTheEnds) {
  Thinned line{.points = {}, .dense = true};
  for (int i = 0; i <= 400; ++i) line.points.push_back({i * 0.25, i * 0.25});
  const LinePixels pixels = line_pixels(line, kX, kY, false);
  EXPECT_LT(pixels.points.size(), 10U);
  EXPECT_FLOAT_EQ(pixels.points.front().x, 0);
  EXPECT_FLOAT_EQ(pixels.points.back().x, 100);
}

// The distance of y from the line at x.
double distance_at(std::span<const ImVec2> line, ImVec2 point) {
  for (std::size_t i = 1; i < line.size(); ++i) {
    const ImVec2 a = line[i - 1], b = line[i];
    if (point.x < a.x || point.x > b.x || a.x == b.x) continue;
    return std::abs(point.y - (a.y + (b.y - a.y) * (point.x - a.x) / (b.x - a.x)));
  }
  return std::numeric_limits<double>::infinity();
}

TEST(LinePixels, PassEveryPointWithinAFractionOfAPixel) {
  Thinned line{.points = {}, .dense = true};
  for (int i = 0; i <= 130; ++i) {
    line.points.push_back({i / 1.3, 50 + 30 * std::sin(i * 0.07) + 0.3 * std::sin(i * 0.9)});
  }
  const LinePixels pixels = line_pixels(line, kX, kY, false);
  EXPECT_LT(pixels.points.size(), 100U);
  const Pixels x(kX), y(kY);
  for (const Point& p : line.points) {
    EXPECT_LE(distance_at(pixels.points, {x(p.x), y(p.y)}), 0.21) << p.x;
  }
}

TEST(LinePixels, CoverTheColumnsOfNoise) {
  Thinned line{.points = {}, .dense = true};
  for (int i = 0; i <= 200; ++i) line.points.push_back({i * 0.5, i % 2 == 0 ? 10.0 : 90.0});
  const LinePixels pixels = line_pixels(line, kX, kY, false);
  EXPECT_GE(pixels.strokes.size(), 100U);
  EXPECT_TRUE(line_pixels(line, kX, kY, true).strokes.empty()) << "steps stay lines";
}

TEST(KeptPixels, AreComputedAnewOnlyIfSomethingChanged) {
  const auto line = std::make_shared<const Thinned>(Thinned{.points = {{0, 10}, {10, 20}}});
  const auto other = std::make_shared<const Thinned>(*line);
  KeptPixels kept;
  auto last = kept.of(line, kX, kY, false);
  EXPECT_EQ(kept.of(line, kX, kY, false), last);
  const auto changes = [&](const std::shared_ptr<const Thinned>& now, const AxisMap& x,
                           const AxisMap& y, bool steps) {
    const auto before = last;
    last = kept.of(now, x, y, steps);
    return last != before;
  };
  const AxisMap narrow = map_of(0, 50, {0, 100});
  EXPECT_TRUE(changes(other, kX, kY, false));
  EXPECT_TRUE(changes(other, narrow, kY, false));
  EXPECT_TRUE(changes(other, narrow, narrow, false));
  EXPECT_TRUE(changes(other, narrow, narrow, true));
  EXPECT_FALSE(changes(other, narrow, narrow, true));
}

}  // namespace
}  // namespace lab::ui::plot
