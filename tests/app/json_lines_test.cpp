#include "app/headless/json_lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace lab::app {
namespace {

nlohmann::json parsed(const Payload& payload) {
  const auto line = json_line(payload);
  if (!line) return nullptr;
  EXPECT_EQ(line->find('\n'), std::string::npos);
  return nlohmann::json::parse(*line);
}

void expect_keys(const nlohmann::json& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) EXPECT_TRUE(json.contains(key)) << key << " in " << json.dump();
}

TEST(JsonLines, MatmulSampleFollowsTheContract) {
  MatmulSample s;
  s.kernel = "naive";
  s.m = s.n = s.k = 64;
  s.time.median_s = 0.5;
  s.time.n = 9;
  s.share_of_peak = 0.25;
  const auto json = parsed(s);
  expect_keys(json,
              {"type", "device", "kernel", "dtype", "m", "n", "k", "median_s", "p10_s", "p90_s",
               "samples", "gflops", "verified", "share_of_library", "share_of_peak", "unstable"});
  EXPECT_EQ(json["type"], "sample");
  EXPECT_EQ(json["device"], "cpu:0");
  EXPECT_EQ(json["dtype"], "f32");
  EXPECT_EQ(json["n"], 64);
  EXPECT_EQ(json["samples"], 9);
  EXPECT_TRUE(json["share_of_library"].is_null());
}

TEST(JsonLines, TourFigureFollowsTheContract) {
  TourFigure figure;
  figure.question = TourQuestion::Peak;
  figure.value = 187e9;
  figure.n = 9;
  figure.threads = 2;
  figure.plain_share = 0.003;
  EXPECT_TRUE(parsed(figure).is_null()) << "it is still being measured";
  figure.complete = true;
  auto json = parsed(figure);
  expect_keys(json, {"type", "device", "question", "unit", "value", "median", "p10", "p90", "n",
                     "unstable", "threads", "plain_share"});
  EXPECT_EQ(json["type"], "figure");
  EXPECT_EQ(json["question"], "peak");
  EXPECT_EQ(json["unit"], "FLOP/s");
  EXPECT_FALSE(json.contains("best_share"));
  figure.missing = "no room";
  json = parsed(figure);
  EXPECT_TRUE(json["value"].is_null());
  EXPECT_EQ(json["reason"], "no room");
  EXPECT_FALSE(json.contains("n"));
}

TEST(JsonLines, TransferSampleFollowsTheContract) {
  TransferSample s;
  s.bytes = 1024;
  s.time.n = 5;
  const auto json = parsed(s);
  expect_keys(json, {"from", "to", "memory", "bytes", "median_s", "p10_s", "p90_s", "n", "gb_per_s",
                     "verified", "op", "threads", "samples"});
  EXPECT_EQ(json["type"], "sample");
  EXPECT_EQ(json["n"], 5);
  EXPECT_EQ(json["memory"], "pageable");
}

TEST(JsonLines, TransferSampleNamesMoverAndPeer) {
  TransferSample s;
  s.memory = MemoryKind::OnGpu;
  s.mover = TransferMover::Kernel;
  s.peer = PeerMode::Read;
  EXPECT_EQ(parsed(s)["memory"], "device");
  EXPECT_EQ(parsed(s)["mover"], "kernel");
  EXPECT_EQ(parsed(s)["peer"], "read");
  EXPECT_EQ(parsed(TransferSample{})["mover"], "threads");
  EXPECT_FALSE(parsed(TransferSample{}).contains("peer"));
}

TEST(JsonLines, LastObjectHasTimelinesAndPayoffs) {
  TransferTimeline timeline;
  timeline.device = gpu();
  timeline.bytes = 1024;
  timeline.runs = 5;
  timeline.spans = {{"copy in", "copy in 1", 0, 2e-6}};
  TransferPayoff payoff;
  payoff.gpu = gpu();
  payoff.passes = 10;
  JobSummary summary;
  summary.add(timeline);
  summary.add(payoff);
  payoff.from_bytes = 4096;
  summary.add(payoff);
  const auto json = nlohmann::json::parse(json_done(1, summary));
  EXPECT_EQ(json["timelines"][0]["spans"][0]["stream"], "copy in");
  EXPECT_EQ(json["timelines"][0]["device"], "cuda:0");
  EXPECT_EQ(json["timelines"][0]["runs"], 5);
  EXPECT_TRUE(json["payoffs"][0]["from_bytes"].is_null());
  EXPECT_EQ(json["payoffs"][1]["from_bytes"], 4096);
}

