// The Scaling page: its texts, commands and states.
#include <gtest/gtest.h>

#include <span>

#include "compute/core/language.h"
#include "tests/support/catalogs.h"
#include "tests/ui/pages/scenes.h"
#include "ui/pages/scaling/scaling_parts.h"
#include "ui/pages/step_parts.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::parts_of;
using ui::ScalingResults;

constexpr auto kStrong = ScalingMode::Strong;
constexpr auto kWeak = ScalingMode::Weak;

ScalingResults results_of(std::initializer_list<ScalingPoint> points) {
  ScalingResults results;
  for (const ScalingPoint& p : points) results.add(p);
  return results;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ScalingPage, LeavesOutEmulatedGpusAndSaysSo) {
  MachineInfo machine = machine_of(2);
  DeviceInfo emulated;
  emulated.device = emulated_gpu();
  machine.devices.push_back(emulated);
  Lab lab{ui::Model(machine)};
  lab.open(Page::Scaling);
  EXPECT_TRUE(lab.visible("scaling/device/cpu:1"));
  EXPECT_FALSE(lab.visible("scaling/device/emu:0"));
  const ui::WidgetRect* const note = lab.backend.find("scaling/untimed");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->label, "emu:0: emulated: correct results; never timed");
  lab.click("scaling/run");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1U);
  EXPECT_EQ(lab.sent<StartScaling>()[0].training.devices, (std::vector{cpu(0), cpu(1)}));
}

TEST(ScalingWords, SummarisesTheResult) {
  const auto said =
      scaling_texts(results_of({scaling_point(kStrong, 1), scaling_point(kStrong, 2)}), kStrong)
          .measured;
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0],
            "A step takes 41.20 ms; divided evenly it would take 40.00 ms. The difference of "
            "1.20 ms: 410 µs of exposed all-reduce, 820 µs of waiting for the slowest device "
            "and 820 µs that the hidden all-reduce takes from computing, less 850 µs that "
            "faster work on smaller parts saves.");
  const auto results = results_of({scaling_point(kStrong, 1), scaling_point(kStrong, 2)});
  EXPECT_TRUE(holds(accuracy_sentence(results.measured(kStrong)), "81.27 % to 81.31 %"));
}

TEST(ScalingWords, WeakScalingIsComparedWithOneStep) {
  ScalingPoint two = scaling_point(kWeak, 2);
  two.split = {.compute_s = 0.0812, .all_reduce_s = 0.001, .exposed_s = 0.0005};
  const auto said = scaling_texts(results_of({scaling_point(kWeak, 1), two}), kWeak).measured;
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0],
            "A step takes 82.40 ms; one device takes 80.00 ms for its images. The difference of "
            "2.40 ms: 500 µs of exposed all-reduce, 500 µs that the hidden all-reduce takes from "
            "computing and 1.40 ms of slower parallel work.");
}

TEST(ScalingWords, ASmallPartIsNamedAndTheSumIsExact) {
  ScalingPoint two = scaling_point(kStrong, 2);
  two.step = timing(0.0395);
  two.split = {.compute_s = 0.0392, .all_reduce_s = 0.0002, .exposed_s = 0.00002};
  EXPECT_TRUE(holds(
      scaling_texts(results_of({scaling_point(kStrong, 1), two}), kStrong).measured[0],
      "it would take 40.00 ms. Faster work on smaller parts saves 700 µs, which outweighs 20 µs "
      "of exposed all-reduce and 180 µs that the hidden all-reduce takes from computing."));
}

TEST(ScalingWords, OneDeviceHasNoSpeedUp) {
  const auto said = scaling_texts(results_of({scaling_point(kStrong, 1)}), kStrong).measured;
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(holds(said[0], "requires a second device")) << said[0];
  const auto shared =
      scaling_texts(results_of({scaling_point(kStrong, 1), scaling_point(kStrong, 2, true)}),
                    kStrong)
          .measured;
  EXPECT_FALSE(holds(shared[0], "requires a second device")) << "one was measured: " << shared[0];
  ScalingResults first = results_of({scaling_point(kStrong, 1)});
  first.measured_with.training.devices = {cpu(0), cpu(1)};
  const std::string running = scaling_texts(first, kStrong).measured[0];
  EXPECT_FALSE(holds(running, "requires a second device")) << "one follows: " << running;
}

TEST(ScalingWords, ExcludesDevicesThatShareCores) {
  const auto said =
      scaling_texts(results_of({scaling_point(kStrong, 1), scaling_point(kStrong, 2),
                                scaling_point(kStrong, 4, true), scaling_point(kStrong, 16, true)}),
                    kStrong)
          .measured;
  EXPECT_TRUE(holds(said[0], "divided evenly")) << said[0];
  EXPECT_TRUE(holds(said[1], "4 and 16 devices exceed the number of cores: they cannot be faster"))
      << said[1];
}

