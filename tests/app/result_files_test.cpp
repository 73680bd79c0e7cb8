#include "app/window/result_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/files/whole_file.h"
#include "tests/support/machine_of_two.h"
#include "tests/support/temp_dir.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t kWhen = 1'700'000'000;
constexpr Timing kTime{.median_s = 1.1e-3,
                       .p10_s = 1e-3,
                       .p90_s = 1.3e-3,
                       .min_s = 0.9e-3,
                       .max_s = 2e-3,
                       .n = 31,
                       .warmup = 3,
                       .unstable = true};

void expect_same(const Timing& a, const Timing& b) {
  EXPECT_EQ(a.median_s, b.median_s);
  EXPECT_EQ(a.p10_s, b.p10_s);
  EXPECT_EQ(a.p90_s, b.p90_s);
  EXPECT_EQ(a.min_s, b.min_s);
  EXPECT_EQ(a.max_s, b.max_s);
  EXPECT_EQ(a.n, b.n);
  EXPECT_EQ(a.warmup, b.warmup);
  EXPECT_EQ(a.unstable, b.unstable);
}

ui::PageState stopped() {
  ui::PageState state;
  state.phase = ui::Phase::Done;
  state.cancelled = true;
  state.seconds = 12.5;
  state.others = 0.25;
  return state;
}

// Runs a job of `request` that reports `results`, and writes what the page then keeps.
template <typename Request>
ui::Model model_after(const MachineInfo& machine, const Request& request,
                      const std::vector<Payload>& results) {
  ui::Model model(machine, [] { return kWhen; });
  model.apply({1, 1, JobStarted{"a run", request}});
  for (const Payload& one : results) model.apply({1, 2, one});
  model.apply({1, 3, JobFinished{}});
  return model;
}

TransferSample copy_of(std::int64_t bytes) {
  TransferSample sample;
  sample.to = parse_device("cpu:1");
  sample.mover = TransferMover::Threads;
  sample.threads = 4;
  sample.bytes = bytes;
  sample.time = kTime;
  sample.gb_per_s = 12.5;
  sample.verified = true;
  sample.conditions.unix_time_s = kWhen;
  sample.conditions.clock_mhz = 2600.0;
  return sample;
}

ui::Model after_transfers(const MachineInfo& machine, bool quick = true) {
  StartTransfers request;
  request.quick = quick;
  TransferFit fit;
  fit.to = parse_device("cpu:1");
  fit.threads = 4;
  fit.levels = {{"L2", 1 << 20, 5, 2e-6, 40, 0.02}, {"memory", 0, 4, 3e-6, 9, 0.2}};
  fit.faster_than_one = FasterRange{4096, {}};
  return model_after(machine, request,
                     {copy_of(1024), copy_of(2048), fit, Skipped{"chase", "no GPU"}});
}

TEST(ResultFiles, BringTransfersBack) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "new" / "transfers.json";
  const MachineInfo machine = test::machine_of_two();
  EXPECT_TRUE(
      read_results<ui::TransferResults>(file, machine).runs.of(ui::RunKind::Sweep).current.empty())
      << "there is none yet";
  write_results(file, after_transfers(machine).transfer_runs(), stopped(), machine);
  const auto kept = read_results<ui::TransferResults>(file, machine);
  EXPECT_EQ(kept.problem, "");
  EXPECT_FALSE(kept.other_devices);
  const ui::TransferResults& results = kept.runs.of(ui::RunKind::Sweep).current;
  EXPECT_TRUE(results.earlier);
  EXPECT_EQ(results.measured_at, kWhen);
  EXPECT_TRUE(results.request.quick);
  ASSERT_EQ(results.cases.size(), 1U);
  const ui::TransferCase& one = results.cases[0];
  ASSERT_EQ(one.samples.size(), 2U);
  EXPECT_EQ(one.samples[1].bytes, 2048);
  EXPECT_EQ(one.samples[1].gb_per_s, 12.5);
  EXPECT_EQ(one.samples[1].conditions.clock_mhz.value_or(0), 2600);
  expect_same(one.samples[1].time, kTime);
  ASSERT_TRUE(one.fit);
  ASSERT_EQ(one.fit->levels.size(), 2U);
  EXPECT_EQ(one.fit->levels[0].name, "L2");
  EXPECT_EQ(one.fit->levels[0].to_bytes, 1 << 20);
  ASSERT_TRUE(one.fit->faster_than_one);
  EXPECT_FALSE(one.fit->faster_than_one->to_bytes);
  ASSERT_EQ(results.skipped.size(), 1U);
  EXPECT_EQ(results.skipped[0].reason, "no GPU");
  EXPECT_TRUE(kept.state.cancelled);
  EXPECT_EQ(kept.state.seconds, 12.5);
  EXPECT_EQ(kept.state.others, 0.25);
  EXPECT_TRUE(kept.state.command) << "to measure again";
}

