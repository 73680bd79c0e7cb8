#include "compute/train/data_parallel/shares.h"

#include <gtest/gtest.h>

#include <numeric>

#include "compute/core/error.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

using Parts = std::vector<std::int64_t>;

Parts split(std::int64_t images, const std::vector<double>& weights) {
  return split_images(images, weights);
}

TEST(SplitImages, EqualWeightsDifferByAtMostOne) {
  EXPECT_EQ(split(64, {1, 1}), (Parts{32, 32}));
  EXPECT_EQ(split(65, {1, 1}), (Parts{33, 32}));
  EXPECT_EQ(split(10, {1, 1, 1, 1}), (Parts{3, 3, 2, 2}));
  EXPECT_EQ(split(2, {1, 1, 1}), (Parts{1, 1, 0}));
  EXPECT_EQ(split(0, {1, 1}), (Parts{0, 0}));
}

TEST(SplitImages, FollowsTheWeightsInAnyUnit) {
  EXPECT_EQ(split(100, {0.7, 0.3}), (Parts{70, 30}));
  EXPECT_EQ(split(100, {7e6, 3e6}), (Parts{70, 30}));
  EXPECT_EQ(split(10, {0, 1}), (Parts{0, 10}));
  EXPECT_EQ(split(1, {0, 0.5, 0.5}), (Parts{0, 1, 0}));
}

TEST(SplitImages, SumsToAllImagesWithinOneOfTheIdeal) {
  for (std::int64_t images = 0; images < 300; ++images) {
    const std::vector<double> weights = {0.31, 1.7, 0.09, 2, 1e-9, 0.4};
    const Parts parts = split(images, weights);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), images);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double ideal = static_cast<double>(images) * weights[i] / total;
      EXPECT_NEAR(static_cast<double>(parts[i]), ideal, 1.0 + 1e-6);
    }
  }
}

TEST(SplitImages, RejectsWeightsThatSumToZero) {
  EXPECT_THROW(split(4, {0, 0}), Error);
  EXPECT_THROW(split(4, {}), Error);
}

Parts limited(std::int64_t images, const std::vector<double>& weights, const Parts& most) {
  const auto shares = limit_shares(images, weights, most);
  return shares ? split(images, *shares) : Parts();
}

TEST(LimitShares, GivesTheRestToDevicesWithRoom) {
  EXPECT_EQ(limited(100, {1, 3}, {100, 100}), (Parts{25, 75}));
  EXPECT_EQ(limited(100, {1, 9}, {100, 60}), (Parts{40, 60}));
  EXPECT_EQ(limited(100, {1, 3, 16}, {90, 90, 50}), (Parts{13, 37, 50}));
  // The rest is too much for the next device, too.
  EXPECT_EQ(limited(100, {1, 3, 16}, {90, 30, 50}), (Parts{20, 30, 50}));
  EXPECT_EQ(limited(100, {0, 0, 1}, {90, 90, 50}), (Parts{25, 25, 50}));
  EXPECT_EQ(limited(9, {8, 1}, {7, 2}), (Parts{7, 2}));
}

TEST(LimitShares, FindsNoneIfTheBatchDoesNotFit) {
  EXPECT_EQ(limited(100, {1, 1}, {40, 59}), Parts());
  EXPECT_EQ(limited(100, {9, 1}, {40, 60}), (Parts{40, 60}));
  EXPECT_EQ(limited(8, {1}, {7}), Parts());
}

// Simulates `steps` steps on devices that take `image_s` seconds per image plus `fixed_s` seconds
// per step.
Parts divided(AutoShares& shares, std::int64_t batch, const std::vector<double>& image_s,
              double fixed_s, int steps) {
  for (int step = 0; step < steps; ++step) {
    const Parts images = split_images(batch, shares.weights());
    std::vector<double> seconds;
    for (std::size_t i = 0; i < images.size(); ++i) {
      seconds.push_back(static_cast<double>(images[i]) * image_s[i] + fixed_s);
    }
    shares.observe(images, seconds);
  }
  return split_images(batch, shares.weights());
}

TEST(AutoShares, LetsAllDevicesFinishTogether) {
  AutoShares shares(2);
  EXPECT_EQ(divided(shares, 96, {0.001, 0.002}, 0, 40), (Parts{64, 32}));
  // One device slows down during the run.
  EXPECT_EQ(divided(shares, 96, {0.002, 0.001}, 0, 40), (Parts{32, 64}));
}

TEST(AutoShares, FindsTheBalanceDespiteAConstantTime) {
  AutoShares shares(2);
  const Parts images = divided(shares, 1000, {0.001, 0.003}, 0.05, 200);
  const double first = static_cast<double>(images[0]) * 0.001 + 0.05;
  const double second = static_cast<double>(images[1]) * 0.003 + 0.05;
  EXPECT_NEAR(first / second, 1, 0.05);
}

TEST(AutoShares, KeepsEqualDevicesEqual) {
  AutoShares shares(4);
  EXPECT_EQ(divided(shares, 64, {0.001, 0.00101, 0.00099, 0.001}, 0, 50), (Parts{16, 16, 16, 16}));
}

TEST(AutoShares, IgnoresAShortLastBatch) {
  AutoShares shares(2);
  divided(shares, 96, {0.001, 0.001}, 0, 7);
  divided(shares, 10, {0.001, 0.001}, 0, 1);
  EXPECT_EQ(divided(shares, 96, {0.001, 0.002}, 0, 20), (Parts{64, 32}));
}

TEST(AutoShares, KeepsADeviceWithoutImages) {
  AutoShares shares(3);
  EXPECT_EQ(divided(shares, 2, {0.001, 0.001, 0.001}, 0, 50), (Parts{1, 1, 0}));
}

}  // namespace
}  // namespace lab