TEST(ScalingWords, UnsteadyStepsMakeTheFiguresRough) {
  ScalingPoint one = scaling_point(kStrong, 1);
  one.step.unstable = true;
  const auto said = scaling_texts(results_of({one, scaling_point(kStrong, 2)}), kStrong).measured;
  EXPECT_TRUE(holds(said[0], "The run was unsteady: one device's steps took")) << said[0];
  EXPECT_FALSE(holds(said[0], "other programs")) << "none took anything: " << said[0];
}

TEST(ScalingWords, AFewSlowStepsAreNotUnsteady) {
  ScalingPoint two = scaling_point(kStrong, 2);
  two.step.p90_s = 1.8 * two.step.median_s;
  const auto said = scaling_texts(results_of({scaling_point(kStrong, 1), two}), kStrong);
  EXPECT_EQ(said.rough, "") << "the median is known";
}

TEST(ScalingWords, AnEvenDivisionHasNoDifference) {
  ScalingPoint two = scaling_point(kStrong, 2);
  two.step = timing(0.0401);
  const auto results = results_of({scaling_point(kStrong, 1), two});
  EXPECT_EQ(scaling_texts(results, kStrong).measured.back(),
            "The step divides evenly: it takes 40.1 ms.");
}

TEST(ScalingWords, ADisturbedRunIsNotExplained) {
  ScalingPoint two = scaling_point(kStrong, 2);
  two.step.p10_s = 0.035;
  two.step.p90_s = 0.060;
  ScalingResults results = results_of({scaling_point(kStrong, 1), two});
  results.others = 0.43;
  const auto said = scaling_texts(results, kStrong).measured;
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0],
            "The run was disturbed: other programs or the host took 43 % of the cores' time. "
            "Measure again when the machine is quiet.");
}

// The points of 1, 2 and 4 devices with these speed-ups.
ScalingResults with_speedups(std::initializer_list<double> speedups) {
  ScalingResults results;
  int devices = 1;
  for (const double speedup : speedups) {
    ScalingPoint p = scaling_point(kStrong, devices);
    p.speedup = speedup;
    p.step.p10_s = 0.99 * p.step.median_s;
    results.add(p);
    devices *= 2;
  }
  return results;
}

TEST(ScalingWords, NamesTheFastestNumberOfDevices) {
  const auto said = [](std::initializer_list<double> speedups) {
    return fastest_sentence(with_speedups(speedups).measured(kStrong));
  };
  EXPECT_EQ(said({1, 1.9, 3.1}), "");
  EXPECT_EQ(said({1, 1.9, 1.5}),
            "2 devices are the fastest, 1.90 times as fast as one; 4 devices reach 1.50.");
  EXPECT_EQ(said({1, 0.8, 0.7}), "1 device is the fastest: 4 devices reach 0.70 times its speed.");
  EXPECT_EQ(said({1, 1.51, 1.5}),
            "2 devices are as fast as 4 devices, within the spread of the steps.");
  ScalingResults undecided;
  for (const int devices : {1, 2}) {
    ScalingPoint point = scaling_point(kStrong, devices);
    point.speedup = devices == 1 ? 1 : 0.9;
    if (devices == 2) point.step.p10_s = 0.4 * point.step.median_s;
    point.step.unstable = devices == 2;
    undecided.add(point);
  }
  const std::string none = fastest_sentence(undecided.measured(kStrong));
  EXPECT_TRUE(none.starts_with("No conclusion: the steps put 2 devices between ")) << none;
  ScalingResults predicted;
  for (const int devices : {1, 2, 4, 8, 16}) {
    ScalingPrediction p = scaling_prediction(kStrong, devices);
    if (devices == 16) p.speedup = 5.2;
    predicted.add(p);
  }
  EXPECT_TRUE(
      holds(fastest_sentence(predicted.predicted(kStrong)), "8 devices would be the fastest"));
}

TEST(ScalingWords, EqualAccuracyIsReportedAsTheSame) {
  ScalingPoint one = scaling_point(kStrong, 1), two = scaling_point(kStrong, 2);
  one.test_acc = two.test_acc = 0.5;
  const std::string said = accuracy_sentence(results_of({one, two}).measured(kStrong));
  EXPECT_TRUE(holds(said, "the same on 1 and 2 devices: 50.00 %")) << said;
}

TEST(ScalingWords, ChanceAccuracyIsNotCompared) {
  ScalingPoint one = scaling_point(kStrong, 1), two = scaling_point(kStrong, 2);
  one.test_acc = two.test_acc = 0.1;
  const std::string said = accuracy_sentence(results_of({one, two}).measured(kStrong));
  EXPECT_TRUE(holds(said, "train for more steps")) << said;
}

TEST(ScalingWords, APredictionBesideOneDeviceIsNotChecked) {
  ScalingResults results = results_of({scaling_point(kStrong, 1)});
  EXPECT_EQ(model_error_sentence(results, kStrong), "");
  results.add(scaling_prediction(kStrong, 16));
  EXPECT_TRUE(holds(model_error_sentence(results, kStrong), "Not checked"));
  results.add(scaling_point(kStrong, 2));
  EXPECT_EQ(model_error_sentence(results, kStrong), "") << "measured, but not comparable";
}

