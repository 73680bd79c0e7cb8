#include "app/window/run_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "compute/core/files/whole_file.h"
#include "tests/support/temp_dir.h"
#include "ui/model/columns.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

ui::TrainingRun sample_run(std::int64_t steps, JobId id = 1) {
  StartTraining request;
  request.lr = 0.3;
  request.devices = {cpu()};
  ui::TrainingRun run(id, request);
  TrainingStarted started;
  started.request = request;
  started.lr = 0.3;
  started.steps_per_epoch = 5;
  started.total_steps = steps;
  started.synthetic = true;
  started.class_names = {"bag", "boot"};
  run.add(started);
  for (std::int64_t step = 1; step <= steps; ++step) {
    const auto n = static_cast<double>(step);
    run.add(StepDone{.step = step,
                     .loss = 2 / n,
                     .accuracy = 0.5,
                     .images_per_s = 1000 + n,
                     .t_s = n / 10,
                     .lr = 0.3,
                     .devices = {}});
    if (step % 5 == 0) run.add(EpochDone{.epoch = step / 5, .train_acc = 0.5, .test_acc = 0.75});
  }
  run.add(TrainingChanged{3, 0.3, "lr", "0.9", "0.3", steps});
  run.add(Confusion{.epoch = 2, .classes = 2, .counts = {7, 1, 0, 9}});
  PredictedImage image{.pixels = {}, .label = 1, .predicted = 0, .confidence = 0.75F};
  image.pixels[5] = 255;
  run.add(Predictions{.epoch = 2, .images = {image}});
  TrainingDone done;
  done.images_per_s = 1234;
  done.steps = steps;
  run.add(done);
  return run;
}

TEST(RunFiles, BringARunBack) {
  const test::TempDir dir;
  ui::TrainingRun run = sample_run(12);
  run.set_slot(7);
  run.add(CoresShared{0.3});
  const fs::path file = keep_run(dir.path() / "runs", run);
  const StoredRuns kept = read_runs(dir.path() / "runs");
  EXPECT_TRUE(kept.problems.empty()) << kept.problems.front();
  ASSERT_EQ(kept.runs.size(), 1U);
  EXPECT_EQ(kept.runs[0].file, file);
  const ui::TrainingRun& back = kept.runs[0].run;
  EXPECT_LT(back.id(), 0) << "apart from the jobs of this session";
  EXPECT_EQ(back.name(), run.name());
  EXPECT_EQ(back.slot(), 7) << "its colour";
  EXPECT_LT(std::abs(std::difftime(back.ended_at(), std::time(nullptr))), 60);
  EXPECT_EQ(back.steps().loss, run.steps().loss);
  EXPECT_EQ(back.steps().epoch, run.steps().epoch);
  EXPECT_EQ(back.epochs().step, run.epochs().step);
  EXPECT_EQ(back.epochs().test_acc, run.epochs().test_acc);
  EXPECT_EQ(back.changes().at(0).after, "0.3");
  ASSERT_TRUE(back.confusion() && back.predictions());
  EXPECT_EQ(back.confusion()->counts, run.confusion()->counts);
  EXPECT_EQ(back.predictions()->epoch, 2);
  ASSERT_EQ(back.predictions()->images.size(), 1U);
  const PredictedImage &image = back.predictions()->images[0],
                       &expected = run.predictions()->images[0];
  EXPECT_EQ(image.pixels, expected.pixels);
  EXPECT_EQ(image.label, 1);
  EXPECT_EQ(image.predicted, 0);
  EXPECT_EQ(image.confidence, 0.75F);
  EXPECT_EQ(back.class_names(), run.class_names());
  EXPECT_TRUE(back.synthetic());
  EXPECT_EQ(back.done()->images_per_s, 1234);
  EXPECT_EQ(back.others(), 0.3);
}

TEST(RunFiles, KeepWhyARunEnded) {
  const test::TempDir dir;
  StartTraining request;
  request.devices = {cpu()};
  ui::TrainingRun run(1, request);
  TrainingStarted started;
  started.request = request;
  started.steps_per_epoch = 5;
  started.total_steps = 20;
  run.add(started);
  run.add(StepDone{.step = 10, .t_s = 1, .devices = {}});
  ui::TrainingRun reached = run;
  run.add(TrainingDone{});
  TrainingDone done;
  done.reached_s = 3;
  reached.add(done);
  write_run(dir.path() / "1.json", run, "");
  write_run(dir.path() / "2.json", reached, "");
  const StoredRuns kept = read_runs(dir.path());
  ASSERT_EQ(kept.runs.size(), 2U);
  EXPECT_EQ(kept.runs[0].run.stopped_text(), "stopped at epoch 2.0 of 4");
  EXPECT_EQ(kept.runs[1].run.stopped_text(), "") << "at the accuracy asked for";
}

