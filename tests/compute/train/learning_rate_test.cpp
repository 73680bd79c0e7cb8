#include "compute/train/training_run.h"

#include <gtest/gtest.h>

namespace lab {
namespace {

StartTraining request(double lr, std::int64_t batch, LrScale scale, double warmup_epochs) {
  StartTraining r;
  r.lr = lr;
  r.batch = batch;
  r.lr_scale = scale;
  r.warmup_epochs = warmup_epochs;
  return r;
}

TEST(LearningRate, IsConstantByDefault) {
  const LearningRate rate(request(0.9, 512, LrScale::None, 0), 100);
  EXPECT_EQ(rate.peak(), 0.9);
  for (const std::int64_t step : {0, 1, 99, 100, 5000}) EXPECT_EQ(rate.at(step), 0.9);
}

TEST(LearningRate, ScalesWithTheBatch) {
  EXPECT_EQ(LearningRate(request(0.1, 512, LrScale::Linear, 0), 100).at(0), 0.2);
  EXPECT_EQ(LearningRate(request(0.1, 256, LrScale::Linear, 0), 100).at(0), 0.1);
  EXPECT_EQ(LearningRate(request(0.1, 64, LrScale::Linear, 0), 100).at(0), 0.025);
}

TEST(LearningRate, WarmsUpFromTheUnscaledRate) {
  const LearningRate rate(request(0.5, 1024, LrScale::Linear, 2), 3);  // six steps
  EXPECT_EQ(rate.at(0), 0.75);
  EXPECT_EQ(rate.at(2), 1.25);
  EXPECT_EQ(rate.at(4), 1.75);
  EXPECT_EQ(rate.at(5), 2);
  EXPECT_EQ(rate.at(6), 2);
}

TEST(LearningRate, WarmsUpFromZeroWithoutScaling) {
  for (const LrScale scale : {LrScale::None, LrScale::Linear}) {
    const LearningRate rate(request(1, 256, scale, 0.5), 8);  // four steps
    EXPECT_EQ(rate.at(0), 0.25) << "no step has a rate of 0";
    EXPECT_EQ(rate.at(3), 1);
    EXPECT_EQ(rate.at(4), 1);
  }
  EXPECT_EQ(LearningRate(request(1, 128, LrScale::Linear, 0.5), 8).at(0), 0.125);
}

TEST(LearningRate, FallsToZeroAfterTheLastEpoch) {
  StartTraining r = request(0.8, 256, LrScale::None, 0.5);
  r.schedule = LrSchedule::Linear;
  r.epochs = 3;
  const LearningRate rate(r, 4);  // two steps up, ten down
  EXPECT_EQ(rate.at(0), 0.4);
  EXPECT_EQ(rate.at(1), 0.8);
  EXPECT_EQ(rate.at(2), 0.8);
  EXPECT_DOUBLE_EQ(rate.at(7), 0.4);
  EXPECT_DOUBLE_EQ(rate.at(11), 0.08) << "the last step has an effect";
  EXPECT_EQ(rate.at(12), 0);
  EXPECT_EQ(rate.peak(), 0.8);
  r.steps = 5;
  EXPECT_EQ(LearningRate(r, 4).at(4), rate.at(4)) << "ending early does not change the rates";
}

TEST(LearningRate, IgnoresAWarmUpShorterThanAStep) {
  EXPECT_EQ(LearningRate(request(1, 256, LrScale::None, 0.01), 10).at(0), 1);
  EXPECT_EQ(LearningRate(request(1, 256, LrScale::None, 3), 0).at(0), 1);
}

}  // namespace
}  // namespace lab
