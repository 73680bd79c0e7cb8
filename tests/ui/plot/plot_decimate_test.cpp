#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ui/plot/decimate.h"

namespace lab::ui::plot {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Data {
  std::vector<double> x, y;
};

Data noise(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> step(0.0, 2.0), value(-1.0, 1.0);
  Data d;
  double at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    d.x.push_back(at += step(random));
    d.y.push_back(value(random));
  }
  return d;
}

int column_of(const AxisMap& map, double x) {
  return static_cast<int>(std::floor(map.pixel(x) - map.from));
}

// Thinning keeps the extremes of every pixel column and adds no points.
void expect_extremes_kept(const Data& d, const AxisMap& map) {
  const Thinned t = thin(d.x, d.y, map, Scale::Linear);
  const int columns = static_cast<int>(map.to - map.from);
  const auto extremes = [&](auto&& each) {
    std::vector<std::pair<double, double>> found(static_cast<std::size_t>(columns), {1e9, -1e9});
    each([&](double x, double y) {
      const int c = column_of(map, x);
      if (c < 0 || c >= columns || std::isnan(y)) return;
      auto& [low, high] = found[static_cast<std::size_t>(c)];
      low = std::min(low, y);
      high = std::max(high, y);
    });
    return found;
  };
  const auto all = extremes([&](auto add) {
    for (std::size_t i = 0; i < d.x.size(); ++i) add(d.x[i], d.y[i]);
  });
  const auto kept = extremes([&](auto add) {
    for (const Point& p : t.points) add(p.x, p.y);
  });
  // A point on the edge of two columns may be counted in either, so neighbours are included.
  for (std::size_t c = 1; c + 1 < all.size(); ++c) {
    const double low = std::min({kept[c - 1].first, kept[c].first, kept[c + 1].first});
    const double high = std::max({kept[c - 1].second, kept[c].second, kept[c + 1].second});
    EXPECT_LE(low, all[c].first) << c;
    EXPECT_GE(high, all[c].second) << c;
  }
  for (const Point& p : t.points) {
    if (std::isnan(p.y)) continue;
    const auto at = std::lower_bound(d.x.begin(), d.x.end(), p.x);
    ASSERT_NE(at, d.x.end());
    EXPECT_EQ(*at, p.x);
  }
  EXPECT_LE(t.points.size(), 4U * static_cast<std::size_t>(columns) + 8);
  EXPECT_TRUE(std::is_sorted(t.points.begin(), t.points.end(),
                             [](const Point& a, const Point& b) { return a.x < b.x; }));
}

TEST(Thin, KeepsTheExtremesOfEveryColumn) {
  for (const std::size_t n : {5000U, 40000U}) {
    const Data d = noise(n, static_cast<unsigned>(n));
    expect_extremes_kept(d,
                         {.scale = Scale::Linear, .range = {0, d.x.back()}, .from = 40, .to = 640});
    expect_extremes_kept(d, {.scale = Scale::Linear,
                             .range = {d.x.back() * 0.2, d.x.back() * 0.9},
                             .from = 0,
                             .to = 301});
    expect_extremes_kept(d,
                         {.scale = Scale::Log10, .range = {10, d.x.back()}, .from = 0, .to = 500});
  }
}

TEST(Thin, NeverLosesASpike) {
  Data d = noise(200000, 3);
  for (const std::size_t spike : {0U, 1U, 77777U, 123456U, 199999U}) {
    Data one = d;
    one.y[spike] = 1000;
    const AxisMap map{.scale = Scale::Linear, .range = {0, d.x.back()}, .from = 0, .to = 800};
    const Thinned t = thin(one.x, one.y, map, Scale::Linear);
    EXPECT_TRUE(std::any_of(t.points.begin(), t.points.end(), [](const Point& p) {
      return p.y == 1000;
    })) << spike;
  }
}

TEST(Thin, KeepsShortSeriesUnchanged) {
  const std::vector<double> x{0, 1, 2, 3}, y{5, kNaN, 7, 8};
  const Thinned t = thin(x, y, {.range = {0, 3}, .from = 0, .to = 100}, Scale::Linear);
  ASSERT_EQ(t.points.size(), 4U);
  EXPECT_FALSE(t.dense);
  EXPECT_TRUE(std::isnan(t.points[1].y));
}

TEST(Thin, LogAxisBreaksTheLineAtZeroAndBelow) {
  const std::vector<double> x{0, 1, 2}, y{1, 0, -3};
  const Thinned t = thin(x, y, {.range = {0, 2}, .from = 0, .to = 100}, Scale::Log10);
  EXPECT_EQ(t.points[0].y, 1);
  EXPECT_TRUE(std::isnan(t.points[1].y));
  EXPECT_TRUE(std::isnan(t.points[2].y));
}

TEST(Thin, EmptyColumnBreaksTheLine) {
  Data d = noise(10000, 4);
  for (std::size_t i = 4000; i < 6000; ++i) d.y[i] = i % 2 == 0 ? kNaN : INFINITY;
  const Thinned t = thin(d.x, d.y, {.range = {0, d.x.back()}, .from = 0, .to = 100}, Scale::Linear);
  EXPECT_TRUE(t.dense);
  EXPECT_TRUE(std::any_of(t.points.begin(), t.points.end(),
                          [](const Point& p) { return std::isnan(p.y); }));
  for (const Point& p : t.points) EXPECT_FALSE(std::isinf(p.y));
}