TEST(ScalingWords, UnsteadyStepsCheckNoModel) {
  ScalingPoint one = scaling_point(kStrong, 1), two = scaling_point(kStrong, 2);
  ScalingResults results = results_of({one, two});
  results.add(scaling_prediction(kStrong, 16));
  ScalingPrediction checked = scaling_prediction(kStrong, 2);
  checked.measured_step_s = 1.02 * checked.step_s;
  results.add(checked);
  EXPECT_TRUE(holds(model_error_sentence(results, kStrong), "checked against")) << "steady";
  two.step.unstable = true;
  results.add(two);
  EXPECT_TRUE(holds(model_error_sentence(results, kStrong), "too unsteady"));
}

TEST(ScalingWords, PredictionsAreMarked) {
  ScalingResults results;
  results.add(scaling_prediction(kStrong, 16));
  const std::string said = scaling_texts(results, kStrong).predicted;
  EXPECT_TRUE(holds(said, "over NVLink 4")) << said;
  EXPECT_TRUE(holds(said, "measured on cpu:0")) << said;
  EXPECT_TRUE(scaling_texts(results, kStrong).measured.empty());
}

TEST(ScalingWords, PredictionNamesTheCosts) {
  ScalingResults results;
  results.request.style = ParallelStyle::DataParallel;
  ScalingPrediction p = scaling_prediction(kStrong, 2);
  p.process_s = 0.009;
  p.fixed_s = 0.004;
  results.add(p);
  const std::string said = scaling_texts(results, kStrong).predicted;
  EXPECT_TRUE(holds(said, "to send parameters and gradients over NVLink 4")) << said;
  EXPECT_TRUE(holds(said, "The devices wait 9.00 ms for the process")) << said;
  EXPECT_TRUE(holds(said, "4.00 ms of every step is fixed")) << said;
  EXPECT_TRUE(holds(describe(results, p), "waiting for the process\t9.00 ms"));
  EXPECT_NEAR(parts_of(p).wait_s, 0.009, 1e-12);
}

TEST(ScalingWords, PredictionIsWithheldIfTheModelMissesTheRuns) {
  ScalingPrediction check = scaling_check(kStrong, 2);
  check.step_s = 0.7 * *check.measured_step_s;
  const std::string why = why_withheld({scaling_check(kStrong, 1), check});
  EXPECT_TRUE(holds(why, "at 2 devices the model was 43 % faster than measured"))
      << why << ": 1 / 0.7 of the rate";
  EXPECT_TRUE(why_withheld({scaling_check(kStrong, 1), scaling_check(kStrong, 2)}).empty());
  ScalingPrediction p = scaling_prediction(kStrong, 16);
  p.withheld = why;
  ScalingResults results;
  results.add(p);
  results.add(check);
  EXPECT_TRUE(results.predicted(kStrong).points.empty());
  EXPECT_TRUE(results.has_prediction());
  const std::string said = scaling_texts(results, kStrong).predicted;
  EXPECT_TRUE(said.starts_with("No prediction: " + why + ".")) << said;
  EXPECT_TRUE(holds(said, "Measure again with a larger batch")) << said;
  results.add(scaling_point(kStrong, 1));
  results.others = 0.2;
  const std::string disturbed = scaling_texts(results, kStrong).predicted;
  EXPECT_TRUE(holds(disturbed, "the steps varied too much to check it")) << disturbed;
}

TEST(ScalingWords, PredictionAloneIsCheckedByTheEarlierRuns) {
  ScalingResults earlier = results_of({scaling_point(kStrong, 1), scaling_point(kStrong, 2)});
  ScalingPrediction check = scaling_check(kStrong, 2);
  check.step_s = 0.7 * *check.measured_step_s;
  earlier.add(check);
  ScalingResults results;
  results.request.measure = false;
  results.request.compute_s = scaling_point(kStrong, 1).step.median_s;
  results.keep_measured(earlier);
  results.add(scaling_prediction(kStrong, 16));
  EXPECT_TRUE(holds(scaling_texts(results, kStrong).predicted, "No prediction"));
  results.request.compute_s = 1;
  results.add(scaling_prediction(kStrong, 16));
  EXPECT_FALSE(holds(scaling_texts(results, kStrong).predicted, "No prediction"))
      << "another machine's step";
}

TEST(ScalingPage, ComparesTheModelWithPublishedFigures) {
  EXPECT_TRUE(ui::check_sentence({}).empty());
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 2400});
  lab.open(Page::Scaling);
  const ui::WidgetRect* said = lab.backend.find("scaling/check_sentence");
  ASSERT_NE(said, nullptr);
  EXPECT_TRUE(holds(said->label, "Over 2 published training rates (first table)")) << said->label;
  EXPECT_TRUE(holds(said->label, "2.7 %, the worst 10.8 %")) << said->label;
  EXPECT_TRUE(holds(said->label, "Over 1 that were added later")) << said->label;
  EXPECT_FALSE(lab.visible("scaling/check_table/1")) << "folded";
  lab.click("scaling/show_check");
  EXPECT_EQ(lab.backend.find("scaling/source/1")->label, "1: where it was published");
  EXPECT_TRUE(lab.visible("scaling/check_table/1"));
  EXPECT_TRUE(holds(lab.backend.find("scaling/check_table/1")->value, "\t5600\t"));
  EXPECT_TRUE(holds(lab.backend.find("scaling/check_more/0")->value, "\t22400\t"))
      << "no separators, as in a number of four digits";
}