TEST(ResultFiles, BringReplacedResultsBack) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "transfers.json";
  const MachineInfo machine = test::machine_of_two();
  ui::Model model = after_transfers(machine);
  StartTransfers second;
  second.cache = CacheState::Cold;
  model.apply({2, 4, JobStarted{"another run", second}});
  model.apply({2, 5, copy_of(4096)});
  model.apply({2, 6, JobFinished{}});
  write_results(file, model.transfer_runs(), model.state(ui::Page::Transfers), machine);
  const auto kept = read_results<ui::TransferResults>(file, machine);
  const auto& now = kept.runs.of(ui::RunKind::Sweep).current;
  const auto& before = kept.runs.replaced(ui::RunKind::Sweep).current;
  ASSERT_EQ(now.cases.size(), 1U);
  EXPECT_EQ(now.cases[0].samples.size(), 1U);
  EXPECT_EQ(now.request.cache, CacheState::Cold);
  ASSERT_EQ(before.cases.size(), 1U);
  EXPECT_EQ(before.cases[0].samples.size(), 2U);
  EXPECT_TRUE(before.earlier);
}

TEST(ResultFiles, BringMatmulBack) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "matmul.json";
  const MachineInfo machine = test::machine_of_two();
  MatmulSample sample;
  sample.kernel = "packed";
  sample.m = sample.n = sample.k = 512;
  sample.time = kTime;
  sample.gflops = 100;
  sample.share_of_peak = 0.5;
  CeilingsMeasured ceilings;
  ceilings.compute = {{.name = "FMA f32", .threads = 4, .gflops = 200, .time = kTime}};
  ceilings.bandwidth = {{.name = "L1", .cache_bytes = 32768, .gb_per_s = 400, .time = kTime}};
  PeakSample peak;
  peak.time = kTime;
  peak.gflops = 200;
  RungFailed failed;
  failed.kernel = "simd";
  failed.n = 64;
  failed.reason = "wrong";
  ui::Model model = model_after(machine, StartMatmul{}, {sample, ceilings, peak, failed});
  StartMatmul together;
  together.together = true;
  model.apply({2, 4, JobStarted{"together", together}});
  model.apply(
      {2, 5, TogetherSample{.device = cpu(), .together = model.devices(), .n = 64, .time = kTime}});
  model.apply({2, 6, TogetherSpeedup{.devices = model.devices(), .n = 64, .speedup = 1.9}});
  model.apply({2, 7, JobFinished{}});
  write_results(file, model.matmul_runs(), model.state(ui::Page::Matmul), machine);
  const auto kept = read_results<ui::MatmulResults>(file, machine);
  EXPECT_EQ(kept.problem, "");
  const ui::MatmulResults& ladder = kept.runs.of(ui::RunKind::Sweep).current;
  ASSERT_EQ(ladder.kernels.size(), 1U);
  ASSERT_NE(ladder.kernels[0].at(512), nullptr);
  EXPECT_EQ(ladder.kernels[0].at(512)->share_of_peak, 0.5);
  ASSERT_EQ(ladder.ceilings.size(), 1U);
  EXPECT_EQ(ladder.ceilings[0].bandwidth[0].cache_bytes, 32768);
  ASSERT_NE(ladder.peak(cpu()), nullptr);
  EXPECT_EQ(ladder.failed.size(), 1U);
  const ui::MatmulResults& both = kept.runs.of(ui::RunKind::Together).current;
  ASSERT_EQ(both.together.size(), 1U);
  EXPECT_EQ(both.together[0].together.size(), 2U);
  ASSERT_EQ(both.speedups.size(), 1U);
  EXPECT_EQ(both.speedups[0].speedup, 1.9);
}

ScalingPoint point_of(int devices) {
  ScalingPoint point;
  point.devices = devices;
  point.batch = 256;
  point.step = kTime;
  point.speedup = devices;
  point.test_acc = 0.75;
  return point;
}

ScalingPrediction prediction_for(int devices) {
  ScalingPrediction prediction;
  prediction.devices = devices;
  prediction.link = "nvlink";
  prediction.speedup = devices;
  return prediction;
}

StepTimeline timeline_of(const MachineInfo& machine) {
  StepTimeline step;
  step.model = "lenet";
  for (const DeviceInfo& info : machine.devices) step.devices.push_back({info.device, 128});
  step.layers = {{"net.0", "convolution", "1x28x28 to 6x28x28"}};
  step.buckets = {{.bytes = 4096, .ready_s = {1e-4, 2e-4}, .done_s = 3e-4}};
  step.spans = {{.device = 1, .end_s = 1e-4},
                {.device = 0, .lane = TimelineLane::Sums, .phase = StepPhase::AllReduce}};
  return step;
}

