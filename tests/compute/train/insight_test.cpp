// What a training reports of its batches and its first layer.
#include "compute/train/insight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "compute/experiments/training/training_experiment.h"
#include "tests/support/probe.h"

namespace lab {
namespace {

StartTraining watched_request(const std::string& model, int devices) {
  StartTraining request;
  request.model = model;
  request.synthetic_train = 96;
  request.synthetic_test = 16;
  request.batch = 32;
  request.steps = 3;
  request.evaluate = false;
  request.insight = true;
  for (int i = 0; i < devices; ++i) request.devices.push_back(cpu(i));
  return request;
}

std::vector<Insight> insights_of(const StartTraining& request) {
  test::Probe probe(static_cast<int>(request.devices.size()));
  probe.run(*make_training_experiment(request));
  return probe.all<Insight>();
}

TEST(Insights, ShowImagesOfEveryDevice) {
  const auto all = insights_of(watched_request("lenet", 2));
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().step, 1);
  ASSERT_EQ(all.front().batch.size(), 24U);
  EXPECT_EQ(std::ranges::count_if(all.front().batch, [](const auto& i) { return i.device == 0; }),
            12);
  std::set<int> bright;
  for (const BatchImage& image : all.front().batch) {
    EXPECT_GE(image.label, 0);
    EXPECT_LT(image.label, 10);
    bright.insert(*std::ranges::max_element(image.pixels));
  }
  EXPECT_GT(*bright.rbegin(), 64) << "a garment, not an empty image";
}

TEST(Insights, ShowTheFirstLayersWeights) {
  struct Case {
    const char* model;
    std::int64_t units;
    int side;
  };
  for (const Case& c : {Case{"lenet", 6, 5}, Case{"softmax", 10, 28}, Case{"mlp", 256, 28}}) {
    SCOPED_TRACE(c.model);
    const auto all = insights_of(watched_request(c.model, 1));
    ASSERT_FALSE(all.empty());
    const Insight& last = all.back();
    EXPECT_EQ(last.units, c.units);
    EXPECT_EQ(last.width, c.side);
    EXPECT_EQ(last.height, c.side);
    EXPECT_EQ(last.weights_step, 3) << "after the last step";
    const auto shown = std::min<std::int64_t>(c.units, kInsightUnits);
    ASSERT_EQ(last.weights.size(), static_cast<std::size_t>(shown * c.side * c.side));
    EXPECT_TRUE(std::ranges::any_of(last.weights, [](float w) { return w != 0; }));
  }
}

TEST(Insights, AreOffUnlessWantedAndChangeNoLoss) {
  StartTraining request = watched_request("lenet", 1);
  test::Probe with(1), plain(1);
  with.run(*make_training_experiment(request));
  request.insight = false;
  plain.run(*make_training_experiment(request));
  EXPECT_TRUE(plain.all<Insight>().empty());
  const auto a = plain.all<StepDone>(), b = with.all<StepDone>();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].loss, b[i].loss);
}

}  // namespace
}  // namespace lab