TEST(JsonLines, TrainingFollowsTheContract) {
  expect_keys(parsed(StepDone{}), {"step", "epoch", "loss", "images", "images_per_s", "t_s"});
  expect_keys(parsed(EpochDone{}),
              {"epoch", "train_loss", "train_acc", "test_acc", "seconds", "images_per_s"});
  EXPECT_EQ(parsed(StepDone{})["type"], "step");
  EXPECT_EQ(parsed(EpochDone{})["type"], "epoch");
  TrainingDone done;
  done.test_acc = 0.8;
  done.devices = {cpu()};
  JobSummary summary;
  summary.add(TrainingStarted{});
  summary.add(done);
  const auto json = nlohmann::json::parse(json_done(1.5, summary));
  expect_keys(json, {"type", "seconds", "test_acc", "images_per_s", "devices"});
  EXPECT_EQ(json["devices"], nlohmann::json::array({"cpu:0"}));
}

TEST(JsonLines, StepHasTheTimesOfEachDevice) {
  StepDone step;
  step.lr = 0.25;
  EXPECT_EQ(parsed(step)["lr"], 0.25);
  EXPECT_FALSE(parsed(step).contains("devices"));
  step.devices = {{.rank = 0, .device = cpu(0), .images = 3, .compute_s = 0.5},
                  {.rank = 1, .device = cpu(1), .wait_s = 0.125}};
  const auto devices = parsed(step)["devices"];
  ASSERT_EQ(devices.size(), 2U);
  expect_keys(devices[0],
              {"rank", "device", "images", "compute_s", "all_reduce_s", "exposed_s", "wait_s"});
  EXPECT_EQ(devices[0]["images"], 3);
  EXPECT_EQ(devices[0]["compute_s"], 0.5);
  EXPECT_EQ(devices[1]["rank"], 1);
  EXPECT_EQ(devices[1]["device"], "cpu:1");
  EXPECT_EQ(devices[1]["wait_s"], 0.125);
}

TEST(JsonLines, TrainingOnSeveralDevicesHasASplit) {
  TrainingStarted started;
  started.request.share_policy = SharePolicy::Listed;
  started.request.shares = {0.75, 0.25};
  started.request.lr_scale = LrScale::Linear;
  started.request.warmup_epochs = 1.5;
  started.libraries = "cuDNN 9.19.0, cuBLAS 13.1";
  TrainingDone done;
  done.devices = {cpu(0), cpu(0)};
  done.ranks = 2;
  done.checkpoint = "c/step-00000001";
  done.changes = {{.step = 3, .setting = "lr", .before = "0.9", .after = "0.3"}};
  done.split.imbalance_s = 0.5;
  done.hidden_share = 0.75;
  JobSummary summary;
  summary.add(started);
  summary.add(done);
  const auto json = nlohmann::json::parse(json_done(1, summary));
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["checkpoint"], "c/step-00000001");
  ASSERT_EQ(json["changes"].size(), 1U);
  EXPECT_EQ(json["changes"][0]["after"], "0.3");
  EXPECT_EQ(json["shares"], nlohmann::json::array({0.75, 0.25}));
  EXPECT_EQ(json["lr_scale"], "linear");
  EXPECT_EQ(json["warmup_epochs"], 1.5);
  EXPECT_EQ(json["libraries"], "cuDNN 9.19.0, cuBLAS 13.1");
  expect_keys(json["split"], {"compute_s", "all_reduce_s", "exposed_s", "imbalance_s"});
  EXPECT_EQ(json["split"]["imbalance_s"], 0.5);
  EXPECT_EQ(json["hidden_share"], 0.75);
}

TEST(JsonLines, TrainingHasItsRecipeAndTheTimeToAnAccuracy) {
  TrainingStarted started;
  TrainingDone done;
  JobSummary summary;
  summary.add(started);
  summary.add(done);
  auto json = nlohmann::json::parse(json_done(1, summary));
  EXPECT_EQ(json["schedule"], "constant");
  EXPECT_EQ(json["augment"], "none");
  EXPECT_EQ(json["first_layer"], "drawn");
  EXPECT_TRUE(json["stop_at"].is_null());
  EXPECT_FALSE(json.contains("reached_s"));
  started.request.schedule = LrSchedule::Linear;
  started.request.label_smoothing = 0.1;
  started.request.augment = Augmentation::Flip;
  started.request.first_layer = FirstLayer::Whitened;
  started.request.stop_at = 0.91;
  done.reached_s = 12.5;
  summary.add(started);
  summary.add(done);
  json = nlohmann::json::parse(json_done(1, summary));
  EXPECT_EQ(json["schedule"], "linear");
  EXPECT_EQ(json["label_smoothing"], 0.1);
  EXPECT_EQ(json["augment"], "flip");
  EXPECT_EQ(json["first_layer"], "whitened");
  EXPECT_EQ(json["stop_at"], 0.91);
  EXPECT_EQ(json["reached_s"], 12.5);
}