TEST(ScalingWords, EarlierStepNamesItsDevice) {
  ScalingResults earlier = results_of({scaling_point(kStrong, 1)});
  earlier.measured_with.training.devices = {cpu(1)};
  ScalingResults results;
  results.request.training.devices = {cpu(1), cpu(0)};
  results.request.measure = false;
  results.request.compute_s = earlier.measured(kStrong).at(1)->step.median_s;
  results.keep_measured(earlier);
  EXPECT_EQ(basis_text(results, scaling_prediction(kStrong, 16)),
            "measured earlier on cpu:1: 80.0 ms for 256 images");
}

TEST(ScalingWords, TheModelsErrorHasASign) {
  ScalingResults results;
  for (const int devices : {1, 2, 4}) {
    ScalingPrediction p = scaling_check(kStrong, devices);
    p.measured_step_s = p.step_s / (devices == 2 ? 0.97 : 1.05);
    results.add(p);
  }
  const std::string said = model_error_sentence(results, kStrong);
  EXPECT_TRUE(holds(said, "3.1 % too fast at 2 devices and 4.8 % too slow at 4")) << said;
}

TEST(ScalingWords, AnErrorThatWithholdsThePredictionIsStatedOnce) {
  ScalingResults results;
  ScalingPrediction check = scaling_check(kStrong, 2);
  check.measured_step_s = check.step_s / 0.6;
  results.add(check);
  EXPECT_FALSE(model_error_sentence(results, kStrong).empty());
  ScalingPrediction withheld = scaling_prediction(kStrong, 16);
  withheld.withheld = why_withheld({check});
  results.add(withheld);
  EXPECT_TRUE(holds(scaling_texts(results, kStrong).predicted, "67 % faster"))
      << scaling_texts(results, kStrong).predicted;
  EXPECT_TRUE(model_error_sentence(results, kStrong).empty());
}

TEST(ScalingWords, PartsOfAStepNeverExceedIt) {
  StepSplit split{.compute_s = 8, .all_reduce_s = 5, .exposed_s = 1, .imbalance_s = 0.5};
  EXPECT_EQ(parts_of(split, 9.5).hidden_s, 0) << "overlapped with compute";
  EXPECT_EQ(parts_of(split, 13.5).hidden_s, 4) << "not overlapped";
  EXPECT_EQ(parts_of(split, 20).sum(), 13.5);
}

TEST(ScalingPage, EveryStateHasItsWidgets) {
  Lab lab(make_scene(Page::Scaling, Scene::Empty), 1, {1280, 1000});
  lab.open(Page::Scaling);
  EXPECT_TRUE(lab.visible("scaling/empty"));
  lab.show(make_scene(Page::Scaling, Scene::Running));
  EXPECT_TRUE(lab.visible("scaling/figure/step"));
  EXPECT_TRUE(lab.visible("scaling/plot/speedup"));
  EXPECT_TRUE(lab.visible("status/cancel"));
  lab.show(make_scene(Page::Scaling, Scene::Done));
  for (const char* path :
       {"scaling/figure/speedup", "scaling/figure/prediction", "scaling/sentence/0",
        "scaling/prediction", "scaling/model_error", "scaling/plot/efficiency", "scaling/steps/1",
        "scaling/accuracy_sentence"}) {
    EXPECT_TRUE(lab.visible(path)) << path;
  }
  EXPECT_TRUE(holds(lab.backend.find("scaling/predicted")->label, "not measured"));
  EXPECT_EQ(lab.backend.find("scaling/predicted")->value, "16 devices");
  EXPECT_TRUE(lab.visible("scaling/plot/speedup/legend/prediction"));
  EXPECT_TRUE(lab.visible("scaling/plot/speedup/legend/measured"));
  lab.click("scaling/plot/speedup/whole_legend");
  EXPECT_TRUE(lab.visible("scaling/plot/speedup/legend/more devices than cores"));
  lab.show(make_scene(Page::Scaling, Scene::Failed));
  EXPECT_TRUE(lab.visible("scaling/error"));
  EXPECT_TRUE(lab.visible("scaling/retry"));
}

TEST(ScalingPage, OneDeviceIsSplitFirst) {
  Lab lab(ui::Model(machine_of(1)), 1, {1280, 1000});
  lab.open(Page::Scaling);
  EXPECT_EQ(lab.backend.find("scaling/empty")->label, "Split the CPU into 2 devices");
  EXPECT_TRUE(lab.visible("scaling/predict_one"));
  lab.click("scaling/empty");
  ASSERT_TRUE(lab.view.confirm_restart);
  EXPECT_EQ(lab.view.confirm_restart->cpu_devices, 2);
}

