#include "compute/train/step_profile.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "compute/experiments/training/training_experiment.h"
#include "compute/nn/models.h"
#include "tests/support/counting_new.h"
#include "tests/support/probe.h"

namespace lab {
namespace {

// A profile of mlp (linear, relu, linear) with hand-written timings.
class StepProfileTest : public ::testing::Test {
 protected:
  explicit StepProfileTest(std::vector<Kernels> kernels = {Kernels::Lab})
      : network(nn::plan_model("mlp"), machine.at(cpu()), 8),
        profile(network, {.device = cpu(), .kernels = std::move(kernels), .peak_gflops = 100}) {}

  // Every part takes `part_s`; the step takes half a second more than their sum.
  void step(double part_s, std::int64_t images = 8, bool whole = true,
            Kernels kernels = Kernels::Lab) {
    profile.begin_step(kernels);
    profile.done(StepPhase::Batch, 0, part_s);
    for (std::size_t op = 0; op < 3; ++op) profile.done(StepPhase::Forward, op, part_s);
    profile.done(StepPhase::Loss, 0, part_s);
    for (std::size_t op = 3; op-- > 0;) profile.done(StepPhase::Backward, op, part_s);
    profile.done(StepPhase::Update, 0, part_s);
    profile.end_step(9 * part_s + 0.5, images, whole);
  }

