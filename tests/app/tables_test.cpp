#include "app/headless/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "app/headless/printer.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

TEST(TableLayout, AlignsNumbersRight) {
  const TableLayout layout({{"name", 6}, {"n", 4, true}, {"unit", 0}});
  EXPECT_EQ(layout.header(), "name       n  unit");
  EXPECT_EQ(layout.row({"abc", "12", "s"}), "abc       12  s");
  EXPECT_EQ(layout.row({"toolongname", "1"}), "toolongname     1");
}

TEST(TableLayout, CountsCharactersNotBytes) {
  EXPECT_EQ(display_width("µs"), 2);
  EXPECT_EQ(display_width("thiết bị"), 8);
  EXPECT_EQ(display_width("设备 0"), 6);
  EXPECT_EQ(display_width("メモリ"), 6);
  const TableLayout layout({{"t", 4, true}, {"x", 1}});
  EXPECT_EQ(layout.row({"3 µs", "y"}), "3 µs  y");
}

TEST(Percent, ShowsOneDigitOrNotAvailable) {
  EXPECT_EQ(percent(0.4217), "42.2 %");
  EXPECT_EQ(percent(std::nan("")), "N/A");
}

std::string matmul_output(const std::vector<Payload>& payloads) {
  testing::internal::CaptureStdout();
  {
    Console console;
    const auto table = make_matmul_table(console);
    for (const Payload& payload : payloads) table->show(payload);
  }
  return testing::internal::GetCapturedStdout();
}

TEST(MatmulTable, ShowsAFailedKernel) {
  EXPECT_EQ(matmul_output({RungFailed{gpu(0), "vector", Precision::F32, 64, "it is wrong", 3}}),
            "vector in f32 at 64 on cuda:0: FAILED, it is wrong\n");
}

TEST(MatmulTable, ShowsTheCeilingsBeforeTheKernels) {
  PeakSample peak;
  peak.threads = 2;
  peak.gflops = 500;
  CeilingsMeasured ceilings;
  ceilings.threads = 2;
  ceilings.compute = {{.name = "FMA f32", .threads = 2, .gflops = 500}};
  BandwidthCeiling level{
      .name = "L1", .working_set_bytes = 48 * kKiB, .gb_per_s = 1000, .median_gb_per_s = 980};
  level.time.median_s = 1;
  level.time.p10_s = 0.98;
  level.time.p90_s = 1.02;
  level.time.n = 31;
  ceilings.bandwidth = {level};
  EXPECT_EQ(matmul_output({peak, ceilings}),
            "cpu:0: measured peak 500 GFLOP/s (f32, 2 threads)\n"
            "cpu:0: measured L1 bandwidth 1.00 TB/s at best, median 980 GB/s +-2.0 %, n 31 "
            "(2 threads, 48.0 KiB), ridge at 0.5 FLOP/B\n");
  ceilings.threads = 1;
  ceilings.bandwidth[0].time.unstable = true;
  EXPECT_NE(matmul_output({ceilings}).find("n 31, unsteady (1 thread, 48.0 KiB)"),
            std::string::npos)
      << matmul_output({ceilings});
}

TEST(MatmulTable, ShowsTheIntensityOfEachKernel) {
  MatmulSample sample;
  sample.kernel = "packed";
  sample.m = sample.n = sample.k = 96;
  sample.gflops = 100;
  const std::string text = matmul_output({sample});
  EXPECT_NE(text.find("FLOP/B"), std::string::npos) << text;
  EXPECT_NE(text.find("    16  "), std::string::npos) << text;
}

std::string training_output(const Payload& payload) {
  testing::internal::CaptureStdout();
  {
    Console console;
    make_training_table(console)->show(payload);
  }
  return testing::internal::GetCapturedStdout();
}

TEST(TrainingTable, ShowsTheTimeSplitOfSeveralDevices) {
  TrainingDone done;
  done.steps = 10;
  done.seconds = 2;
  done.images_per_s = 100;
  done.devices = {cpu(0), cpu(1)};
  done.split = {.compute_s = 0.2, .all_reduce_s = 0.05, .exposed_s = 0.002, .imbalance_s = 0.01};
  done.hidden_share = 0.96;
  done.checkpoint = "c/step-00000010";
  EXPECT_EQ(training_output(done),
            "10 steps in 2.00 s, 100 images/s on cpu:0, cpu:1\n"
            "2 devices: 260 ms per step = compute 200 ms + all-reduce 50.0 ms (2.00 ms of it "
            "exposed) + waiting 10.0 ms; 96.0 % of the all-reduce hidden behind backward\n"
            "checkpoint in c/step-00000010\n");
}

TEST(TrainingTable, CountsTheDevicesOfSeveralProcesses) {
  TrainingDone done;
  done.devices = {cpu(0), cpu(0)};
  done.ranks = 2;
  EXPECT_NE(training_output(done).find("on 2 devices of 2 processes\n"), std::string::npos)
      << training_output(done);
}

TEST(TrainingTable, ExplainsTheLearningRate) {
  TrainingStarted started;
  started.lr = 0.2;
  EXPECT_NE(training_output(started).find("learning rate 0.2, "), std::string::npos);
  started.request.lr = 0.1;
  started.request.lr_scale = LrScale::Linear;
  started.request.warmup_epochs = 2;
  EXPECT_NE(training_output(started).find(
                "learning rate 0.2 (0.1 scaled linearly with the batch) after a "
                "warm-up of 2 epochs, "),
            std::string::npos)
      << training_output(started);
  started.request.schedule = LrSchedule::Linear;
  EXPECT_NE(training_output(started).find("warm-up of 2 epochs, falling to 0, "), std::string::npos)
      << training_output(started);
}

TEST(TrainingTable, ShowsTheRestOfTheRecipeAndTheTimeToAnAccuracy) {
  TrainingStarted started;
  EXPECT_EQ(training_output(started).find("smoothing"), std::string::npos);
  started.request.label_smoothing = 0.1;
  started.request.augment = Augmentation::Flip;
  started.request.first_layer = FirstLayer::Whitened;
  EXPECT_NE(training_output(started).find("label smoothing 0.1\nhalf of the training images are "
                                          "mirrored, drawn anew in each epoch\nthe first "
                                          "convolution starts with filters that whiten the "
                                          "images\n"),
            std::string::npos)
      << training_output(started);
  TrainingDone done;
  done.reached_s = 2;
  EXPECT_NE(training_output(done).find("accuracy reached after 2.00 s, evaluations included\n"),
            std::string::npos)
      << training_output(done);
}

}  // namespace
}  // namespace lab::app
