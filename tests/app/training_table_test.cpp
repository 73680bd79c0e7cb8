#include <gtest/gtest.h>

#include <string>

#include "app/headless/printer.h"

namespace lab::app {
namespace {

std::string shown(const Payload& payload) {
  testing::internal::CaptureStdout();
  {
    Console console;
    make_training_table(console)->show(payload);
  }
  return testing::internal::GetCapturedStdout();
}

TEST(TrainingTable, SaysWhereTheTimeOfSeveralDevicesWent) {
  TrainingDone done;
  done.steps = 10;
  done.seconds = 2;
  done.images_per_s = 100;
  done.devices = {cpu(0), cpu(1)};
  done.split = {.compute_s = 0.2, .all_reduce_s = 0.05, .exposed_s = 0.002, .imbalance_s = 0.01};
  done.hidden_share = 0.96;
  done.checkpoint = "c/step-00000010";
  EXPECT_EQ(shown(done),
            "10 steps in 2.00 s, 100 images/s on cpu:0, cpu:1\n"
            "2 devices: 260 ms a step = compute 200 ms + all-reduce 50.0 ms (2.00 ms of it "
            "exposed) + waiting 10.0 ms; 96.0 % of the all-reduce hidden behind backward\n"
            "checkpoint in c/step-00000010\n");
}

TEST(TrainingTable, CountsTheDevicesOfSeveralProcesses) {
  TrainingDone done;
  done.devices = {cpu(0), cpu(0)};
  done.ranks = 2;
  EXPECT_NE(shown(done).find("on 2 devices of 2 processes\n"), std::string::npos) << shown(done);
}

TEST(TrainingTable, SaysHowTheLearningRateCameAbout) {
  TrainingStarted started;
  started.lr = 0.2;
  EXPECT_NE(shown(started).find("learning rate 0.2, "), std::string::npos);
  started.request.lr = 0.1;
  started.request.lr_scale = LrScale::Linear;
  started.request.warmup_epochs = 2;
  EXPECT_NE(shown(started).find("learning rate 0.2 (0.1 scaled linearly with the batch) after a "
                                "warm-up of 2 epochs, "),
            std::string::npos)
      << shown(started);
}

}  // namespace
}  // namespace lab::app
