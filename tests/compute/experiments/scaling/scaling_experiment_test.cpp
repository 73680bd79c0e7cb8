#include "compute/experiments/scaling/scaling_experiment.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/experiments/scaling/scaling_runs.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"
#include "tests/support/text.h"

namespace lab {
namespace {

StartScaling small_request() {
  StartScaling request;
  request.training.model = "mlp";
  request.training.synthetic_train = 300;
  request.training.synthetic_test = 60;
  request.training.batch = 64;
  request.steps = 4;
  request.warmup = 1;
  request.rounds = 2;
  request.accuracy_steps = 6;
  request.predict_devices = 4;
  return request;
}

// The last point of each mode and number of devices.
std::map<std::pair<ScalingMode, int>, ScalingPoint> final_points(const test::Probe& probe) {
  std::map<std::pair<ScalingMode, int>, ScalingPoint> found;
  for (const ScalingPoint& p : probe.all<ScalingPoint>()) found[{p.mode, p.devices}] = p;
  return found;
}

std::string problem(const StartScaling& request, Errc code, int cpu_devices = 2) {
  test::Probe probe(cpu_devices);
  return test::message_of([&] { probe.run(*make_scaling_experiment(request)); }, code);
}

using test::contains;

TEST(StepTimes, AreUnsteadyIfTheRoundsDiffer) {
  const auto unstable = [](const std::vector<double>& round_s) {
    StepTimes times;
    for (const double seconds : round_s) {
      times.begin_round();
      for (int i = 0; i < 20; ++i) {
        StepDone step;
        step.images = 64;
        step.images_per_s = 64 / (seconds * (1 + 1e-4 * i));
        times.add(step);
      }
    }
    return times.timing().unstable;
  };
  EXPECT_FALSE(unstable({0.098, 0.1, 0.102}));
  EXPECT_TRUE(unstable({0.092, 0.1, 0.108})) << "the middle round encloses the median";
  EXPECT_FALSE(unstable({0.1}));
}

TEST(ScalingExperiment, MeasuresOneToAllDevicesInBothModes) {
  test::Probe probe(3);
  StartScaling request = small_request();
  request.modes = {ScalingMode::Strong, ScalingMode::Weak};
  probe.run(*make_scaling_experiment(request));
  const auto points = final_points(probe);
  ASSERT_EQ(points.size(), 6U) << "1, 2 and all 3 devices, strong and weak";
  for (const auto& [key, p] : points) {
    SCOPED_TRACE(std::string(to_string(p.mode)) + " " + std::to_string(p.devices));
    EXPECT_EQ(p.batch, p.mode == ScalingMode::Strong ? 64 : 64 * p.devices);
    EXPECT_EQ(p.step.n, 8) << "4 steps in 2 rounds";
    EXPECT_EQ(p.step.warmup, 2);
    EXPECT_GT(p.step.median_s, 0);
    EXPECT_NEAR(p.images_per_s * p.step.median_s, static_cast<double>(p.batch), 1e-6);
    EXPECT_NEAR(p.efficiency * p.devices, p.speedup, 1e-12);
    EXPECT_NEAR(p.speedup, p.images_per_s / points.at({p.mode, 1}).images_per_s, 1e-9);
    EXPECT_GT(p.split.compute_s, 0);
    EXPECT_LE(p.split.exposed_s, p.split.all_reduce_s);
    EXPECT_EQ(p.test_acc.has_value(), p.mode == ScalingMode::Strong);
    EXPECT_EQ(p.split.all_reduce_s > 0, p.devices > 1);
    EXPECT_GT(p.conditions.unix_time_s, 0);
  }
  EXPECT_FALSE(points.at({ScalingMode::Strong, 1}).shares_cores);
  EXPECT_EQ(points.at({ScalingMode::Strong, 2}).accuracy_steps, 6);
}

TEST(ScalingExperiment, RecordsStepsOfEachPointAfterTheTimedOnes) {
  test::Probe probe(2);
  StartScaling request = small_request();
  request.modes = {ScalingMode::Strong, ScalingMode::Weak};
  probe.run(*make_scaling_experiment(request));
  std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> steps;  // by devices and images
  std::map<std::pair<std::size_t, std::int64_t>, int> times;
  for (const StepTimeline& t : probe.all<StepTimeline>()) {
    SCOPED_TRACE(t.step);
    std::int64_t images = 0;
    for (const TimelineDevice& device : t.devices) images += device.images;
    const std::pair key(t.devices.size(), images);
    steps[key] = t.step;
    EXPECT_LE(++times[key], 2) << "at most once per round";
    EXPECT_GT(t.seconds, 0);
    EXPECT_EQ(t.devices.size() > 1, !t.buckets.empty());
    std::set<int> computing;
    for (const TimelineSpan& span : t.spans) {
      if (span.lane == TimelineLane::Compute) computing.insert(span.device);
    }
    EXPECT_EQ(computing.size(), t.devices.size());
  }
  // After 1 untimed step and 4 timed ones; the last step of each epoch of 300 images is smaller.
  const decltype(steps) expected = {{{1, 64}, 7}, {{2, 64}, 7}, {{2, 128}, 8}};
  EXPECT_EQ(steps, expected);
  for (const auto& [key, p] : final_points(probe)) EXPECT_EQ(p.step.n, 8) << "it is not timed";
}

// The same images produce the same gradient sums, so the accuracy cannot depend on how the images
// are divided.
TEST(ScalingExperiment, AccuracyIsIndependentOfTheDeviceCount) {
  test::Probe probe(2);
  StartScaling request = small_request();
  request.rounds = 1;
  request.accuracy_steps = 20;
  probe.run(*make_scaling_experiment(request));
  const auto points = final_points(probe);
  EXPECT_NEAR(points.at({ScalingMode::Strong, 1}).test_acc.value(),
              points.at({ScalingMode::Strong, 2}).test_acc.value(), 0.05);
}

TEST(ScalingExperiment, PredictsFromMeasurements) {
  test::Probe probe(2);
  StartScaling request = small_request();
  request.accuracy = false;
  request.link = "pcie4";
  probe.run(*make_scaling_experiment(request));
  std::vector<ScalingPrediction> far, here;
  for (const ScalingPrediction& p : probe.all<ScalingPrediction>()) {
    (p.link == "memory" ? here : far).push_back(p);
  }
  ASSERT_EQ(far.size(), 3U) << "1, 2 and 4 devices";
  for (const ScalingPrediction& p : far) {
    EXPECT_EQ(p.link, "pcie4");
    EXPECT_EQ(p.basis.rfind("measured on cpu:0: ", 0), 0U) << p.basis;
    EXPECT_GT(p.step_s, 0);
    EXPECT_FALSE(p.measured_step_s);
  }
  ASSERT_EQ(here.size(), 2U) << "the measured 1 and 2 devices";
  const auto points = final_points(probe);
  for (const ScalingPrediction& p : here) {
    EXPECT_EQ(p.measured_step_s, points.at({p.mode, p.devices}).step.median_s);
  }
  EXPECT_NEAR(here[0].step_s / here[0].measured_step_s.value(), 1, 1e-6) << "the one-device point";
}

TEST(ScalingExperiment, MeasuresRequestedCountsAndOneDevice) {
  test::Probe probe(4);
  StartScaling request = small_request();
  request.accuracy = false;
  request.predict_devices = 0;
  request.counts = {4, 2, 4};
  request.rounds = 1;
  probe.run(*make_scaling_experiment(request));
  const auto points = final_points(probe);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_TRUE(points.contains({ScalingMode::Strong, 1}));
  EXPECT_TRUE(points.contains({ScalingMode::Strong, 4}));
  EXPECT_TRUE(probe.all<ScalingPrediction>().empty()) << "none requested";
}

TEST(ScalingExperiment, ReportsSharedCores) {
  const int cores = static_cast<int>(test::Probe(1).machine.at(cpu()).info().cores.size());
  test::Probe probe(2 * cores);
  StartScaling request = small_request();
  request.training.model = "softmax";
  request.accuracy = false;
  request.rounds = 1;
  request.counts = {2 * cores};
  probe.run(*make_scaling_experiment(request));
  const auto points = final_points(probe);
  EXPECT_FALSE(points.at({ScalingMode::Strong, 1}).shares_cores);
  EXPECT_TRUE(points.at({ScalingMode::Strong, 2 * cores}).shares_cores);
}

TEST(ScalingExperiment, ProgressNeverDecreases) {
  test::Probe probe(2);
  probe.run(*make_scaling_experiment(small_request()));
  double before = 0;
  for (const Progress& p : probe.all<Progress>()) {
    EXPECT_GE(p.done, before) << p.what;
    before = p.done;
  }
  EXPECT_EQ(before, 1);
  EXPECT_TRUE(probe.all<StepDone>().empty()) << "the results of single runs are not emitted";
}

TEST(ScalingExperiment, PredictsWithoutMeasuring) {
  test::Probe probe;
  StartScaling request;
  request.training.model = "resnet18";
  request.measure = false;
  request.compute_s = 0.052;
  request.predict_devices = 16;
  request.modes = {ScalingMode::Weak};
  probe.run(*make_scaling_experiment(request));
  EXPECT_TRUE(probe.all<ScalingPoint>().empty());
  const auto predictions = probe.all<ScalingPrediction>();
  ASSERT_EQ(predictions.size(), 5U);
  EXPECT_EQ(predictions[4].devices, 16);
  EXPECT_EQ(predictions[4].batch, 4096);
  EXPECT_EQ(predictions[0].basis, "typed in: 52.0 ms for 256 images");
  EXPECT_DOUBLE_EQ(predictions[0].step_s, 0.052);
  EXPECT_GT(predictions[4].efficiency, 0.9);
}

TEST(ScalingExperiment, PredictsFromAReferenceFile) {
  const test::TempDir dir;
  StartScaling request;
  request.measure = false;
  request.reference_file = (dir.path() / "one.json").string();
  files::write_file(request.reference_file,
                    R"({"device":"a GPU","model":"mlp","batch":100,"step_s":0.5,"source":"x"})");
  request.training.model.clear();  // the model of the file
  request.training.batch = 200;
  test::Probe probe;
  probe.run(*make_scaling_experiment(request));
  const auto predictions = probe.all<ScalingPrediction>();
  ASSERT_EQ(predictions.size(), 5U);
  EXPECT_DOUBLE_EQ(predictions[0].step_s, 1.0) << "twice the images";
  EXPECT_TRUE(contains(predictions[0].basis, "a GPU")) << predictions[0].basis;
  request.training.model = "lenet";
  EXPECT_TRUE(contains(problem(request, Errc::InvalidArgument), "choose mlp as the model"));
}

TEST(ScalingExperiment, FixedPartOfAGivenTimeIsNotDivided) {
  StartScaling request;
  request.training.model = "mlp";
  request.measure = false;
  request.compute_s = 0.05;
  request.fixed_s = 0.01;
  request.predict_devices = 4;
  test::Probe probe;
  probe.run(*make_scaling_experiment(request));
  const auto predictions = probe.all<ScalingPrediction>();
  ASSERT_EQ(predictions.size(), 3U);
  EXPECT_EQ(predictions[0].basis, "typed in: 50.0 ms for 256 images, 10.0 ms of it fixed");
  EXPECT_DOUBLE_EQ(predictions[0].step_s, 0.05);
  EXPECT_NEAR(predictions[2].split.compute_s, 0.02, 1e-12);
  EXPECT_DOUBLE_EQ(predictions[2].fixed_s, 0.01);
}

TEST(ScalingExperiment, FitsTheFixedPartToFourBatchSizes) {
  test::Probe probe(2);
  StartScaling request = small_request();
  request.accuracy = false;
  request.predict_devices = 16;
  request.rounds = 1;
  probe.run(*make_scaling_experiment(request));
  EXPECT_TRUE(contains(probe.all<ScalingPrediction>().front().basis, "4 batch sizes"));
}

TEST(ScalingExperiment, DataParallelAddsWhatTheProcessRepeats) {
  StartScaling request;
  request.training.model = "resnet18";
  request.measure = false;
  request.compute_s = 0.05;
  request.predict_devices = 2;
  request.style = ParallelStyle::DataParallel;
  const auto second = [&request] {
    test::Probe probe;
    probe.run(*make_scaling_experiment(request));
    return probe.all<ScalingPrediction>().back();
  };
  EXPECT_GT(second().process_s, 1e-3) << "estimated";
  request.repeated_s = 0.002;
  EXPECT_DOUBLE_EQ(second().process_s, 0.002);
  request.reading_s = 0.2;
  EXPECT_DOUBLE_EQ(second().step_s, 0.2) << "limited by reading";
}

TEST(ScalingExperiment, ChecksTheModelWithoutMeasuring) {
  StartScaling request;
  request.check = true;
  test::Probe probe;
  probe.run(*make_scaling_experiment(request));
  ASSERT_EQ(probe.all<ScalingComparison>().size(), 1U);
  EXPECT_TRUE(probe.all<ScalingPoint>().empty());
  EXPECT_TRUE(probe.all<ScalingPrediction>().empty());
}

TEST(ScalingExperiment, RejectsInvalidRequests) {
  const auto refused = [](auto change, Errc code = Errc::InvalidArgument) {
    StartScaling request = small_request();
    change(request);
    return problem(request, code);
  };
  EXPECT_TRUE(contains(refused([](auto& r) { r.counts = {3}; }), "3; it must be 1 to 2"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.counts = {0}; }), "0; it must be 1 to 2"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.modes.clear(); }), "no mode"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.steps = 0; }), "timed steps is 0"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.rounds = 0; }), "rounds is 0"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.compute_s = -1.0; }), "above 0"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.measure = false; }), "enter it"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.fixed_s = 0.1; }), "was not given"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.compute_s = r.fixed_s = 0.1; }), "must be shorter"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.repeated_s = -1.0; }), "must be 0 or more"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.reading_s = -1.0; }), "must be 0 or more"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.training.batch = 400; }), "but there are 300"));
  EXPECT_TRUE(contains(refused([](auto& r) {
                         r.modes = {ScalingMode::Weak};
                         r.training.batch = 200;
                       }),
                       "steps of 400 images"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.link = "string"; }, Errc::NotFound), "'string'"));
  EXPECT_TRUE(contains(refused([](auto& r) { r.training.model = "vgg"; }, Errc::NotFound), "vgg"));
  EXPECT_TRUE(contains(refused(
                           [](auto& r) {
                             r.training.devices = {cpu(0), cpu(7)};
                           },
                           Errc::NotFound),
                       "cpu:7"));
  refused([](auto& r) { r.reference_file = "/nowhere/x.json"; }, Errc::NotFound);
}

TEST(ScalingExperiment, CancelsDuringARun) {
  test::Probe probe(2);
  StartScaling request = small_request();
  request.steps = 100000;
  test::message_of([&] { probe.run_until<Progress>(*make_scaling_experiment(request), 2); },
                   Errc::Cancelled);
  EXPECT_TRUE(probe.machine.at(cpu(0)).memory().list().empty());
  EXPECT_TRUE(probe.machine.at(cpu(1)).memory().list().empty());
}

}  // namespace
}  // namespace lab
