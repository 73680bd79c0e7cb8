// Output of `device-lab scaling`, as JSON and as tables.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/headless/json_lines.h"
#include "app/headless/printer.h"

namespace lab::app {
namespace {

using Json = nlohmann::json;

ScalingPoint point(int devices, ScalingMode mode = ScalingMode::Strong) {
  ScalingPoint p;
  p.mode = mode;
  p.devices = devices;
  p.batch = 256;
  p.step.median_s = 0.02 / devices;
  p.step.p10_s = 0.019 / devices;
  p.step.p90_s = 0.021 / devices;
  p.step.n = 60;
  p.images_per_s = 256 / p.step.median_s;
  p.speedup = devices;
  p.efficiency = 1;
  p.split = {
      .compute_s = p.step.median_s, .all_reduce_s = 1e-4, .exposed_s = 2e-5, .imbalance_s = 3e-5};
  p.hidden_share = 0.8;
  return p;
}

ScalingPrediction prediction(int devices) {
  ScalingPrediction p;
  p.devices = devices;
  p.link = "pcie3";
  p.basis = "typed in: 20.0 ms for 256 images";
  p.batch = 256;
  p.step_s = 0.02 / devices;
  p.images_per_s = 256 / p.step_s;
  p.speedup = devices;
  p.efficiency = 1;
  return p;
}

// Lines that the printer writes to standard output for these events.
std::vector<std::string> printed_scaling(bool json, const std::vector<Payload>& events) {
  testing::internal::CaptureStdout();
  {
    Console console;
    const auto printer =
        json ? make_json_printer(console) : make_table_printer(console, StartScaling{});
    for (const Payload& event : events) printer->show(event);
  }
  std::vector<std::string> lines;
  const std::string text = testing::internal::GetCapturedStdout();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::size_t lines_with(const std::vector<std::string>& lines, const std::string& part) {
  std::size_t count = 0;
  for (const std::string& line : lines) count += line.find(part) != std::string::npos ? 1 : 0;
  return count;
}

TEST(ScalingJson, MarksPredictedSamples) {
  const Json measured = Json::parse(json_line(point(2)).value());
  EXPECT_EQ(measured["type"], "sample");
  EXPECT_EQ(measured["predicted"], false);
  const Json predicted = Json::parse(json_line(prediction(16)).value());
  EXPECT_EQ(predicted["type"], "sample");
  EXPECT_EQ(predicted["predicted"], true);
}

TEST(ScalingJson, SamplesHaveEveryField) {
  const Json measured = Json::parse(json_line(point(2)).value());
  for (const char* key :
       {"mode",           "devices",      "batch",     "median_s",     "p10_s",        "p90_s",
        "samples",        "warmup",       "unstable",  "images_per_s", "speedup",      "efficiency",
        "compute_s",      "all_reduce_s", "exposed_s", "imbalance_s",  "hidden_share", "test_acc",
        "accuracy_steps", "shares_cores", "clock_mhz"}) {
    EXPECT_TRUE(measured.contains(key)) << key;
  }
  EXPECT_EQ(measured["mode"], "strong");
  EXPECT_EQ(measured["devices"], 2);
  EXPECT_EQ(measured["imbalance_s"], 3e-5);
  EXPECT_TRUE(measured["test_acc"].is_null());
  EXPECT_TRUE(Json::parse(json_line(point(1)).value())["hidden_share"].is_null());
  const Json predicted = Json::parse(json_line(prediction(16)).value());
  for (const char* key : {"mode", "devices", "batch", "link", "basis", "step_s", "images_per_s",
                          "speedup", "efficiency", "compute_s", "all_reduce_s", "exposed_s",
                          "imbalance_s", "process_s", "fixed_s", "measured_step_s"}) {
    EXPECT_TRUE(predicted.contains(key)) << key;
  }
  EXPECT_EQ(predicted["link"], "pcie3");
  EXPECT_TRUE(predicted["measured_step_s"].is_null());
}

TEST(ScalingJson, PrintsEachPointOnceWhenFinal) {
  ScalingPoint better = point(1);
  better.test_acc = 0.5;
  const auto lines = printed_scaling(
      true, {JobStarted{"t", StartScaling{}}, point(1), point(2), better, prediction(4),
             JobFinished{.outcome = Outcome::Done, .seconds = 1, .error = {}}});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(Json::parse(lines[0])["test_acc"], 0.5);
  EXPECT_EQ(Json::parse(lines[1])["devices"], 2);
  EXPECT_EQ(Json::parse(lines[2])["predicted"], true);
  const Json done = Json::parse(lines[3]);
  EXPECT_EQ(done["type"], "done");
  EXPECT_EQ(done["model"], "lenet");
  EXPECT_EQ(done["batch"], 256);
  EXPECT_EQ(done["link"], "nvlink");
}

TEST(ScalingJson, KeepsMeasurementsAfterAnInterrupt) {
  const auto lines =
      printed_scaling(true, {point(1), JobFinished{.outcome = Outcome::Cancelled, .error = {}}});
  EXPECT_EQ(lines_with(lines, "\"predicted\":false"), 1U);
}

ScalingComparison comparison() {
  ComparedScaling row;
  row.system = "a machine";
  row.source = "a paper";
  row.style = ParallelStyle::DataParallel;
  row.link = "pcie3";
  row.devices = 2;
  row.batch = 512;
  row.one_device_images_per_s = 100;
  row.published_images_per_s = 160;
  row.predicted_images_per_s = 184;
  ComparedScaling other = row;
  other.counted = false;
  return {{row, other}, 0.15, 0.15};
}

TEST(ScalingJson, ComparesWithPublishedFigures) {
  StartScaling request;
  request.check = true;
  const auto lines =
      printed_scaling(true, {JobStarted{"t", request}, comparison(),
                             JobFinished{.outcome = Outcome::Done, .seconds = 1, .error = {}}});
  ASSERT_EQ(lines.size(), 3U);
  const Json row = Json::parse(lines[0]);
  EXPECT_EQ(row["type"], "comparison");
  EXPECT_EQ(row["style"], "dataparallel");
  EXPECT_NEAR(row["error"].get<double>(), 0.15, 1e-12);
  EXPECT_EQ(Json::parse(lines[1])["counted"], false);
  const Json done = Json::parse(lines[2]);
  EXPECT_EQ(done["rows"], 1);
  EXPECT_EQ(done["median_error"], 0.15);
  EXPECT_FALSE(done.contains("model"));
}

TEST(ScalingTable, ShowsTheComparison) {
  const auto lines = printed_scaling(false, {comparison()});
  EXPECT_EQ(lines_with(lines, "+15.0 %"), 2U);
  EXPECT_EQ(lines_with(lines, "not part of the errors"), 1U);
  EXPECT_EQ(lines_with(lines, "Median error 15.0 %, worst 15.0 %."), 1U);
}

TEST(ScalingTable, SeparatesPredictions) {
  ScalingPoint shared = point(4);
  shared.shares_cores = true;
  const auto lines = printed_scaling(
      false, {point(1), point(2), shared, point(1, ScalingMode::Weak), prediction(1),
              prediction(16), JobFinished{.outcome = Outcome::Done, .error = {}}});
  EXPECT_EQ(lines_with(lines, "Measured, strong scaling"), 1U);
  EXPECT_EQ(lines_with(lines, "Measured, weak scaling"), 1U);
  EXPECT_EQ(lines_with(lines, "PREDICTION, not measured"), 1U);
  EXPECT_EQ(lines_with(lines, "over pcie3; compute time typed in"), 1U);
  EXPECT_EQ(lines_with(lines, "no speed-up beyond the number of cores"), 1U);
  EXPECT_EQ(lines_with(lines, "80.0 %"), 2U) << "hidden share, for more than one device";
  EXPECT_EQ(lines_with(lines, "16.00x"), 1U);
}

TEST(ScalingTable, ComparesTheModelWithMeasurements) {
  ScalingPrediction p = prediction(2);
  p.link = "memory";
  p.measured_step_s = 0.0125;
  const auto lines =
      printed_scaling(false, {point(2), p, JobFinished{.outcome = Outcome::Done, .error = {}}});
  EXPECT_EQ(lines_with(lines, "compared with the measurement"), 1U);
  EXPECT_EQ(lines_with(lines, "-20.0 %"), 1U);
}

}  // namespace
}  // namespace lab::app