  Machine machine;
  nn::Network network;
  StepProfile profile;
};

TEST_F(StepProfileTest, HasARowForEachPartInStepOrder) {
  const TrainingProfile p = profile.result();
  std::vector<std::pair<std::string, StepPhase>> rows;
  for (const ProfileRow& row : p.rows) rows.emplace_back(row.layer, row.phase);
  EXPECT_EQ(rows, (std::vector<std::pair<std::string, StepPhase>>{
                      {"batch", StepPhase::Batch},
                      {"net.1", StepPhase::Forward},
                      {"relu after net.1", StepPhase::Forward},
                      {"net.3", StepPhase::Forward},
                      {"loss", StepPhase::Loss},
                      {"net.3", StepPhase::Backward},
                      {"relu after net.1", StepPhase::Backward},
                      {"net.1", StepPhase::Backward},
                      {"update", StepPhase::Update}}));
}

TEST(StepProfileOnGpu, HasNoThreads) {
  Machine machine({.emulated_gpus = 1});
  const nn::Network network(nn::plan_model("mlp"), machine.at(emulated_gpu(0)), 8);
  const ProfileSetup setup{.device = emulated_gpu(0), .kernels = {Kernels::Lab}};
  EXPECT_EQ(StepProfile(network, setup).result().threads, 0);
}

TEST_F(StepProfileTest, ExcludesWarmUpAndPartialBatches) {
  step(100);
  step(100);
  EXPECT_EQ(profile.counted(), 0);
  EXPECT_EQ(profile.result().totals.at(0).step.n, 0);
  step(1);
  step(100, 3, /*whole=*/false);
  step(2);
  step(3);
  EXPECT_EQ(profile.counted(), 3);
  const TrainingProfile p = profile.result();
  EXPECT_EQ(p.images, 8);
  for (const ProfileRow& row : p.rows) {
    EXPECT_EQ(row.time.n, 3) << row.layer;
    EXPECT_EQ(row.time.warmup, StepProfile::kWarmup);
    EXPECT_DOUBLE_EQ(row.time.median_s, 2) << row.layer;
  }
  EXPECT_DOUBLE_EQ(p.totals.at(0).rows.median_s, 18);
  EXPECT_DOUBLE_EQ(p.totals.at(0).step.median_s, 18.5);
  EXPECT_DOUBLE_EQ(p.totals.at(0).unaccounted_s, 0.5);
  constexpr double kParts = 6, kSteps = 9 * 6 + 3 * 0.5;  // one, two and three seconds per part
  EXPECT_DOUBLE_EQ(p.totals.at(0).share(StepPhase::Forward), 3 * kParts / kSteps);
  EXPECT_DOUBLE_EQ(p.totals.at(0).share(StepPhase::Update), kParts / kSteps);
  EXPECT_EQ(p.totals.at(0).share(StepPhase::AllReduce), 0);
}

TEST_F(StepProfileTest, RestartsWhenTheDevicesSliceChanges) {
  for (int i = 0; i < 5; ++i) step(1);
  for (int i = 0; i < 3; ++i) step(7, 6);
  EXPECT_EQ(profile.counted(), 1);
  EXPECT_EQ(profile.result().images, 6);
  EXPECT_DOUBLE_EQ(profile.result().rows.at(0).time.median_s, 7);
}

TEST_F(StepProfileTest, KeepsTheLatestSteps) {
  for (int i = 0; i < 2 + StepProfile::kLatest; ++i) step(1);
  for (int i = 0; i < StepProfile::kLatest; ++i) step(2);
  const ProfileRow row = profile.result().rows.at(1);
  EXPECT_EQ(row.time.n, StepProfile::kLatest);
  EXPECT_DOUBLE_EQ(row.time.min_s, 2);
}

TEST_F(StepProfileTest, AddsUpRepeatedParts) {
  for (int i = 0; i < 3; ++i) {
    profile.begin_step(Kernels::Lab);
    profile.done(StepPhase::Update, 0, 1);
    profile.done(StepPhase::Update, 0, 2);
    profile.end_step(4, 8, true);
  }
  EXPECT_DOUBLE_EQ(profile.result().rows.back().time.median_s, 3);
}

TEST_F(StepProfileTest, AllocatesNothingInAStep) {
  const long before = test::allocation_count();
  for (int i = 0; i < 8; ++i) step(1);
  EXPECT_EQ(test::allocation_count() - before, 0);
}

TEST_F(StepProfileTest, SpeedsComeFromMedianAndWork) {
  for (int i = 0; i < 3; ++i) step(1e-6);
  const TrainingProfile p = profile.result();
  const ProfileRow& linear = p.rows.at(1);
  EXPECT_EQ(linear.kind, "linear");
  EXPECT_EQ(linear.flop, 2 * 8 * 784 * 256);
  EXPECT_DOUBLE_EQ(linear.gflops(), 2 * 8 * 784 * 256 / 1e-6 / 1e9);
  EXPECT_DOUBLE_EQ(p.share_of_peak(linear), linear.gflops() / 100);
  EXPECT_DOUBLE_EQ(linear.intensity(),
                   static_cast<double>(linear.flop) / static_cast<double>(linear.bytes));
  EXPECT_EQ(p.rows.back().bytes, 12 * network.parameter_count());
  EXPECT_EQ(p.rows.front().bytes, 5 * 8 * 784);
}

class TwoKindsTest : public StepProfileTest {
 protected:
  TwoKindsTest() : StepProfileTest({Kernels::Lab, Kernels::Library}) {}
};

TEST_F(TwoKindsTest, EachKindHasItsOwnRowsAndWarmUp) {
  for (int i = 0; i < 4; ++i) step(1);
  for (int i = 0; i < 3; ++i) step(2, 8, true, Kernels::Library);
  const TrainingProfile p = profile.result();
  ASSERT_EQ(p.totals.size(), 2U);
  ASSERT_EQ(p.rows.size(), 18U);
  EXPECT_EQ(p.totals[0].step.n, 2);
  EXPECT_EQ(p.totals[1].step.n, 1);
  EXPECT_EQ(p.totals[1].kernels, Kernels::Library);
  EXPECT_DOUBLE_EQ(p.rows[0].time.median_s, 1);
  EXPECT_DOUBLE_EQ(p.rows[9].time.median_s, 2);
  EXPECT_EQ(p.rows[9].kernels, Kernels::Library);
  EXPECT_EQ(p.rows[9].layer, p.rows[0].layer);
}

StartTraining profiled_request() {
  StartTraining request;
  request.synthetic_train = 64;
  request.synthetic_test = 8;
  request.batch = 16;
  request.steps = 9;
  request.evaluate = false;
  return request;
}

std::vector<double> losses(const test::Probe& probe) {
  std::vector<double> all;
  for (const StepDone& step : probe.all<StepDone>()) all.push_back(step.loss);
  return all;
}

TEST(TrainingProfiles, AreReportedAtTheEndAndDoNotChangeTheLosses) {
  StartTraining request = profiled_request();
  test::Probe plain, profiled;
  plain.run(*make_training_experiment(request));
  request.profile = true;
  profiled.run(*make_training_experiment(request));
  EXPECT_TRUE(plain.all<TrainingProfile>().empty());
  EXPECT_EQ(losses(plain), losses(profiled));
  ASSERT_FALSE(profiled.all<TrainingProfile>().empty());
  const TrainingProfile p = profiled.all<TrainingProfile>().back();
  EXPECT_EQ(p.device, cpu());
  EXPECT_EQ(p.devices, 1);
  EXPECT_EQ(p.model, "lenet");
  EXPECT_EQ(p.images, 16);
  EXPECT_GT(p.threads, 0);
  EXPECT_GT(p.peak_gflops, 0);
  ASSERT_EQ(p.totals.size(), 1U);
  EXPECT_EQ(p.totals[0].step.n, 7);
  double sum = 0;
  for (const ProfileRow& row : p.rows) {
    EXPECT_EQ(row.time.n, 7) << row.layer;
    EXPECT_GT(row.time.median_s, 0) << row.layer;
    EXPECT_GT(row.bytes, 0) << row.layer;
    sum += row.time.min_s;
  }
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, p.totals[0].rows.max_s);
  EXPECT_LE(p.totals[0].rows.min_s, p.totals[0].step.min_s);
}

TEST(TrainingProfiles, KernelKindsAlternate) {
  StartTraining request = profiled_request();
  request.compare_kernels = true;
  test::Probe probe;
  probe.run(*make_training_experiment(request));
  EXPECT_TRUE(probe.all<TrainingStarted>().at(0).request.profile);
  const TrainingProfile p = probe.all<TrainingProfile>().back();
  ASSERT_EQ(p.totals.size(), 2U);
  EXPECT_EQ(p.totals[0].step.n, 3) << "steps 5, 7, 9";
  EXPECT_EQ(p.totals[1].step.n, 2) << "steps 6, 8";
  const std::size_t parts = p.rows.size() / 2;
  std::set<std::string> methods;
  for (std::size_t i = 0; i < parts; ++i) {
    EXPECT_EQ(p.rows[i].layer, p.rows[parts + i].layer);
    EXPECT_EQ(p.rows[i].flop, p.rows[parts + i].flop);
    if (p.rows[i].kind == "convolution") {
      EXPECT_NE(p.rows[i].method, p.rows[parts + i].method);
    }
  }
}

TEST(TrainingProfiles, CoverTheFirstOfSeveralDevices) {
  StartTraining request = profiled_request();
  request.devices = {cpu(0), cpu(1)};
  request.profile = true;
  test::Probe probe(2);
  probe.run(*make_training_experiment(request));
  const TrainingProfile p = probe.all<TrainingProfile>().back();
  EXPECT_EQ(p.device, cpu(0));
  EXPECT_EQ(p.devices, 2);
  EXPECT_EQ(p.images, 8);
  std::set<StepPhase> phases;
  for (const ProfileRow& row : p.rows) phases.insert(row.phase);
  EXPECT_EQ(phases.size(), 6U) << "summing gradients has a row";
}

TEST(TrainingProfiles, ReportNoCountedStepForAShortRun) {
  StartTraining request = profiled_request();
  request.steps = 2;
  request.profile = true;
  test::Probe probe;
  probe.run(*make_training_experiment(request));
  ASSERT_EQ(probe.all<TrainingProfile>().size(), 1U);
  EXPECT_EQ(probe.all<TrainingProfile>()[0].totals.at(0).step.n, 0);
}

}  // namespace
}  // namespace lab
