// The model's state of a scaling experiment, and the command that the page's form creates.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/core/error.h"
#include "compute/core/events/models.h"
#include "tests/ui/events.h"
#include "ui/model/forms/forms.h"
#include "ui/model/model.h"

namespace lab::ui {
namespace {

using namespace lab::test;

constexpr auto kStrong = ScalingMode::Strong;
constexpr auto kWeak = ScalingMode::Weak;

StartScaling request_of(std::int64_t batch) {
  StartScaling request;
  request.training.batch = batch;
  return request;
}

class ScalingModel : public ::testing::Test {
 protected:
  void feed(JobId job, Payload payload) { model.apply(event(job, t += 1, std::move(payload))); }
  void measure(JobId job, std::int64_t batch) {
    feed(job, JobStarted{"Scaling", request_of(batch)});
    feed(job, scaling_point(kStrong, 1));
    feed(job, scaling_point(kStrong, 2));
    feed(job, scaling_prediction(kStrong, 16));
    feed(job, scaling_check(kStrong, 2));
    feed(job, JobFinished{Outcome::Done, 3, ""});
  }
  const ScalingResults& now() const { return model.scaling().current; }
  const ScalingResults& replaced() const {
    return model.scaling_runs().replaced(RunKind::Sweep).current;
  }

  Model model{machine_of(2)};
  double t = 0;
};

TEST_F(ScalingModel, PointsAreSortedAndTheLastOneWins) {
  feed(1, JobStarted{"Scaling", request_of(256)});
  EXPECT_EQ(model.job()->page, Page::Scaling);
  for (const int devices : {4, 1, 2}) feed(1, scaling_point(kStrong, devices));
  ScalingPoint better = scaling_point(kStrong, 2);
  better.speedup = 1.99;
  feed(1, better);
  feed(1, scaling_point(kWeak, 2));
  const ScalingCurve& curve = now().measured(kStrong);
  EXPECT_EQ(curve.devices, (Column64{1, 2, 4}));
  EXPECT_EQ(curve.speedup[1], 1.99);
  EXPECT_EQ(curve.at(2)->speedup, 1.99);
  EXPECT_EQ(curve.at(3), nullptr);
  EXPECT_EQ(now().measured(kWeak).devices, Column64{2});
}

TEST_F(ScalingModel, SlowAndFastStepsBoundTheSpeedUp) {
  feed(1, JobStarted{"Scaling", request_of(256)});
  const ScalingPoint p = scaling_point(kStrong, 2);
  feed(1, p);
  const ScalingCurve& curve = now().measured(kStrong);
  EXPECT_NEAR(curve.speedup_low[0], p.speedup / 1.1, 1e-9) << "p90 is 1.1 medians";
  EXPECT_NEAR(curve.speedup_high[0], p.speedup / 0.95, 1e-9);
  EXPECT_NEAR(curve.efficiency_low[0], p.efficiency / 1.1, 1e-9);
  feed(1, scaling_point(kStrong, 1));
  EXPECT_EQ(curve.speedup_low[0], curve.speedup_high[0]) << "one device is the reference";
  ScalingPoint unsteady = scaling_point(kStrong, 1);
  unsteady.step.unstable = true;
  feed(1, unsteady);
  const double slow = std::hypot(1 - 1 / 1.1, 0.05), fast = std::hypot(1 / 0.95 - 1, 0.1);
  EXPECT_NEAR(curve.speedup_low[1], p.speedup * (1 - slow), 1e-9) << "its steps vary too";
  EXPECT_NEAR(curve.speedup_high[1], p.speedup * (1 + fast), 1e-9);
}

TEST(ScalingRanges, PredictionsVaryAsTheMeasuredStepsOfOneDevice) {
  const auto range_of = [](bool measured) {
    ui::ScalingResults results;
    if (measured) results.add(scaling_point(ScalingMode::Strong, 1));
    const ScalingPrediction p = scaling_prediction(ScalingMode::Strong, 16);
    results.add(p);
    const ui::PredictedCurve& curve = results.predicted(ScalingMode::Strong);
    return std::pair(curve.speedup_low[0] / p.speedup, curve.speedup_high[0] / p.speedup);
  };
  // A step of 5.2 ms, 5 ms of it compute, which takes 10 % more at p90 and 5 % less at p10.
  EXPECT_NEAR(range_of(true).first, 5.2 / 5.7, 1e-9);
  EXPECT_NEAR(range_of(true).second, 5.2 / 5, 1e-9) << "16 devices are at most 16 times as fast";
  EXPECT_EQ(range_of(false), std::pair(1.0, 1.0)) << "from a time that was typed in";
  ui::ScalingResults results;
  results.add(scaling_point(ScalingMode::Strong, 1));
  results.add(scaling_prediction(ScalingMode::Strong, 1));
  const ui::PredictedCurve& curve = results.predicted(ScalingMode::Strong);
  EXPECT_EQ(curve.efficiency_low[0], curve.efficiency_high[0]) << "one device is the reference";
}

TEST_F(ScalingModel, ChecksOfTheModelAreNotPredictions) {
  measure(1, 256);
  feed(1, scaling_prediction(kStrong, 2));  // the job has ended but is still shown
  EXPECT_EQ(now().predicted(kStrong).devices, (Column64{2, 16}));
  EXPECT_EQ(now().checked(kStrong).devices, Column64{2});
  EXPECT_TRUE(now().checked(kStrong).at(2)->measured_step_s.has_value());
}

TEST_F(ScalingModel, KeepsOldResultsUntilNewOnesArriveOrFail) {
  measure(1, 256);
  feed(2, JobStarted{"Scaling", request_of(64)});
  EXPECT_TRUE(now().empty());
  ASSERT_TRUE(model.scaling().previous.has_value());
  EXPECT_EQ(model.scaling().previous->measured(kStrong).points.size(), 2u);
  feed(2, JobFinished{Outcome::Failed, 1, "it failed"});
  EXPECT_EQ(now().measured(kStrong).points.size(), 2u);
  EXPECT_EQ(model.state(Page::Scaling).phase, Phase::Failed);
}

TEST_F(ScalingModel, PredictionKeepsMatchingMeasurements) {
  measure(1, 256);
  StartScaling predict = request_of(256);
  predict.measure = false;
  predict.compute_s = 0.08;
  predict.link = "pcie3";
  feed(2, JobStarted{"Prediction", predict});
  feed(2, scaling_prediction(kStrong, 8));
  feed(2, JobFinished{Outcome::Done, 0.1, ""});
  EXPECT_EQ(now().measured(kStrong).devices, (Column64{1, 2}));
  EXPECT_EQ(now().predicted(kStrong).devices, Column64{8}) << "not those for the other link";
  EXPECT_TRUE(now().measured_with.measure);

  predict.training.batch = 64;
  feed(3, JobStarted{"Prediction", predict});
  feed(3, scaling_prediction(kStrong, 8));
  EXPECT_TRUE(now().measured(kStrong).points.empty()) << "the batch differs";
}

TEST_F(ScalingModel, KeepsTheMeasurementThatANewOneReplaces) {
  measure(1, 256);
  EXPECT_TRUE(replaced().empty());
  measure(2, 64);
  EXPECT_EQ(now().request.training.batch, 64);
  EXPECT_EQ(replaced().request.training.batch, 256);
  EXPECT_EQ(replaced().measured(kStrong).devices, (Column64{1, 2}));
}

TEST_F(ScalingModel, PredictionsReplaceNoMeasurement) {
  const auto predict = [&](JobId job, std::int64_t batch, const char* link) {
    StartScaling request = request_of(batch);
    request.measure = false;
    request.link = link;
    feed(job, JobStarted{"Prediction", request});
    feed(job, scaling_prediction(kStrong, 8));
    feed(job, JobFinished{});
  };
  measure(1, 256);
  measure(2, 128);
  predict(3, 128, "pcie3");
  EXPECT_EQ(now().measured_with.training.batch, 128);
  EXPECT_EQ(replaced().request.training.batch, 256) << "the one of batch 128 is still shown";
  measure(4, 64);
  predict(5, 512, "pcie3");
  EXPECT_EQ(replaced().request.training.batch, 64) << "it is no longer shown";
  predict(6, 512, "pcie4");
  EXPECT_EQ(replaced().request.training.batch, 64);
}

TEST_F(ScalingModel, PredictionsOfOneMeasurementReplaceEachOther) {
  measure(1, 256);
  for (const char* const link : {"pcie3", "pcie4"}) {
    StartScaling request = request_of(256);
    request.measure = false;
    request.link = link;
    feed(2, JobStarted{"Prediction", request});
    feed(2, scaling_prediction(kStrong, 8));
    feed(2, JobFinished{});
  }
  EXPECT_EQ(replaced().request.link, "pcie3");
  EXPECT_TRUE(replaced().has_measured());
}

TEST_F(ScalingModel, RecordedStepsBelongToTheirPoints) {
  feed(1, JobStarted{"Scaling", request_of(256)});
  feed(1, step_timeline(2));
  EXPECT_EQ(now().step(kStrong, 2), nullptr) << "there is no point yet";
  feed(1, scaling_point(kStrong, 2));
  feed(1, scaling_point(kWeak, 2));
  ASSERT_NE(now().step(kStrong, 2), nullptr);
  EXPECT_EQ(now().step(kStrong, 2)->timeline().devices.size(), 2u);
  EXPECT_EQ(now().step(kWeak, 2), nullptr) << "its steps have twice the images";
  feed(1, JobFinished{});
  StartScaling predict = request_of(256);
  predict.measure = false;
  feed(2, JobStarted{"Prediction", predict});
  feed(2, scaling_prediction(kStrong, 8));
  EXPECT_NE(now().step(kStrong, 2), nullptr) << "kept with the points";
}

TEST_F(ScalingModel, FailedPredictionKeepsThePreviousOne) {
  measure(1, 256);
  StartScaling predict = request_of(256);
  predict.measure = false;
  for (const Outcome outcome : {Outcome::Failed, Outcome::Cancelled}) {
    feed(2, JobStarted{"Prediction", predict});
    EXPECT_TRUE(now().predicted(kStrong).points.empty());
    feed(2, JobFinished{outcome, 0.1, ""});
    EXPECT_EQ(now().predicted(kStrong).devices, Column64{16});
    EXPECT_EQ(now().measured(kStrong).devices, (Column64{1, 2}));
    EXPECT_TRUE(now().request.measure) << "the results belong to the previous request";
    EXPECT_FALSE(model.scaling().previous.has_value());
  }
}

TEST_F(ScalingModel, OneDeviceStepAppliesToTheSameWorkOnly) {
  measure(1, 256);
  StartTraining work = request_of(256).training;
  EXPECT_EQ(now().one_device_step_s(work), scaling_point(kStrong, 1).step.median_s);
  work.batch = 64;
  EXPECT_FALSE(now().one_device_step_s(work).has_value());
  work.batch = 256;
  work.devices = {cpu(1), cpu(0)};
  EXPECT_FALSE(now().one_device_step_s(work).has_value()) << "measured on cpu:0";
  work.devices = {cpu(0)};
  EXPECT_TRUE(now().one_device_step_s(work).has_value());
  work.model = "resnet18";
  EXPECT_FALSE(now().one_device_step_s(work).has_value());
}

TEST_F(ScalingModel, IgnoresResultsOfOtherJobs) {
  feed(1, JobStarted{"Scaling", request_of(256)});
  feed(7, scaling_point(kStrong, 1));
  feed(7, scaling_prediction(kStrong, 2));
  EXPECT_TRUE(now().empty());
  feed(1, Skipped{"4 devices", "there are 2"});
  EXPECT_EQ(model.log().back().severity, Severity::Info) << "nothing is wrong";
  EXPECT_EQ(now().skipped.size(), 1u);
}

TEST(ScalingForm, MeasuresDevicesThatAreAlikeUnlessTicked) {
  MachineInfo machine = machine_of(1);
  ScalingForm form;
  DeviceInfo other;
  other.device = emulated_gpu(0);
  machine.devices.push_back(other);
  EXPECT_EQ(scaling_devices(form, machine), std::vector{cpu(0)}) << "emulated: never timed";
  other.device = gpu(0);
  other.name = "A GPU";
  machine.devices.insert(machine.devices.begin() + 1, other);
  EXPECT_EQ(scaling_devices(form, machine), std::vector{gpu(0)});
  form.devices = {true, true};
  EXPECT_EQ(scaling_devices(form, machine), (std::vector{cpu(0), gpu(0)}));
  form.devices = {false, false, true};
  EXPECT_EQ(scaling_devices(form, machine), std::vector{gpu(0)}) << "only timed ones are ticked";
  machine = machine_of(2);
  machine.devices.push_back(other);
  EXPECT_EQ(scaling_devices({}, machine), (std::vector{cpu(0), cpu(1)}));
  other.device = gpu(1);
  machine.devices.push_back(other);
  EXPECT_EQ(scaling_devices({}, machine), (std::vector{gpu(0), gpu(1)}));
}

TEST(ScalingForm, CommandMatchesTheForm) {
  const MachineInfo machine = machine_of(4);
  ScalingForm form;
  form.request.training.model = "resnet18";
  form.request.training.batch = 64;
  form.devices = {true, false, true, true};
  form.counts = "3, 1,1";
  set_mode_choice(form.request, kBothModes);
  form.request.rounds = 5;
  form.request.accuracy = false;
  form.request.predict_devices = 32;
  form.request.link = "pcie3";
  const StartScaling command = to_command(form, machine, true);
  EXPECT_EQ(command.training.model, "resnet18");
  EXPECT_EQ(command.training.batch, 64);
  EXPECT_EQ(command.training.devices, (std::vector<Device>{cpu(0), cpu(2), cpu(3)}));
  EXPECT_EQ(command.counts, (std::vector<int>{1, 3}));
  EXPECT_EQ(command.modes, (std::vector<ScalingMode>{kStrong, kWeak}));
  EXPECT_TRUE(command.measure);
  EXPECT_EQ(command.rounds, 5);
  EXPECT_FALSE(command.accuracy);
  EXPECT_EQ(command.predict_devices, 32);
  EXPECT_EQ(command.link, "pcie3");
  EXPECT_FALSE(command.compute_s.has_value());
}

TEST(ScalingForm, DefaultsMeasureAllDevicesAndPredictSixteen) {
  const StartScaling command = to_command(ScalingForm{}, machine_of(2), true);
  EXPECT_EQ(command.training.devices, (std::vector<Device>{cpu(0), cpu(1)}));
  EXPECT_TRUE(command.counts.empty());
  EXPECT_EQ(command.modes, std::vector<ScalingMode>{kStrong});
  EXPECT_EQ(command.steps, StartScaling{}.steps);
  EXPECT_EQ(command.rounds, StartScaling{}.rounds);
  EXPECT_EQ(command.accuracy_steps, find_model("lenet")->accuracy_steps);
  EXPECT_EQ(command.predict_devices, StartScaling{}.predict_devices);
  EXPECT_EQ(command.link, StartScaling{}.link);
}

TEST(ScalingForm, CostsReachTheCommand) {
  const MachineInfo machine = machine_of(2);
  ScalingForm form;
  form.compute_time = static_cast<int>(ComputeTime::Typed);
  form.compute_ms = 50;
  form.fixed_ms = 10;
  form.repeat_ms = 7;
  form.read_ms = 3;
  const StartScaling ddp = to_command(form, machine, false);
  EXPECT_DOUBLE_EQ(ddp.fixed_s, 0.01);
  EXPECT_FALSE(ddp.repeated_s);
  EXPECT_EQ(ddp.reading_s, 0);
  form.request.style = ParallelStyle::DataParallel;
  EXPECT_FALSE(to_command(form, machine, false).repeated_s) << "estimated";
  form.estimate_repeat = false;
  EXPECT_DOUBLE_EQ(to_command(form, machine, false).repeated_s.value(), 0.007);
  EXPECT_DOUBLE_EQ(to_command(form, machine, false).reading_s, 0.003);
  form.fixed_ms = 50;
  EXPECT_THROW(to_command(form, machine, false), Error);
  form.compute_time = static_cast<int>(ComputeTime::Measured);
  EXPECT_EQ(to_command(form, machine, true).fixed_s, 0) << "fitted";
  EXPECT_DOUBLE_EQ(to_command(form, machine, false, {0.08, 0.02}).fixed_s, 0.02);
}

TEST(ScalingForm, PredictionWithoutMeasurementNeedsATime) {
  const MachineInfo machine = machine_of(2);
  ScalingForm form;
  EXPECT_THROW(to_command(form, machine, false), Error);
  EXPECT_EQ(to_command(form, machine, false, {.seconds = 0.08}).compute_s, 0.08);
  form.compute_time = static_cast<int>(ComputeTime::Typed);
  form.compute_ms = 52;
  EXPECT_DOUBLE_EQ(*to_command(form, machine, false).compute_s, 0.052);
  EXPECT_DOUBLE_EQ(*to_command(form, machine, true).compute_s, 0.052) << "measured as well";
  form.compute_ms = 0;
  EXPECT_THROW(to_command(form, machine, false), Error);
  form.compute_time = static_cast<int>(ComputeTime::File);
  EXPECT_THROW(to_command(form, machine, false), Error);
  form.request.reference_file = "v100.json";
  EXPECT_EQ(to_command(form, machine, false).reference_file, "v100.json");
}

TEST(ScalingForm, RejectsTooManyDevices) {
  ScalingForm form;
  form.counts = "1,2,4";
  try {
    to_command(form, machine_of(2), true);
    FAIL() << "4 of 2 devices";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("4 devices requested, 2 available"), std::string::npos)
        << e.what();
  }
}

TEST(ScalingForm, RejectsInvalidLists) {
  ScalingForm form;
  for (const char* bad : {"two", "1,,2", "0", "1;2", "-1"}) {
    form.counts = bad;
    EXPECT_THROW(to_command(form, machine_of(4), true), Error) << bad;
  }
}

TEST(ScalingForm, SurvivesSavingAndLoading) {
  Forms forms;
  forms.scaling.devices = {false, true};
  forms.scaling.request.link = "ethernet10";
  forms.scaling.compute_time = 2;
  forms.scaling.request.reference_file = "a b.json";
  set_mode_choice(forms.scaling.request, 1);
  forms.scaling.bars_by_share = true;
  std::map<std::string, std::string> saved, again;
  save_forms(forms, saved);
  Forms loaded;
  load_forms(loaded, saved);
  save_forms(loaded, again);
  EXPECT_EQ(saved, again);
  EXPECT_EQ(loaded.scaling.devices, forms.scaling.devices);
  EXPECT_EQ(loaded.scaling.request.link, "ethernet10");
  load_forms(loaded, {{"scaling.link", "99"}, {"scaling.predict_devices", "1"}});
  EXPECT_EQ(loaded.scaling.request.link, "ethernet10");
  EXPECT_EQ(loaded.scaling.request.predict_devices, 16);
}

TEST(ScalingLinks, TheUsualOneIsThatOfTheGpus) {
  MachineInfo machine = machine_of(2);
  EXPECT_EQ(ui::usual_link(machine), "ethernet10");
  DeviceInfo& added = machine.devices.emplace_back();
  added.device = gpu();
  for (const auto& [name, link] :
       {std::pair("NVIDIA H200", "nvlink"), std::pair("NVIDIA A100-SXM4-80GB", "nvlink3"),
        std::pair("NVIDIA H100 PCIe", "pcie4"), std::pair("NVIDIA GeForce RTX 4090", "pcie4")}) {
    added.name = name;
    EXPECT_EQ(ui::usual_link(machine), link) << name;
  }
}

TEST(ScalingLinks, HaveTitlesOrTheirName) {
  EXPECT_EQ(link_title("infiniband-ndr"), "InfiniBand NDR");
  EXPECT_EQ(link_title("string"), "string");
}

}  // namespace
}  // namespace lab::ui
