#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "compute/core/error.h"
#include "compute/data/dataset.h"
#include "compute/data/raster.h"

namespace lab {
namespace {

float area(const Coverage& cover) {
  float sum = 0;
  for (int y = cover.first_row(); y < cover.end_row(); ++y) {
    for (const float c : cover.row(y)) sum += c;
  }
  return sum;
}

TEST(Coverage, CoversTheExactAreaOfEachPixel) {
  Coverage cover;
  const std::array<Point, 4> box = {{{2.25F, 3.5F}, {5, 3.5F}, {5, 6}, {2.25F, 6}}};
  cover.fill(box);
  EXPECT_FLOAT_EQ(cover.row(3)[2], 0.75F * 0.5F);
  EXPECT_FLOAT_EQ(cover.row(3)[4], 0.5F);
  EXPECT_FLOAT_EQ(cover.row(4)[2], 0.75F);
  EXPECT_FLOAT_EQ(cover.row(5)[3], 1);
  EXPECT_NEAR(cover.row(5)[5], 0, 1e-6);
  EXPECT_NEAR(area(cover), 2.75 * 2.5, 1e-4);
}

TEST(Coverage, IsIndependentOfDirection) {
  Coverage forward, backward;
  std::array<Point, 3> triangle = {{{3.3F, 2.1F}, {20.7F, 9.4F}, {8.2F, 25.6F}}};
  forward.fill(triangle);
  std::reverse(triangle.begin(), triangle.end());
  backward.fill(triangle);
  const double want = 0.5 * std::abs((20.7 - 3.3) * (25.6 - 2.1) - (8.2 - 3.3) * (9.4 - 2.1));
  EXPECT_NEAR(area(forward), want, 1e-3);
  EXPECT_NEAR(area(backward), want, 1e-3);
}

TEST(Coverage, ClipsAtTheBorders) {
  Coverage cover;
  const std::array<Point, 4> all = {{{-9, -9}, {60, -9}, {60, 60}, {-9, 60}}};
  cover.fill(all);
  EXPECT_NEAR(area(cover), 28 * 28, 1e-3);
  const std::array<Point, 4> outside = {{{-9, 30}, {60, 30}, {60, 60}, {-9, 60}}};
  cover.fill(outside);
  EXPECT_EQ(area(cover), 0);
  const std::array<Point, 4> right = {{{30, 2}, {60, 2}, {60, 9}, {30, 9}}};
  cover.fill(right);
  EXPECT_EQ(area(cover), 0);
}

TEST(SyntheticGarments, DependOnlyOnSeedAndIndex) {
  const Dataset a = make_synthetic_garments(200, 50, 7), b = make_synthetic_garments(120, 30, 7);
  EXPECT_TRUE(std::equal(b.train.pixels.begin(), b.train.pixels.end(), a.train.pixels.begin()));
  EXPECT_TRUE(std::equal(b.train.labels.begin(), b.train.labels.end(), a.train.labels.begin()));
  EXPECT_TRUE(std::equal(b.test.pixels.begin(), b.test.pixels.end(), a.test.pixels.begin()));
  const Dataset other = make_synthetic_garments(200, 50, 8);
  EXPECT_NE(other.train.pixels, a.train.pixels);
  EXPECT_NE(other.train.labels, a.train.labels);
  EXPECT_FALSE(std::equal(a.test.pixels.begin(), a.test.pixels.end(), a.train.pixels.begin()));
}

TEST(SyntheticGarments, ReportNameAndClasses) {
  const Dataset data = make_synthetic_garments(30, 20, 0);
  EXPECT_EQ(data.name, "synthetic garments");
  EXPECT_TRUE(data.synthetic && data.train.synthetic && data.test.synthetic);
  ASSERT_EQ(data.class_names.size(), 10U);
  EXPECT_EQ(data.class_names[9], "ankle boot");
  EXPECT_EQ(data.train.count, 30);
  EXPECT_EQ(data.train.pixels.size(), 30U * 784);
  EXPECT_EQ(data.test.labels.size(), 20U);
}

TEST(SyntheticGarments, ContainEachClassEquallyOften) {
  const Dataset data = make_synthetic_garments(1000, 0, 3);
  std::array<int, 10> seen{};
  for (const std::uint8_t label : data.train.labels) ++seen.at(label);
  for (const int n : seen) EXPECT_EQ(n, 100);
  // The order of the classes varies.
  EXPECT_FALSE(std::equal(data.train.labels.begin(), data.train.labels.begin() + 10,
                          data.train.labels.begin() + 10));
}

// An empty or saturated image would teach nothing.
TEST(SyntheticGarments, CoverPartOfEachImage) {
  const Dataset data = make_synthetic_garments(2000, 0, 5);
  for (std::int64_t i = 0; i < data.train.count; ++i) {
    const auto* first = data.train.pixels.data() + i * 784;
    const auto [darkest, brightest] = std::minmax_element(first, first + 784);
    EXPECT_GT(*brightest - *darkest, 20) << i;
  }
  double sum = 0;
  for (const std::uint8_t p : data.train.pixels) sum += p;
  const double mean = sum / 255 / static_cast<double>(data.train.pixels.size());
  EXPECT_GT(mean, 0.1);
  EXPECT_LT(mean, 0.4);
}

// Images must resemble their class: the nearest class mean is the correct one far more often than
// by chance (one in ten), but classes overlap.
TEST(SyntheticGarments, AreSeparableButNotTrivial) {
  const Dataset data = make_synthetic_garments(4000, 1000, 1);
  std::array<std::array<double, 784>, 10> means{};
  for (std::int64_t i = 0; i < data.train.count; ++i) {
    auto& mean = means.at(data.train.labels[static_cast<std::size_t>(i)]);
    for (std::size_t p = 0; p < 784; ++p) {
      mean[p] += data.train.pixels[static_cast<std::size_t>(i) * 784 + p] / 400.0;
    }
  }
  int right = 0;
  for (std::int64_t i = 0; i < data.test.count; ++i) {
    const auto* image = data.test.pixels.data() + i * 784;
    double best = 1e30;
    std::size_t nearest = 0;
    for (std::size_t label = 0; label < 10; ++label) {
      double distance = 0;
      for (std::size_t p = 0; p < 784; ++p) {
        const double d = image[p] - means[label][p];
        distance += d * d;
      }
      if (distance < best) best = distance, nearest = label;
    }
    right += nearest == data.test.labels[static_cast<std::size_t>(i)];
  }
  EXPECT_GT(right, 500);
  EXPECT_LT(right, 900);
}

TEST(SyntheticGarments, ReportProgressAndSupportCancel) {
  std::vector<double> seen;
  make_synthetic_garments(3000, 1000, 0, [&](double done) { seen.push_back(done); });
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.front(), 0);
  EXPECT_EQ(seen.back(), 1);
  EXPECT_GE(seen.size(), 4U);
  EXPECT_THROW(make_synthetic_garments(3000, 0, 0,
                                       [](double done) {
                                         if (done > 0.5) throw Error(Errc::Cancelled, "stop");
                                       }),
               Error);
}

TEST(SyntheticGarments, RejectInvalidSizes) {
  EXPECT_EQ(make_synthetic_garments(0, 0, 0).train.count, 0);
  EXPECT_THROW(make_synthetic_garments(-1, 0, 0), Error);
  EXPECT_THROW(make_synthetic_garments(0, 1'000'000'000'000, 0), Error);
}

}  // namespace
}  // namespace lab