TEST(JsonLines, TrainingOnOneDeviceHasNoSplit) {
  TrainingDone done;
  done.devices = {cpu()};
  JobSummary summary;
  summary.add(TrainingStarted{});
  summary.add(done);
  const auto json = nlohmann::json::parse(json_done(1, summary));
  EXPECT_EQ(json["ranks"], 1);
  EXPECT_EQ(json["shares"], "equal");
  EXPECT_FALSE(json.contains("libraries"));
  EXPECT_FALSE(json.contains("split"));
  EXPECT_FALSE(json.contains("hidden_share"));
  EXPECT_FALSE(json.contains("checkpoint"));
}

TEST(JsonLines, NonFiniteNumbersAreNull) {
  StepDone step;
  step.loss = std::nan("");
  step.images_per_s = INFINITY;
  const auto json = parsed(step);
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_TRUE(json["images_per_s"].is_null());
}

TEST(JsonLines, SkipsAndErrorsGiveTheReason) {
  EXPECT_EQ(parsed(Skipped{"cuda", "no driver"})["reason"], "no driver");
  const auto error = nlohmann::json::parse(json_error("usage", "say \"x\"\n\xff"));
  EXPECT_EQ(error["type"], "error");
  EXPECT_EQ(error["code"], "usage");
}

TEST(JsonLines, AFailedKernelHasItsErrorAndSize) {
  const RungFailed failed{gpu(0), "vector", Precision::TF32, 64, "it is wrong", 3};
  const auto json = parsed(failed);
  EXPECT_EQ(json["type"], "fail");
  EXPECT_EQ(json["kernel"], "vector");
  EXPECT_EQ(json["dtype"], "tf32");
  EXPECT_EQ(json["n"], 64);
  EXPECT_EQ(json["max_error"], 3);
  RungFailed launch = failed;
  launch.max_error.reset();
  EXPECT_TRUE(parsed(launch)["max_error"].is_null());
}

TEST(JsonLines, LastObjectHasPeaksAndFits) {
  JobSummary summary;
  PeakSample peak;
  peak.threads = 2;
  summary.add(peak);
  summary.add(PeakSample{});
  TransferFit fit;
  fit.levels = {{"L1", 16384, 5, 2e-8, 95, 0.02}, {"memory", 0, 4, 0, 20, 0.2}};
  fit.faster_than_one = {4096, {}};
  summary.add(fit);
  summary.add(StepDone{});
  const auto json = nlohmann::json::parse(json_done(1, summary));
  EXPECT_EQ(json["type"], "done");
  ASSERT_EQ(json["peaks"].size(), 2U);
  expect_keys(json["peaks"][0], {"device", "threads", "gflops", "samples"});
  EXPECT_FALSE(json["peaks"][1].contains("threads")) << "GPU peaks have no thread count";
  ASSERT_EQ(json["fits"].size(), 1U);
  expect_keys(json["fits"][0],
              {"op", "threads", "latency_s", "gb_per_s", "levels", "break_even_bytes"});
  EXPECT_EQ(json["fits"][0]["latency_s"], 2e-8) << "of the first level";
  EXPECT_TRUE(json["fits"][0]["gb_per_s"].is_null()) << "of the last level, withheld";
  EXPECT_EQ(json["fits"][0]["break_even_bytes"], 4096);
  EXPECT_FALSE(json["fits"][0].contains("faster_to_bytes")) << "to the largest size";
  const auto& levels = json["fits"][0]["levels"];
  ASSERT_EQ(levels.size(), 2U);
  expect_keys(levels[0], {"name", "to_bytes", "sizes", "latency_s", "gb_per_s", "residual"});
  EXPECT_FALSE(levels[1].contains("gb_per_s")) << "the line misses the samples by 20 %";
  EXPECT_EQ(levels[1]["residual"], 0.2);
  EXPECT_EQ(nlohmann::json::parse(json_done(1)).size(), 2U);
}

TEST(JsonLines, LastObjectHasCeilings) {
  CeilingsMeasured ceilings;
  ceilings.device = cpu(1);
  ceilings.threads = 2;
  ceilings.compute = {{.name = "FMA f32", .threads = 1, .gflops = 250},
                      {.name = "FMA bf16", .dtype = Precision::BF16, .threads = 2, .gflops = 900}};
  ceilings.bandwidth = {
      {.name = "L1", .cache_bytes = 98304, .working_set_bytes = 49152, .gb_per_s = 1000},
      {.name = "memory", .working_set_bytes = 1 << 27, .gb_per_s = 40}};
  JobSummary summary;
  summary.add(ceilings);
  EXPECT_FALSE(json_line(ceilings)) << "they are part of the last object";
  const auto json = nlohmann::json::parse(json_done(1, summary));
  ASSERT_EQ(json["ceilings"].size(), 1U);
  const auto& device = json["ceilings"][0];
  EXPECT_EQ(device["device"], "cpu:1");
  EXPECT_EQ(device["threads"], 2);
  ASSERT_EQ(device["compute"].size(), 2U);
  EXPECT_EQ(device["compute"][1]["dtype"], "bf16");
  EXPECT_EQ(device["compute"][1]["gflops"], 900);
  ASSERT_EQ(device["bandwidth"].size(), 2U);
  expect_keys(device["bandwidth"][0],
              {"name", "cache_bytes", "working_set_bytes", "gb_per_s", "median_gb_per_s",
               "p10_gb_per_s", "p90_gb_per_s", "median_s", "samples", "unstable"});
  EXPECT_EQ(device["bandwidth"][1]["name"], "memory");
}