TEST(RunFiles, KeepADivergedRun) {
  const test::TempDir dir;
  ui::TrainingRun run = sample_run(5);
  Predictions unsure{.epoch = 1, .images = {PredictedImage{}}};
  unsure.images[0].confidence = std::numeric_limits<float>::quiet_NaN();
  run.add(unsure);
  write_run(dir.path() / "1.json", run, "");
  const StoredRuns kept = read_runs(dir.path());
  ASSERT_EQ(kept.runs.size(), 1U) << kept.problems.at(0);
  EXPECT_TRUE(std::isnan(kept.runs[0].run.predictions()->images.at(0).confidence));
}

TEST(RunFiles, KeepTheFiguresOfALongRun) {
  const test::TempDir dir;
  StartTraining request;
  request.devices = {cpu()};
  ui::TrainingRun run(1, request);
  for (std::int64_t step = 1; step <= 40'000; ++step) {
    const auto n = static_cast<double>(step);
    run.add(StepDone{.step = step,
                     .loss = 2 + std::sin(n),
                     .images_per_s = 1000 + 400 * std::cos(3 * n),
                     .t_s = n / 10,
                     .devices = {}});
  }
  write_run(dir.path() / "1.json", run, "");
  const StoredRuns kept = read_runs(dir.path());
  ASSERT_EQ(kept.runs.size(), 1U) << kept.problems.at(0);
  const ui::TrainingRun& back = kept.runs[0].run;
  EXPECT_DOUBLE_EQ(back.median_step_s(), run.median_step_s());
  const auto loss = [](const ui::TrainingRun& of) {
    ui::Smoothed smoothed;
    return smoothed.follow(of.steps().loss, of.steps().weight, 0.95).back();
  };
  EXPECT_NEAR(loss(back), loss(run), 1e-9);
}

TEST(RunFiles, KeepNamesAndBoundTheirSize) {
  const test::TempDir dir;
  const ui::TrainingRun run = sample_run(40'000);
  const fs::path file = dir.path() / "1.json";
  write_run(file, run, "long one");
  EXPECT_LT(fs::file_size(file), kMostRunBytes);
  const StoredRuns kept = read_runs(dir.path());
  ASSERT_EQ(kept.runs.size(), 1U) << kept.problems.at(0);
  EXPECT_EQ(kept.runs[0].name, "long one");
  EXPECT_LE(kept.runs[0].run.steps().size(), kKeptSteps + 1);
  EXPECT_EQ(kept.runs[0].run.steps().step.back(), 40'000);
}

TEST(RunFiles, UnusableFilesAreReportedAndStay) {
  const test::TempDir dir;
  write_run(dir.path() / "1.json", sample_run(10), "");
  const auto with = [&](const char* at, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(files::read_text_file(dir.path() / "1.json"));
    json[nlohmann::json::json_pointer(at)] = value;
    return json.dump();
  };
  files::write_file(dir.path() / "2.json", std::string_view("not json"));
  files::write_file(dir.path() / "3.json", with("/format", 99));
  files::write_file(dir.path() / "4.json", with("/steps/loss", nlohmann::json::array({1})));
  files::write_file(dir.path() / "5.json", with("/steps/step/0", 9));
  files::write_file(dir.path() / "6.json", with("/request/model", "nothing"));
  files::write_file(dir.path() / "7.json", with("/steps/lr", "text"));
  files::write_file(dir.path() / "8.json", with("/epochs/epoch/0", -1e300));
  files::write_file(dir.path() / "9.json", with("/steps/t_s/0", nullptr));
  files::write_file(dir.path() / "10.json", with("/confusion/classes", 3));
  files::write_file(dir.path() / "11.json", with("/predictions/images/0/pixels", {1, 2}));
  files::write_file(dir.path() / "12.json", with("/others_share", 7));
  files::write_file(dir.path() / "13.json", with("/median_step_s", 0));
  const StoredRuns kept = read_runs(dir.path());
  EXPECT_EQ(kept.runs.size(), 1U);
  ASSERT_EQ(kept.problems.size(), 12U);
  for (const std::string& problem : kept.problems) {
    EXPECT_NE(problem.find(dir.path().string()), std::string::npos) << problem;
  }
  EXPECT_TRUE(fs::exists(dir.path() / "2.json"));
}

TEST(RunFiles, TheOldestGoFirst) {
  const test::TempDir dir;
  for (std::size_t i = 0; i < kKeptRuns + 3; ++i) {
    write_run(dir.path() / ("0000" + std::to_string(100 + i) + ".json"), sample_run(2), "");
  }
  keep_run(dir.path(), sample_run(2));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir.path())) ++files;
  EXPECT_EQ(files, kKeptRuns);
  EXPECT_FALSE(fs::exists(dir.path() / "0000100.json"));
}

TEST(RunFiles, AMissingFolderHasNoRuns) {
  const test::TempDir dir;
  const StoredRuns kept = read_runs(dir.path() / "none");
  EXPECT_TRUE(kept.runs.empty() && kept.problems.empty());
}

}  // namespace
}  // namespace lab::app