TEST(ScalingPage, AReplacedMeasurementCanBeSeenAgain) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 2400});
  lab.open(Page::Scaling);
  EXPECT_FALSE(lab.visible("scaling/replaced"));
  lab.model.apply(event(2, 1, JobStarted{"Scaling", StartScaling{}}));
  lab.model.apply(event(2, 2, scaling_point(kStrong, 1)));
  lab.model.apply(event(2, 3, JobFinished{}));
  lab.frames(6);
  EXPECT_FALSE(lab.visible("scaling/steps/2"));
  lab.click("scaling/replaced");
  EXPECT_TRUE(lab.visible("scaling/steps/2"));
  lab.click("scaling/replaced");
  EXPECT_FALSE(lab.visible("scaling/steps/2"));
  lab.click("scaling/replaced");
  lab.model.apply(event(3, 4, JobStarted{"Scaling", StartScaling{}}));
  lab.model.apply(event(3, 5, scaling_point(kStrong, 1)));
  lab.frames(6);
  EXPECT_FALSE(lab.visible("scaling/steps/2")) << "a new run shows itself";
}

// One device, and two whose steps take 41.2 ms at the median.
ui::Model varying_steps(double p10_s, double p90_s, bool unstable = false) {
  ScalingPoint two = scaling_point(kStrong, 2);
  two.step.p10_s = p10_s;
  two.step.p90_s = p90_s;
  two.step.unstable = unstable;
  ui::Model model(machine_of(2));
  model.apply(event(1, 1, JobStarted{"Scaling", StartScaling{}}));
  model.apply(event(1, 2, scaling_point(kStrong, 1)));
  model.apply(event(1, 3, two));
  model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
  return model;
}

TEST(ScalingPage, NothingMovesWhenTheJobEnds) {
  for (const ImVec2 size : {ImVec2(1280, 720), ImVec2(1920, 1080)}) {
    ui::Model model(machine_of(2));
    StartScaling request;
    request.training.devices = {cpu(0), cpu(1)};
    Lab lab(model, 1, size);
    lab.open(Page::Scaling);
    lab.model.apply(event(1, 1, JobStarted{"Scaling", request}));
    lab.model.apply(event(1, 2, scaling_point(kStrong, 1)));
    lab.frames(6);
    EXPECT_TRUE(lab.visible("scaling/predicted"));
    const float speedup = lab.backend.find("scaling/speedup")->min.y;
    const float steps = lab.backend.find("scaling/speedup")->max.y;
    lab.model.apply(event(1, 2, scaling_point(kStrong, 2)));
    for (const int devices : {1, 2, 4, 8, 16}) {
      lab.model.apply(event(1, 3, scaling_prediction(kStrong, devices)));
    }
    lab.model.apply(event(1, 3, CoresShared{0.43}));
    lab.model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
    lab.frames(6);
    EXPECT_EQ(lab.backend.find("scaling/speedup")->min.y, speedup);
    EXPECT_EQ(lab.backend.find("scaling/speedup")->max.y, steps);
  }
}

TEST(ScalingPage, TheBarsOfPredictionsHaveTheirPlaceFromTheStart) {
  for (const bool withheld : {false, true}) {
    StartScaling request;
    request.training.devices = {cpu(0), cpu(1)};
    Lab lab(ui::Model(machine_of(2)), 1, {1280, 1300});
    lab.open(Page::Scaling);
    lab.model.apply(event(1, 1, JobStarted{"Scaling", request}));
    lab.model.apply(event(1, 2, scaling_point(kStrong, 1)));
    lab.frames(6);
    const auto height = [&] {
      const ui::WidgetRect* card = lab.backend.find("scaling/steps_card");
      return card == nullptr ? 0 : card->max.y - card->min.y;
    };
    const float before = height();
    EXPECT_GT(before, 0);
    lab.model.apply(event(1, 2, scaling_point(kStrong, 2)));
    for (const int devices : {1, 2, 4, 8, 16}) {
      ScalingPrediction prediction = scaling_prediction(kStrong, devices);
      if (withheld) prediction.withheld = "the model is 67 % faster";
      lab.model.apply(event(1, 3, prediction));
    }
    lab.model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
    lab.frames(6);
    EXPECT_EQ(height(), before);
    EXPECT_EQ(lab.visible("scaling/steps/16/prediction"), !withheld);
    EXPECT_EQ(lab.visible("scaling/steps_withheld"), withheld);
  }
}