TEST(JsonLines, MatmulSampleHasIntensity) {
  MatmulSample sample;
  sample.m = sample.n = sample.k = 96;
  EXPECT_DOUBLE_EQ(parsed(sample)["intensity"].get<double>(), 16);
}

TEST(JsonLines, OmitsWindowOnlyEvents) {
  EXPECT_FALSE(json_line(Predictions{}));
  EXPECT_FALSE(json_line(TensorList{}));
  EXPECT_FALSE(json_line(JobFinished{}));
}

TEST(JsonLines, DeviceHasFactsAndReadings) {
  DeviceInfo info;
  info.name = "some processor";
  info.clock_max_mhz = Maybe<double>::missing("not shown by the kernel");
  DeviceTelemetry reading;
  reading.utilisation = 0.5;
  reading.temperature_c = Maybe<double>::missing("no sensor");
  const auto json = nlohmann::json::parse(json_device(info, &reading));
  EXPECT_EQ(json["type"], "device");
  EXPECT_EQ(json["utilisation"], 0.5);
  EXPECT_TRUE(json["temperature_c"].is_null());
  EXPECT_EQ(json["missing"]["temperature_c"], "no sensor");
  EXPECT_TRUE(json["clock_max_mhz"].is_null());
  EXPECT_FALSE(json.contains("lab_pool_bytes")) << "GPUs only";
  EXPECT_FALSE(json.contains("clock_nominal"));
  info.virtual_machine = true;
  EXPECT_EQ(nlohmann::json::parse(json_device(info, &reading))["clock_nominal"], true);
}

TEST(JsonLines, DeviceNamesTheSimdLevelAndItsCap) {
  DeviceInfo info;
  info.simd = "AVX2";
  info.simd_detail = "AVX2 with FMA";
  EXPECT_TRUE(nlohmann::json::parse(json_device(info, nullptr))["simd_cap"].is_null());
  info.simd_cap = "avx2";
  const auto json = nlohmann::json::parse(json_device(info, nullptr));
  EXPECT_EQ(json["simd"], "AVX2");
  EXPECT_EQ(json["simd_detail"], "AVX2 with FMA");
  EXPECT_EQ(json["simd_cap"], "avx2");
}

TEST(JsonLines, DeviceListsTheKindsOfItsCores) {
  DeviceInfo info;
  EXPECT_EQ(nlohmann::json::parse(json_device(info, nullptr))["core_kinds"],
            nlohmann::json::array());
  info.cores = {0, 2, 4, 5};
  CoreKind fast;
  fast.name = "performance";
  fast.type = "IntelCore";
  fast.clock_max_mhz = 5200.0;
  fast.clock_base_mhz = 3000.0;
  fast.cores = {0, 1};
  CoreKind slow;
  slow.number = 1;
  slow.capacity = 446;
  slow.cores = {2, 3};
  info.core_kinds = {fast, slow};
  const auto kinds = nlohmann::json::parse(json_device(info, nullptr))["core_kinds"];
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0], nlohmann::json::parse(R"({"kind": 0, "name": "performance",
      "core_type": "IntelCore", "clock_max_mhz": 5200.0, "clock_base_mhz": 3000.0,
      "capacity": null, "cores": [0, 2]})"));
  EXPECT_EQ(kinds[1], nlohmann::json::parse(R"({"kind": 1, "name": null, "core_type": null,
      "clock_max_mhz": null, "clock_base_mhz": null, "capacity": 446, "cores": [4, 5]})"));
}

TEST(JsonLines, GpuReportsMemoryBesidesTensors) {
  DeviceInfo info;
  info.device = gpu();
  DeviceTelemetry reading;
  reading.device = gpu();
  reading.lab_pinned_bytes = 8;
  reading.lab_workspace_bytes = 64;
  const auto json = nlohmann::json::parse(json_device(info, &reading));
  EXPECT_EQ(json["lab_pinned_bytes"], 8);
  EXPECT_EQ(json["lab_workspace_bytes"], 64);
  EXPECT_EQ(json["lab_pool_bytes"], 0);
}

}  // namespace
}  // namespace lab::app
