// Output of `device-lab train --profile`, as JSON and as a table.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/headless/json_lines.h"
#include "app/headless/printer.h"

namespace lab::app {
namespace {

using Json = nlohmann::json;

ProfileRow row(const std::string& layer, StepPhase phase, Kernels kernels, double median_s) {
  ProfileRow r{.layer = layer, .kind = "convolution", .phase = phase, .kernels = kernels};
  r.time = {.median_s = median_s, .p10_s = 0.9 * median_s, .p90_s = 1.2 * median_s};
  r.time.n = 18;
  r.time.warmup = 2;
  return r;
}

TrainingProfile profile(const std::vector<Kernels>& kinds) {
  TrainingProfile p{.device = cpu(),
                    .model = "lenet",
                    .images = 256,
                    .threads = 2,
                    .peak_gflops = 500,
                    .totals = {},
                    .rows = {}};
  for (const Kernels kernels : kinds) {
    const double slower = kernels == Kernels::Library ? 2 : 1;
    ProfileTotal& total = p.totals.emplace_back();
    total.kernels = kernels;
    total.step.median_s = 0.012 * slower;
    total.step.n = 18;
    total.step.warmup = 2;
    total.rows.median_s = 0.011 * slower;
    total.unaccounted_s = 0.001;
    total.shares = {0.08, 0.3, 0, 0.6, 0, 0};
    p.rows.push_back(row("batch", StepPhase::Batch, kernels, 0.001));
    p.rows.push_back(row("net.0", StepPhase::Forward, kernels, 0.002 * slower));
    p.rows.push_back(row("relu after net.0", StepPhase::Forward, kernels, 0.0005));
    p.rows.push_back(row("net.0", StepPhase::Backward, kernels, 0.004 * slower));
    for (const std::size_t back : {1U, 3U}) {
      ProfileRow& r = p.rows[p.rows.size() - back];
      if (r.layer != "net.0") continue;
      r.flop = 200'000'000;
      r.bytes = 5'000'000;
      r.method = kernels == Kernels::Library ? "onednn" : "winograd4/gemm";
    }
  }
  return p;
}

std::vector<std::string> printed_profile(bool json, const std::vector<Payload>& events) {
  testing::internal::CaptureStdout();
  {
    Console console;
    const auto printer =
        json ? make_json_printer(console) : make_table_printer(console, StartTraining{});
    for (const Payload& event : events) printer->show(event);
  }
  std::vector<std::string> lines;
  std::istringstream text(testing::internal::GetCapturedStdout());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(ProfileOutput, RowsAreSamplesAndLastObjectHasSteps) {
  TrainingProfile early = profile({Kernels::Lab});
  early.rows.resize(1);
  const auto lines = printed_profile(true, {early, profile({Kernels::Lab}), JobFinished{}});
  ASSERT_EQ(lines.size(), 5U) << "only the latest profile";
  const Json batch = Json::parse(lines[0]), conv = Json::parse(lines[3]);
  for (const char* key :
       {"type", "device", "layer", "kind", "pass", "kernels", "method", "median_s", "p10_s",
        "p90_s", "n", "gflops", "share_of_peak", "bytes", "intensity"}) {
    EXPECT_TRUE(conv.contains(key)) << key;
  }
  EXPECT_EQ(conv["type"], "sample");
  EXPECT_EQ(conv["layer"], "net.0");
  EXPECT_EQ(conv["pass"], "backward");
  EXPECT_EQ(conv["kernels"], "lab");
  EXPECT_EQ(conv["method"], "winograd4/gemm");
  EXPECT_EQ(conv["median_s"], 0.004);
  EXPECT_EQ(conv["n"], 18);
  EXPECT_EQ(conv["gflops"], 50.0);
  EXPECT_EQ(conv["share_of_peak"], 0.1);
  EXPECT_EQ(conv["intensity"], 40.0);
  EXPECT_EQ(batch["pass"], "batch");
  EXPECT_TRUE(batch["gflops"].is_null()) << "moves data only";
  EXPECT_TRUE(batch["bytes"].is_null()) << "unknown for this row";
  const Json done = Json::parse(lines[4]);
  EXPECT_EQ(done["type"], "done");
  EXPECT_EQ(done["profile"]["peak_gflops"], 500.0);
  EXPECT_EQ(done["profile"]["images"], 256);
  ASSERT_EQ(done["profile"]["steps"].size(), 1U);
  EXPECT_EQ(done["profile"]["steps"][0]["rows_s"], 0.011);
  EXPECT_EQ(done["profile"]["steps"][0]["unaccounted_s"], 0.001);
  EXPECT_EQ(done["profile"]["steps"][0]["shares"]["backward"], 0.6);
}

TEST(ProfileOutput, PrintsNothingWithoutAProfile) {
  EXPECT_FALSE(Json::parse(json_done(1)).contains("profile"));
}

TEST(ProfileOutput, OmitsUntimedRows) {
  TrainingProfile p = profile({Kernels::Lab});
  for (ProfileRow& r : p.rows) r.time = {};
  EXPECT_TRUE(json_profile(p).empty());
}

TEST(ProfileOutput, TableIsSortedByTimeAndAddsUp) {
  const auto lines = printed_profile(false, {profile({Kernels::Lab}), JobFinished{}});
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines[1],
            "Layers on cpu:0, 256 images per step, 2 threads: medians of 18 steps after 2 of "
            "warm-up");
  EXPECT_EQ(lines[3],
            "net.0 convolution  backward   4.00 ms   3.60 ms   4.80 ms   33.3 %     50.0   10.0 %  "
            " 5.00 MB    40.0  winograd4/gemm");
  EXPECT_NE(lines[4].find("forward"), std::string::npos);
  EXPECT_EQ(lines[5].substr(0, 5), "batch");
  EXPECT_EQ(lines[7],
            "lab kernels: step 12.0 ms +-0.0 %, sum of rows 11.0 ms, unaccounted 1.00 ms; batch "
            "8.0 %, forward 30.0 %, backward 60.0 %");
  EXPECT_EQ(lines[8].substr(0, 14), "Peak 500 GFLOP");
}

TEST(ProfileOutput, ShowsBothKernelsSideBySide) {
  TrainingProfile both = profile({Kernels::Lab, Kernels::Library});
  both.devices = 2;
  const auto lines = printed_profile(false, {both, JobFinished{}});
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_NE(lines[1].find("(the first of 2 devices)"), std::string::npos);
  EXPECT_NE(lines[1].find("18 steps per kernel set after 4 of warm-up"), std::string::npos);
  EXPECT_NE(lines[3].find("4.00 ms"), std::string::npos);
  EXPECT_NE(lines[3].find("8.00 ms"), std::string::npos);
  EXPECT_NE(lines[3].find("2.00x"), std::string::npos);
  EXPECT_NE(lines[3].find("winograd4/gemm"), std::string::npos);
  EXPECT_NE(lines[3].find("onednn"), std::string::npos);
  EXPECT_EQ(lines[7].substr(0, 11), "lab kernels");
  EXPECT_EQ(lines[8].substr(0, 15), "library kernels");
}

TEST(ProfileOutput, WarmUpOnlyExplainsTheFix) {
  TrainingProfile p = profile({Kernels::Lab, Kernels::Library});
  p.totals[1].step.n = 0;
  const auto lines = printed_profile(false, {p, JobFinished{}});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1], "No profile: the first 4 steps are warm-up; train for more steps");
}

}  // namespace
}  // namespace lab::app