TEST(ScalingPage, FiguresOfVaryingStepsHaveARange) {
  const auto range_is_shown = [](double p10_s, double p90_s, bool unstable = false) {
    Lab lab(varying_steps(p10_s, p90_s, unstable), 1, {1280, 1000});
    lab.open(Page::Scaling);
    return lab.backend.find("scaling/figure/speedup")->value;
  };
  EXPECT_EQ(range_is_shown(0.0410, 0.0414), "1.94 times");
  EXPECT_EQ(range_is_shown(0.0400, 0.0500), "1.94 times, 1.60 to 2.00");
  EXPECT_EQ(range_is_shown(0.0400, 0.1000), "1.94 times, 0.80 to 2.00")
      << "slow steps hide no median";
  EXPECT_EQ(range_is_shown(0.0400, 0.1000, /*unstable=*/true), "1.94 times, 0.80 to 2.00");
}

TEST(ScalingPage, LongErrorBarsDoNotStretchTheAxes) {
  Lab lab(varying_steps(0.004, 0.1), 1, {1280, 1000});
  lab.open(Page::Scaling);
  for (const char* path : {"scaling/plot/speedup", "scaling/plot/efficiency"}) {
    const std::string ranges = lab.backend.find(path)->value;
    EXPECT_LE(std::stod(ranges.substr(ranges.rfind("..") + 2)), 2.5) << ranges;
  }
}

TEST(ScalingPage, AWithheldPredictionHasNoFigures) {
  ui::Model model(machine_of(2));
  model.apply(event(1, 1, JobStarted{"Scaling", StartScaling{}}));
  for (const int devices : {1, 2}) model.apply(event(1, 2, scaling_point(kStrong, devices)));
  ScalingPrediction check = scaling_check(kStrong, 2), prediction = scaling_prediction(kStrong, 16);
  check.measured_step_s = check.step_s / 0.6;
  prediction.withheld = why_withheld({check});
  model.apply(event(1, 3, prediction));
  model.apply(event(1, 3, scaling_check(kStrong, 1)));
  model.apply(event(1, 3, check));
  model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Scaling);
  EXPECT_TRUE(holds(lab.backend.find("scaling/type_step/sentence")->label, "No prediction"));
  EXPECT_FALSE(lab.visible("scaling/plot/speedup/legend/model"));
  EXPECT_FALSE(lab.visible("scaling/figure/check"));
  EXPECT_FALSE(lab.visible("scaling/figure/prediction"));
  EXPECT_TRUE(lab.visible("scaling/measure_again"));
  EXPECT_FALSE(lab.backend.find("scaling/predict")->enabled) << "it would be withheld again";
  lab.click("scaling/type_step");
  EXPECT_TRUE(lab.visible("scaling/compute_ms"));
  EXPECT_NEAR(lab.view.forms.scaling.compute_ms, 1e3 * scaling_point(kStrong, 1).step.median_s,
              1e-9)
      << "as measured";
}

TEST(ScalingPage, ABatchWithFewerImagesThanDevicesIsRemarked) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1000});
  lab.open(Page::Scaling);
  lab.view.forms.scaling.request.training.batch = 16;
  lab.frames(3);
  EXPECT_FALSE(lab.visible("scaling/small_batch"));
  lab.view.forms.scaling.request.training.batch = 2;
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("scaling/small_batch")->label,
            "A batch of 2 images keeps only 2 of 16 devices busy.");
}

TEST(ScalingPage, WeakScalingHasATab) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1000});
  lab.open(Page::Scaling);
  const auto said = [&] { return lab.backend.find("scaling/sentence/0")->label; };
  EXPECT_TRUE(holds(said(), "divided evenly")) << said();
  lab.click("scaling/shown_mode/Weak: a batch for each device");
  EXPECT_TRUE(holds(said(), "one device takes")) << said();
}

TEST(ScalingPage, PredictionsShowNoMeasurement) {
  ui::Model model(machine_of(1));
  StartScaling request;
  request.measure = false;
  request.compute_s = 0.08;
  model.apply(event(1, 1, JobStarted{"Prediction", request}));
  for (const int devices : {1, 2, 4, 8, 16}) {
    model.apply(event(1, 2, scaling_prediction(kStrong, devices)));
  }
  model.apply(event(1, 3, JobFinished{Outcome::Done, 1, ""}));
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Scaling);
  EXPECT_TRUE(lab.visible("scaling/figure/prediction"));
  EXPECT_TRUE(lab.visible("scaling/steps/16/prediction"));
  EXPECT_FALSE(lab.visible("scaling/figure/speedup"));
  EXPECT_FALSE(lab.visible("scaling/accuracy_card"));
  EXPECT_FALSE(lab.visible("scaling/plot/speedup/legend/measured"));
}

TEST(ScalingPage, BarTooltipShowsTheSplit) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1000});
  lab.open(Page::Scaling);
  const ui::WidgetRect* bar = lab.backend.find("scaling/steps/2");
  ASSERT_NE(bar, nullptr);
  EXPECT_EQ(bar->value, "41.2 ms");
  lab.backend.move_to(NullBackend::centre(*bar));
  lab.frames(40);
  const ui::WidgetRect* tip = lab.backend.find("tooltip");
  ASSERT_NE(tip, nullptr);
  EXPECT_TRUE(holds(tip->value, "all-reduce, exposed\t412 µs")) << tip->value;
  EXPECT_TRUE(holds(tip->value, "repetitions\t31 after")) << tip->value;
}