ui::Model after_scaling(const MachineInfo& machine) {
  StartScaling request;
  request.training.model = "lenet";
  request.training.devices = {cpu(), parse_device("cpu:1")};
  ScalingPrediction checked = prediction_for(2);
  checked.measured_step_s = 1e-3;
  const ScalingPrediction predicted = prediction_for(16);
  return model_after(
      machine, request,
      {point_of(1), point_of(2), checked, predicted, timeline_of(machine), CoresShared{0.3}});
}

TEST(ResultFiles, BringScalingBack) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "scaling.json";
  const MachineInfo machine = test::machine_of_two();
  const ui::Model model = after_scaling(machine);
  write_results(file, model.scaling_runs(), model.state(ui::Page::Scaling), machine);
  auto kept = read_results<ui::ScalingResults>(file, machine);
  EXPECT_EQ(kept.problem, "");
  const ui::ScalingResults& results = kept.runs.of(ui::RunKind::Sweep).current;
  ASSERT_NE(results.measured(ScalingMode::Strong).at(2), nullptr);
  EXPECT_EQ(results.measured(ScalingMode::Strong).at(2)->test_acc, 0.75);
  ASSERT_NE(results.checked(ScalingMode::Strong).at(2), nullptr);
  ASSERT_NE(results.predicted(ScalingMode::Strong).at(16), nullptr);
  EXPECT_EQ(results.predicted(ScalingMode::Strong).at(16)->link, "nvlink");
  EXPECT_EQ(results.others, 0.3);
  EXPECT_EQ(results.measured_with.training.model, "lenet");
  EXPECT_EQ(results.measured_with.training.devices.size(), 2U);
  ASSERT_NE(results.step(ScalingMode::Strong, 2), nullptr);
  EXPECT_EQ(results.step(ScalingMode::Strong, 2)->timeline().spans.size(), 2U);

  // A prediction alone takes the restored measurement over, with its date.
  ui::Model restored(machine, [] { return kWhen + 100; });
  restored.restore_results(std::move(kept.runs), std::move(kept.state));
  StartScaling alone = restored.scaling().current.request;
  alone.measure = false;
  alone.compute_s = kTime.median_s;
  restored.apply({1, 1, JobStarted{"predict", alone}});
  restored.apply({1, 2, prediction_for(8)});
  restored.apply({1, 3, JobFinished{}});
  const ui::ScalingResults& now = restored.scaling().current;
  EXPECT_NE(now.measured(ScalingMode::Strong).at(2), nullptr);
  EXPECT_NE(now.predicted(ScalingMode::Strong).at(8), nullptr);
  EXPECT_TRUE(now.earlier);
  EXPECT_EQ(now.measured_at, kWhen);
}

TEST(ResultFiles, BringAPredictionAloneBack) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "scaling.json";
  const MachineInfo machine = test::machine_of_two();
  for (const bool measured : {false, true}) {
    ui::Model model = measured ? after_scaling(machine) : ui::Model(machine);
    StartScaling alone;
    alone.training.model = "lenet";
    alone.measure = false;
    alone.compute_s = 0.006;
    model.apply({9, 1, JobStarted{"predict", alone}});
    model.apply({9, 2, prediction_for(8)});
    model.apply({9, 3, JobFinished{}});
    const ui::ScalingResults& now = model.scaling().current;
    EXPECT_TRUE(has_news(now, measured ? kWhen : 0)) << "although it measured nothing";
    write_results(file, model.scaling_runs(), model.state(ui::Page::Scaling), machine);
    const auto kept = read_results<ui::ScalingResults>(file, machine);
    EXPECT_EQ(kept.problem, "");
    const ui::ScalingResults& results = kept.runs.of(ui::RunKind::Sweep).current;
    ASSERT_NE(results.predicted(ScalingMode::Strong).at(8), nullptr);
    EXPECT_EQ(results.request.compute_s, 0.006);
    EXPECT_FALSE(results.request.measure);
    EXPECT_EQ(kept.state.phase, ui::Phase::Done);
  }
  EXPECT_FALSE(has_news(after_scaling(machine).scaling().current, kWhen));
  EXPECT_TRUE(has_news(after_scaling(machine).scaling().current, kWhen + 3600))
      << "the clock was set back";
}