TEST(Thin, AcceptsEmptyAndUnequalSpans) {
  const std::vector<double> x{1, 2, 3}, y{1};
  EXPECT_TRUE(thin({}, {}, {.range = {0, 1}, .from = 0, .to = 9}, Scale::Linear).points.empty());
  EXPECT_EQ(thin(x, y, {.range = {0, 9}, .from = 0, .to = 9}, Scale::Linear).points.size(), 1U);
}

TEST(VisibleWindow, HasOneNeighbourOnEachSide) {
  const std::vector<double> x{0, 1, 2, 3, 4, 5};
  const Window w = visible_window(x, {1.5, 3.5});
  EXPECT_EQ(w.first, 1U);
  EXPECT_EQ(w.last, 5U);
  const Window outside = visible_window(x, {7, 9});
  EXPECT_EQ(outside.first, 5U);
  EXPECT_EQ(outside.last, 6U);
}

TEST(ThinBand, KeepsTheWidestPart) {
  Data d = noise(20000, 5);
  std::vector<double> low = d.y, high = d.y;
  low[12345] = -50;
  high[12346] = 60;
  const auto band = thin_band(d.x, low, high, {.range = {0, d.x.back()}, .from = 0, .to = 200});
  double lowest = 0, highest = 0;
  for (const BandPoint& p : band) {
    lowest = std::min(lowest, p.low);
    highest = std::max(highest, p.high);
  }
  EXPECT_EQ(lowest, -50);
  EXPECT_EQ(highest, 60);
  EXPECT_LE(band.size(), 203U);
}

// `extremes` is extended as the series grows, without reading it from the start again.
TEST(Extremes, MatchAFullScan) {
  Data d = noise(20'000, 5);
  d.y[7'000] = kNaN;
  std::fill(d.y.begin() + 9'000, d.y.begin() + 12'000, kNaN);
  Extremes extremes;
  for (const std::size_t n : {std::size_t{10}, std::size_t{5'000}, std::size_t{20'000}}) {
    const std::span<const double> x(d.x.data(), n), y(d.y.data(), n);
    extremes.follow(y);
    for (const Scale scale : {Scale::Linear, Scale::Log10}) {
      for (const Range range : {Range{0, d.x[n - 1]}, Range{d.x[n / 3], d.x[n / 2]}}) {
        const AxisMap map{.range = range, .from = 0, .to = 100};
        const Thinned all = thin(x, y, map, scale), fast = thin(x, y, map, scale, &extremes);
        ASSERT_EQ(fast.points.size(), all.points.size());
        for (std::size_t i = 0; i < all.points.size(); ++i) {
          EXPECT_EQ(fast.points[i].x, all.points[i].x);
          EXPECT_TRUE(fast.points[i].y == all.points[i].y || std::isnan(all.points[i].y));
        }
      }
    }
  }
}

TEST(Extremes, ResetForAShorterSeries) {
  const Data d = noise(4'000, 6);
  Extremes extremes;
  extremes.follow(d.y);
  std::vector<double> other(1'000, 0.0);
  other[77] = 5;
  extremes.follow(other);
  const auto found = extremes.of(other, 0, other.size(), -1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->highest, 77U);
}

}  // namespace

// The result is kept while nothing changes, and is that of thin() after any change.
TEST(GrowingSeries, IsThinnedAgainOnlyAfterAChange) {
  std::vector<double> steps, epochs, y;
  const auto grow = [&](std::size_t to) {
    for (std::size_t i = y.size(); i < to; ++i) {
      steps.push_back(static_cast<double>(i));
      epochs.push_back(static_cast<double>(i) / 2);
      y.push_back(std::sin(0.01 * static_cast<double>(i)));
    }
  };
  steps.reserve(20'000);
  grow(10'000);
  GrowingSeries series;
  AxisMap map{.scale = Scale::Linear, .range = {0, 20'000}, .from = 0, .to = 600};
  const auto check = [&](const std::vector<double>& x, Scale scale) {
    const auto found = series.thinned(x, y, map, scale);
    const Thinned wanted = thin(x, y, map, scale);
    ASSERT_EQ(found->points.size(), wanted.points.size());
    for (std::size_t i = 0; i < wanted.points.size(); ++i) {
      EXPECT_EQ(found->points[i].x, wanted.points[i].x);
      if (!std::isnan(wanted.points[i].y)) {
        EXPECT_EQ(found->points[i].y, wanted.points[i].y);
      }
    }
    ASSERT_TRUE(found->y);
    EXPECT_EQ(*found->y, *wanted.y);
    EXPECT_EQ(series.thinned(x, y, map, scale), found);
  };
  check(steps, Scale::Linear);
  check(epochs, Scale::Linear);  // as many values in the same view
  check(epochs, Scale::Log10);
  grow(15'000);
  check(steps, Scale::Linear);
  map.range.max = 5'000;
  check(steps, Scale::Linear);
  map.to = 300;
  check(steps, Scale::Linear);
}

}  // namespace lab::ui::plot