TEST(ScalingPage, PredictedBarsAreHatchedAndKeepTheirColours) {
  for (const auto mode : {ui::ThemeMode::Dark, ui::ThemeMode::Light}) {
    Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1600}, mode);
    lab.open(Page::Scaling);
    const ui::WidgetRect& measured = *lab.backend.find("scaling/steps/2");
    const ui::WidgetRect& predicted = *lab.backend.find("scaling/steps/16/prediction");
    const ui::Theme& theme = *lab.backend.ui.theme;
    const ImU32 exposed = step_part_color(theme, ui::StepPart::Exposed);
    EXPECT_GT(drawn_in(measured, exposed), 0U);
    EXPECT_GT(drawn_in(predicted, exposed), 0U) << "as in a measured bar";
    EXPECT_EQ(drawn_in(measured, theme.card), 0U);
    EXPECT_GT(drawn_in(predicted, theme.card), 8U) << "hatched";
    EXPECT_EQ(lab.backend.find("scaling/steps_legend")->value, "with predictions");
  }
}

TEST(ScalingPage, ADisturbedRunSaysSoWithItsFigures) {
  ui::Model model(machine_of(2));
  model.apply(event(1, 1, JobStarted{"Scaling", StartScaling{}}));
  for (const int devices : {1, 2}) model.apply(event(1, 2, scaling_point(kStrong, devices)));
  model.apply(event(1, 3, CoresShared{0.43}));
  model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Scaling);
  EXPECT_TRUE(holds(lab.backend.find("scaling/sentence/0")->label, "disturbed"));
  EXPECT_FALSE(lab.visible("scaling/others")) << "said once";
  EXPECT_FALSE(lab.visible("scaling/figure/hidden")) << "a detail";
}

TEST(ScalingPage, PredictedBarTooltipShowsTheOverlap) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1600});
  lab.open(Page::Scaling);
  const ui::WidgetRect* bar = lab.backend.find("scaling/steps/16/prediction");
  ASSERT_NE(bar, nullptr);
  lab.backend.move_to(NullBackend::centre(*bar));
  lab.frames(40);
  const ui::WidgetRect* tip = lab.backend.find("tooltip");
  ASSERT_NE(tip, nullptr);
  EXPECT_TRUE(holds(tip->value, "all-reduce, hidden\t200 µs, overlapped with compute"))
      << tip->value;
}

TEST(ScalingPage, UnsteadyIsJudgedAlikeEverywhere) {
  Lab lab(varying_steps(0.0400, 0.1000, /*unstable=*/true), 1, {1280, 1600});
  lab.open(Page::Scaling);
  EXPECT_EQ(lab.backend.find("scaling/steps/2")->value, "41.2 ms (over ±50 %)");
  EXPECT_EQ(lab.backend.find("scaling/steps/1")->value, "80.0 ms");
  const ImU32 warning = lab.backend.ui.theme->warning;
  EXPECT_GT(drawn_in(*lab.backend.find("scaling/plot/speedup"), warning), 0U);
  EXPECT_TRUE(holds(lab.model.log().back().text, "unsteady")) << lab.model.log().back().text;
  lab.click("scaling/show_table");
  lab.frames(3);
  EXPECT_TRUE(lab.backend.find("scaling/table/1")->value.ends_with("unsteady"))
      << lab.backend.find("scaling/table/1")->value;
}

// A run while other programs run, and a prediction from it.
ui::Model disturbed_run(int devices) {
  ui::Model model(machine_of(2));
  model.apply(event(1, 1, JobStarted{"Scaling", StartScaling{}}));
  for (int n = 1; n <= devices; ++n) {
    ScalingPoint point = scaling_point(kStrong, n);
    point.step.p10_s = 0.54321 * point.step.median_s;
    point.step.p90_s = 2.12345 * point.step.median_s;
    point.step.unstable = true;
    model.apply(event(1, 2, point));
  }
  model.apply(event(1, 3, scaling_prediction(kStrong, 16)));
  model.apply(event(1, 4, CoresShared{0.3}));
  model.apply(event(1, 5, JobFinished{Outcome::Done, 1, ""}));
  return model;
}

TEST(ScalingPage, NamesNoLimitOfARoughPrediction) {
  Lab lab(disturbed_run(2), 1, {1280, 1600});
  lab.open(Page::Scaling);
  EXPECT_EQ(lab.backend.find("scaling/sentence/0")->kind, "warning");
  const std::string said = lab.backend.find("scaling/prediction")->label;
  EXPECT_TRUE(holds(said, "too unsteady to name a limit")) << said;
  EXPECT_FALSE(holds(said, "Limit:")) << said;
  EXPECT_TRUE(holds(lab.backend.find("scaling/figure/prediction")->value, " to "))
      << lab.backend.find("scaling/figure/prediction")->value;
  lab.show(varying_steps(0.0410, 0.0414));
  EXPECT_NE(lab.backend.find("scaling/sentence/0")->kind, "warning");
}

