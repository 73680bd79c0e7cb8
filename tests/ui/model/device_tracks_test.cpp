#include "ui/model/device_tracks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/ui/events.h"
#include "ui/model/columns.h"
#include "ui/model/training_run.h"

namespace lab::ui {
namespace {

using namespace lab::test;

StepDone step_on(int devices, std::int64_t step) {
  StepDone done = step_done(step);
  done.images_per_s = 1000;
  done.devices = device_steps(devices, 1, step, false);
  return done;
}

TEST(DeviceTracks, IsEmptyForOneDevice) {
  DeviceTracks tracks;
  tracks.add(step_done(1), 0);
  EXPECT_TRUE(tracks.empty());
  EXPECT_EQ(tracks.longest_step_s(), 0);
}

TEST(DeviceTracks, PartsAddUpToTheStep) {
  DeviceTracks tracks;
  StepDone step = step_on(2, 1);
  step.devices[0] = {0, cpu(0), 192, 0.05, 0.02, 0.005, 0.03};
  step.devices[1] = {0, cpu(1), 64, 0.07, 0.03, 0.01, 0.0};
  tracks.add(step, 0.5);
  ASSERT_EQ(tracks.all().size(), 2u);
  const DeviceTrack& first = tracks.all()[0];
  EXPECT_DOUBLE_EQ(first.parts.compute_s, 0.05);
  EXPECT_DOUBLE_EQ(first.parts.hidden_s, 0.015);
  EXPECT_DOUBLE_EQ(first.parts.exposed_s, 0.005);
  EXPECT_DOUBLE_EQ(first.parts.wait_s, 0.03);
  EXPECT_DOUBLE_EQ(first.parts.sum(), 0.1);
  EXPECT_DOUBLE_EQ(first.share, 0.75);
  EXPECT_DOUBLE_EQ(tracks.longest_step_s(), 0.1);
  EXPECT_DOUBLE_EQ(tracks.mean_parts().hidden_s, 0.0175);
  EXPECT_DOUBLE_EQ(tracks.mean_parts().exposed_s, 0.0075);
  EXPECT_DOUBLE_EQ(tracks.mean_parts().sum(), 0.1);
  EXPECT_DOUBLE_EQ(first.stacked.back(), 750);
  EXPECT_DOUBLE_EQ(tracks.all()[1].stacked.back(), 1000);
  EXPECT_EQ(tracks.epoch().back(), 0.5);
}

TEST(DeviceTracks, SmoothsOutliers) {
  DeviceTracks tracks;
  for (int i = 1; i <= 50; ++i) tracks.add(step_on(2, i), 0);
  const double before = tracks.all()[0].parts.compute_s;
  StepDone odd = step_on(2, 51);
  odd.devices[0].compute_s *= 2;
  tracks.add(odd, 0);
  EXPECT_NEAR(tracks.all()[0].parts.compute_s, before, 0.01 * before);
}

TEST(DeviceTracks, ShowATypicalStepOfWholeBatches) {
  DeviceTracks tracks;
  for (int i = 1; i <= 40; ++i) {
    StepDone step = step_on(2, i);
    for (DeviceStep& d : step.devices) {
      d = {d.rank, d.device, 128, 0.05, 0, 0, 0};
      if (i % 8 == 0) d.compute_s = 0.5;  // an interruption
      if (i % 10 == 0) d = {d.rank, d.device, 8, 0.001, 0, 0, 0};
    }
    tracks.add(step, 0);
  }
  EXPECT_DOUBLE_EQ(tracks.longest_step_s(), 0.05);
}

TEST(DeviceTracks, TellTheImagesOfAFullBatch) {
  DeviceTracks tracks;
  for (int i = 1; i <= 20; ++i) {
    StepDone step = step_on(2, i);
    for (DeviceStep& device : step.devices) device.images = i % 5 == 0 ? 48 : 128;
    tracks.add(step, 0);
  }
  EXPECT_DOUBLE_EQ(tracks.all()[0].images, 128);
}

TEST(DeviceTracks, LongRunsStayBoundedAndComplete) {
  DeviceTracks tracks;
  const auto steps = static_cast<std::int64_t>(5 * kDevicePoints);
  for (std::int64_t i = 1; i <= steps; ++i) tracks.add(step_on(3, i), 0);
  EXPECT_EQ(tracks.steps_per_point(), 8u);
  EXPECT_LE(tracks.step().size(), kDevicePoints);
  EXPECT_GE(tracks.step().size(), kDevicePoints / 2);
  for (std::size_t i = 0; i < tracks.step().size(); ++i) {
    ASSERT_EQ(tracks.step()[i], static_cast<double>(8 * (i + 1)));
  }
  for (const DeviceTrack& track : tracks.all()) {
    EXPECT_EQ(track.shares.size(), tracks.step().size());
    EXPECT_EQ(track.stacked.size(), tracks.step().size());
  }
  EXPECT_EQ(tracks.zeros().size(), tracks.step().size());
  EXPECT_NEAR(tracks.all().back().stacked.back(), 1000, 1e-6);
}

TEST(DeviceTracks, DistinguishesRanks) {
  DeviceTracks tracks;
  tracks.add(step_on(4, 1), 0);
  EXPECT_EQ(tracks.ranks(), 1);
  StepDone step = step_on(4, 2);
  step.devices = device_steps(4, 2, 2, false);
  tracks.add(step, 0);
  EXPECT_EQ(tracks.ranks(), 2);
  EXPECT_EQ(tracks.all().size(), 4u);
  EXPECT_EQ(tracks.step().size(), 1u) << "another set of devices starts over";
}

TEST(DeviceTracks, LeaveIdleDevicesOutOfTheMean) {
  DeviceTracks tracks;
  for (int i = 1; i <= 20; ++i) tracks.add(step_on(2, i), 0);
  EXPECT_FALSE(tracks.all()[1].idle);
  StepDone step = step_on(2, 21);
  step.devices = {{0, cpu(0), 256, 0.2, 0, 0, 0}, {0, cpu(1), 0, 0, 0, 0, 0}};
  tracks.add(step, 0);
  EXPECT_TRUE(tracks.all()[1].idle);
  EXPECT_EQ(tracks.all()[1].images, 0) << "not the mean of earlier steps";
  EXPECT_EQ(tracks.all()[1].share, 0);
  EXPECT_EQ(tracks.all()[0].images, 256) << "so that the images add up to the batch";
  EXPECT_EQ(tracks.all()[0].share, 1);
  EXPECT_DOUBLE_EQ(tracks.mean_parts().compute_s, 0.2);
  EXPECT_DOUBLE_EQ(tracks.longest_step_s(), 0.2);
}

TEST(DeviceTracks, AcceptsStepsWithoutImagesOrTimes) {
  DeviceTracks tracks;
  StepDone step = step_on(2, 1);
  for (DeviceStep& d : step.devices) d = {d.rank, d.device, 0, 0, 0, 0, 0};
  tracks.add(step, 0);
  EXPECT_EQ(tracks.all()[0].share, 0);
  EXPECT_EQ(tracks.mean_parts().sum(), 0);
}

TEST(TrainingRun, LeavesPartialBatchesOutOfTheSpeed) {
  TrainingRun run(1, StartTraining{});
  run.add(training_started(true));
  for (int i = 1; i <= 21; ++i) {
    StepDone step = step_done(i);
    step.images_per_s = i == 10 ? 100 : 2560;  // an interruption
    if (i == 21) step.images = 16, step.images_per_s = 200'000, step.loss = 50;
    run.add(step);
  }
  EXPECT_DOUBLE_EQ(run.median_step_s(), 0.1);
  EXPECT_DOUBLE_EQ(run.typical_images_per_s(), 2560);
  EXPECT_LT(run.highest_images_per_s(), 2561);
  EXPECT_TRUE(std::isnan(run.steps().images_per_s.back()));
  EXPECT_EQ(run.steps().images.back(), 16);
  run.add(training_profile(false));
  EXPECT_DOUBLE_EQ(run.median_step_s(), run.profile()->totals[0].step.median_s)
      << "one number for all cards";
  Smoothed smoothed;
  const Column64 average = smoothed.follow(run.steps().loss, run.steps().weight, 0.9);
  EXPECT_LT(average[20] - average[19], 0.5) << "it counts for its 16 images";
}

TEST(TrainingRun, SaysWhereInterruptionsMadeItSlower) {
  TrainingRun run(1, StartTraining{});
  run.add(training_started(true));
  for (int i = 1; i <= 20; ++i) {
    StepDone step = step_done(i);
    step.images_per_s = 2560;
    run.add(step);
  }
  EXPECT_EQ(run.speed_text(), "2.56 k");
  TrainingDone done;
  done.images_per_s = 2500;
  run.add(done);
  EXPECT_EQ(run.speed_text(), "2.56 k");
  done.images_per_s = 1800;
  run.add(done);
  EXPECT_EQ(run.speed_text(), "2.56 k, mean 1.80 k");
  EXPECT_EQ(run.lower_mean_images_per_s(), 1800.0);
}

TEST(TrainingRun, SaysWhereItStopped) {
  TrainingRun run(1, StartTraining{});
  TrainingStarted started = training_started(true);
  started.steps_per_epoch = 10;
  started.total_steps = 40;
  run.add(started);
  for (int i = 1; i <= 15; ++i) run.add(step_done(i));
  EXPECT_EQ(run.stopped_text(), "") << "it goes on";
  TrainingRun reached = run;
  run.add(TrainingDone{});
  EXPECT_EQ(run.stopped_text(), "stopped at epoch 1.5 of 4");
  TrainingDone done;
  done.reached_s = 3;
  reached.add(done);
  EXPECT_EQ(reached.stopped_text(), "") << "at the accuracy asked for";
  TrainingChanged change;
  change.step = change.total_steps = 15;
  run.add(change);
  EXPECT_EQ(run.stopped_text(), "") << "the plan was changed";
}

TEST(TrainingRun, KnowsThePartialBatchesOfARestoredRun) {
  TrainingRun run(-1, StartTraining{});
  run.add(training_started(true));  // 60000 images in 235 steps of 256
  for (const int i : {234, 235}) {
    StepDone step = step_done(i);
    step.images = 0;  // not kept
    run.add(step);
  }
  EXPECT_EQ(run.steps().images, (Column64{256, 96}));
}

TEST(TrainingRun, CountsTheDevicesOfAllRanks) {
  TrainingRun run(1, StartTraining{});
  run.add(training_started(true));
  StepDone step = step_done(1);
  step.devices = device_steps(4, 2, 1, false);
  run.add(step);
  EXPECT_EQ(run.name(), "LeNet, batch 256, lr 0.9, 4 devices of 2 ranks");
}

TEST(TrainingRun, NamesDevicesAndAutomaticShares) {
  StartTraining request;
  request.devices = {cpu(0), cpu(1)};
  request.share_policy = SharePolicy::Auto;
  TrainingRun run(1, request);
  EXPECT_EQ(run.name(), "LeNet, batch 256, 2 devices, auto shares");
}

}  // namespace
}  // namespace lab::ui