TEST(ResultFiles, LeaveOutResultsOfOtherDevices) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "transfers.json";
  MachineInfo machine = test::machine_of_two();
  write_results(file, after_transfers(machine).transfer_runs(), stopped(), machine);
  MachineInfo more = machine;
  more.devices.emplace_back().device = parse_device("cpu:2");
  EXPECT_FALSE(read_results<ui::TransferResults>(file, more).other_devices)
      << "a device without results does not matter";
  machine.devices[1].threads = 8;
  const auto kept = read_results<ui::TransferResults>(file, machine);
  EXPECT_TRUE(kept.other_devices);
  EXPECT_EQ(kept.problem, "");
  EXPECT_TRUE(kept.runs.of(ui::RunKind::Sweep).current.empty());
  EXPECT_EQ(kept.state.phase, ui::Phase::Empty);
}

// What was replaced counts only where it is asked for.
TEST(ResultFiles, KeepTheStateBesideReplacedResultsOfOtherDevices) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "matmul.json";
  MachineInfo machine = test::machine_of_two();
  const auto run = [&](ui::Model& model, JobId job, const char* device) {
    MatmulSample sample;
    sample.device = parse_device(device);
    sample.kernel = "naive";
    sample.m = sample.n = sample.k = 64;
    sample.time = kTime;
    sample.gflops = 1;
    model.apply({job, 4, JobStarted{"a ladder", StartMatmul{}}});
    model.apply({job, 5, sample});
    model.apply({job, 6, JobFinished{}});
  };
  ui::Model model(machine, [] { return kWhen; });
  run(model, 1, "cpu:1");
  run(model, 2, "cpu:0");
  write_results(file, model.matmul_runs(), model.state(ui::Page::Matmul), machine);
  machine.devices[1].threads = 8;
  const auto kept = read_results<ui::MatmulResults>(file, machine);
  EXPECT_FALSE(kept.other_devices);
  EXPECT_FALSE(kept.runs.of(ui::RunKind::Sweep).current.empty());
  EXPECT_TRUE(kept.runs.replaced(ui::RunKind::Sweep).current.empty());
  EXPECT_EQ(kept.state.phase, ui::Phase::Done);
}

TEST(ResultFiles, SurviveDamage) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "scaling.json";
  const MachineInfo machine = test::machine_of_two();
  const ui::Model model = after_scaling(machine);
  write_results(file, model.scaling_runs(), model.state(ui::Page::Scaling), machine);
  const std::string whole = files::read_text_file(file);
  // One value at a time is replaced by what does not belong there.
  for (const auto& [good, bad] : std::vector<std::pair<std::string, std::string>>{
           {R"("format":1)", R"("format":2)"},
           {R"("runs":{)", R"("runs":[],"x":{)"},
           {R"("median_s":0.0011)", R"("median_s":"x")"},
           {R"("median_s":0.0011)", R"("median_s":9)"},
           {R"("devices":2,"batch")", R"("devices":-2,"batch")"},
           {R"("mode":"strong")", R"("mode":"odd")"},
           {R"("lane":"compute")", R"("lane":"x")"},
           {R"("spans":[{"device":1)", R"("spans":[{"device":7)"},
           {R"("part":0)", R"("part":3)"},
           {R"("model":"lenet")", R"("model":"none")"},
           {R"("spans":[)", R"("spans":[7,)"}}) {
    const std::size_t at = whole.find(good);
    ASSERT_NE(at, std::string::npos) << good;
    std::string damaged = whole;
    files::write_file(file, std::string_view(damaged.replace(at, good.size(), bad)));
    const auto kept = read_results<ui::ScalingResults>(file, machine);
    EXPECT_NE(kept.problem, "") << bad;
    EXPECT_TRUE(kept.runs.of(ui::RunKind::Sweep).current.empty()) << bad;
  }
  for (const std::string& text : {std::string(), whole.substr(0, whole.size() / 2),
                                  std::string("[]"), std::string("\xff"), std::string("{}")}) {
    files::write_file(file, std::string_view(text));
    EXPECT_NE(read_results<ui::ScalingResults>(file, machine).problem, "") << text;
  }
  files::write_file(file, std::string(std::size_t{17} << 20, ' '));
  EXPECT_NE(read_results<ui::ScalingResults>(file, machine).problem.find("larger than any results"),
            std::string::npos);
}

TEST(ResultFiles, ReportAFolderThatCannotBeWritten) {
  const test::TempDir dir;
  const fs::path blocked = dir.path() / "a file";
  files::write_file(blocked, std::string_view("x"));
  const MachineInfo machine = test::machine_of_two();
  EXPECT_THROW(write_results(blocked / "transfers.json", after_transfers(machine).transfer_runs(),
                             stopped(), machine),
               Error);
}

}  // namespace
}  // namespace lab::app