TEST(ScalingPage, OneDisturbedDeviceHasRangesThatFit) {
  Lab lab(disturbed_run(1), 1, {1280, 720});
  lab.open(Page::Scaling);
  EXPECT_TRUE(holds(lab.backend.find("scaling/figure/step")->value, "ms to"))
      << lab.backend.find("scaling/figure/step")->value;
  EXPECT_TRUE(holds(lab.backend.find("scaling/figure/images")->value, " to "));
  for (const std::string& cut : lab.backend.fonts.cut_texts()) {
    EXPECT_FALSE(holds(cut, " to ")) << cut;
  }
}

TEST(ScalingPage, ADisturbedRunOffersWaysOn) {
  Lab lab(varying_steps(0.0400, 0.1000, /*unstable=*/true), 1, {1280, 1600});
  lab.open(Page::Scaling);
  lab.click("scaling/measure_again");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1u);
  EXPECT_EQ(lab.sent<StartScaling>()[0].steps, 20);
  lab.out.clear();
  lab.view.sent_after = -1;
  lab.click("scaling/measure_longer");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1u);
  EXPECT_EQ(lab.sent<StartScaling>()[0].steps, 60);
  Lab steady(varying_steps(0.0410, 0.0414), 1, {1280, 1600});
  steady.open(Page::Scaling);
  const ImU32 warning = steady.backend.ui.theme->warning;
  EXPECT_EQ(drawn_in(*steady.backend.find("scaling/plot/speedup"), warning), 0U);
  EXPECT_FALSE(steady.visible("scaling/measure_again"));
}

TEST(ScalingPage, APointsTooltipNamesAllCurves) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1600});
  lab.open(Page::Scaling);
  const ui::WidgetRect& plot = *lab.backend.find("scaling/plot/speedup");
  std::string tip;
  for (float x = plot.min.x + 50; x < plot.max.x && !holds(tip, "2 devices\n"); x += 5) {
    lab.backend.move_to({x, (plot.min.y + plot.max.y) / 2});
    lab.frames(3);
    const ui::WidgetRect* found = lab.backend.ui.widgets.find("scaling/plot/speedup/tooltip");
    tip = found == nullptr ? "" : found->value;
  }
  for (const char* part : {"ideal\t2.00 times", "prediction\t", "measured\t1.94 times"}) {
    EXPECT_TRUE(holds(tip, part)) << tip;
  }
}

TEST(ScalingPage, APredictionOfOtherSettingsSaysSo) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1600});
  lab.open(Page::Scaling);
  lab.view.forms.scaling.request.link = StartScaling{}.link;
  lab.frames(3);
  EXPECT_FALSE(lab.visible("scaling/other_settings"));
  lab.view.forms.scaling.request.link = "pcie3";
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("scaling/other_settings")->label,
            "For other settings: LeNet, batch 256, 16 devices over NVLink 4.");
  lab.click("scaling/predict_again");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1u);
  EXPECT_FALSE(lab.sent<StartScaling>()[0].measure);
  EXPECT_EQ(lab.sent<StartScaling>()[0].link, "pcie3");
}

TEST(ScalingPage, TheEfficiencyAxisShowsAllShares) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1600});
  lab.open(Page::Scaling);
  EXPECT_TRUE(holds(lab.backend.find("scaling/plot/efficiency")->value, "y 0..1.05"))
      << lab.backend.find("scaling/plot/efficiency")->value;
  lab.show(make_scene(Page::Scaling, Scene::Empty));
  EXPECT_FALSE(lab.visible("scaling/check")) << "before there is a prediction to judge";
}

// Over a plot, the wheel scrolls the page; with Ctrl it zooms the plot.
TEST(ScalingPage, WheelScrollsThePageOverAPlot) {
  Lab lab(make_scene(Page::Scaling, Scene::Done));
  lab.open(Page::Scaling);
  const ui::WidgetRect* plot = lab.backend.find("scaling/plot/speedup");
  ASSERT_NE(plot, nullptr);
  const float before = plot->min.y;
  const std::string view = plot->value;
  const ImVec2 middle = NullBackend::centre(*plot);
  lab.backend.move_to(middle);
  lab.frames(2);
  lab.backend.wheel(-1);
  lab.frames(2);
  EXPECT_LT(lab.backend.find("scaling/plot/speedup")->min.y, before);
  EXPECT_EQ(lab.backend.find("scaling/plot/speedup")->value, view);
  const float scrolled = lab.backend.find("scaling/plot/speedup")->min.y;
  lab.backend.control(true);
  lab.frames(2);
  lab.backend.wheel(2);
  lab.frames(2);
  lab.backend.control(false);
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("scaling/plot/speedup")->min.y, scrolled);
  EXPECT_NE(lab.backend.find("scaling/plot/speedup")->value, view);
}

}  // namespace
}  // namespace lab::test
