#include "compute/experiments/scaling/scaling_prediction.h"

#include <gtest/gtest.h>

namespace lab {
namespace {

const Workload kWork{
    .compute = {0, 1e-4}, .backward_share = 2.0 / 3, .buckets = {{40e6, 0.4}, {4e6, 1}}};
const Link kLink{"test", "", 1e-5, 10};

TEST(DoublingCounts, EndWithTheLargest) {
  EXPECT_EQ(doubling_counts(0), std::vector<int>{});
  EXPECT_EQ(doubling_counts(1), std::vector<int>{1});
  EXPECT_EQ(doubling_counts(6), (std::vector<int>{1, 2, 4, 6}));
  EXPECT_EQ(doubling_counts(8), (std::vector<int>{1, 2, 4, 8}));
}

TEST(Predict, OneDeviceIsTheMeasure) {
  for (const ScalingMode mode : {ScalingMode::Strong, ScalingMode::Weak}) {
    const ScalingPrediction p =
        predict(kWork, kLink, SumStyle::Overlapped, {mode, 256, "typed in"}, 1);
    EXPECT_EQ(p.batch, 256);
    EXPECT_DOUBLE_EQ(p.step_s, 0.0256);
    EXPECT_DOUBLE_EQ(p.speedup, 1);
    EXPECT_DOUBLE_EQ(p.efficiency, 1);
    EXPECT_EQ(p.basis, "typed in");
    EXPECT_EQ(p.link, "test");
    EXPECT_FALSE(p.measured_step_s);
  }
}

TEST(Predict, WeakScalingKeepsEachDevicesImages) {
  const PredictionCase weak{ScalingMode::Weak, 256, ""}, strong{ScalingMode::Strong, 256, ""};
  const ScalingPrediction w = predict(kWork, kLink, SumStyle::Overlapped, weak, 4);
  EXPECT_EQ(w.batch, 1024);
  EXPECT_DOUBLE_EQ(w.split.compute_s, 0.0256);
  EXPECT_NEAR(w.images_per_s, 1024 / w.step_s, 1e-6);
  EXPECT_NEAR(w.efficiency, 0.0256 / w.step_s, 1e-12);
  const ScalingPrediction s = predict(kWork, kLink, SumStyle::Overlapped, strong, 4);
  EXPECT_EQ(s.batch, 256);
  EXPECT_DOUBLE_EQ(s.split.compute_s, 0.0064);
  EXPECT_GT(w.efficiency, s.efficiency) << "more work hides the same sums better";
}

ScalingPoint point(int devices, double step_s, double all_reduce_s, bool shares_cores = false) {
  ScalingPoint p;
  p.devices = devices;
  p.batch = 256;
  p.step.median_s = step_s;
  p.split.all_reduce_s = all_reduce_s;
  p.shares_cores = shares_cores;
  return p;
}

TEST(Explain, IsExactWhereTheWorldIsAsTheModelSays) {
  const PredictionCase strong{ScalingMode::Strong, 256, "measured on cpu:0"};
  const auto found = explain(kWork, strong,
                             {point(1, 0.0256, 0), point(2, 0.0128 + 0.004, 0.004),
                              point(4, 0.0256 + 0.9, 0.9, /*shares_cores=*/true)},
                             {1, 1, 4});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].link, "memory");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(found[i].step_s, found[i].measured_step_s.value(), 1e-12);
  }
  EXPECT_NEAR(found[1].speedup, 0.0256 / 0.0168, 1e-9);
  // Four devices on one core compute as long as one; sums that waited for the core do not count.
  EXPECT_NEAR(found[2].split.compute_s, 0.0256, 1e-12);
  EXPECT_NEAR(found[2].split.all_reduce_s, 1.5 * 0.004, 1e-9);
  EXPECT_LT(found[2].speedup, 1);
}

TEST(Explain, NeedsTwoDevices) {
  EXPECT_TRUE(explain(kWork, {ScalingMode::Strong, 256, ""}, {point(1, 0.0256, 0)}, {1}).empty());
}

}  // namespace
}  // namespace lab
