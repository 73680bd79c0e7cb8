// The roofline of the Matmul page: its states, choices and explanations.
#include <gtest/gtest.h>

#include <iterator>

#include "tests/ui/pages/scenes.h"
#include "ui/model/job_result.h"
#include "ui/pages/matmul/matmul_parts.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

const ImVec2 kLarge{1920, 1400};   // shows the whole page without scrolling
const ImVec2 kStacked{700, 4000};  // the same, with the curves below the ladder

Model matmul_job(std::initializer_list<Payload> payloads) {
  Model model = make_scene(Page::Matmul, Scene::Empty);
  model.apply(event(1, 1, JobStarted{"Matmul ladder on cpu:0", StartMatmul{}}));
  for (const Payload& payload : payloads) model.apply(event(1, 2, payload));
  return model;
}

std::string tooltip_at(Lab& lab, ImVec2 at, const char* path) {
  lab.backend.move_to(at);
  lab.frames(60);
  const ui::WidgetRect* tip = lab.backend.ui.widgets.find(path);
  return tip == nullptr ? "" : tip->value;
}

TEST(MatmulFailures, AreListedBesideTheResults) {
  const RungFailed failed{cpu(), "tiled", Precision::F32, 512, "the error of C[1,2] is too large"};
  Model model = matmul_job({matmul_sample(cpu(), "simd", 64, 100), failed});
  ASSERT_EQ(model.matmul().current.failed.size(), 1U);
  EXPECT_EQ(model.log().back().severity, Severity::Error);
  EXPECT_NE(model.log().back().text.find("tiled in f32 at 512 on cpu:0 failed"), std::string::npos);
  Lab lab(std::move(model), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/failed"));
  const ui::WidgetRect* box = lab.backend.ui.widgets.find("matmul/failed/0");
  ASSERT_NE(box, nullptr);
  EXPECT_NE(box->label.find("C[1,2]"), std::string::npos) << box->label;
  const ui::WidgetRect* bar = lab.backend.ui.widgets.find("matmul/ladder/cpu:0/tiled");
  ASSERT_NE(bar, nullptr);
  EXPECT_EQ(bar->value, "failed");
}

TEST(MatmulLadder, AKernelThatWasNotMeasuredHasNoBar) {
  Lab lab(matmul_job({matmul_sample(cpu(), "simd", 64, 100), JobFinished{}}), 1, kLarge);
  lab.open(Page::Matmul);
  const ui::WidgetRect* bar = lab.backend.ui.widgets.find("matmul/ladder/cpu:0/tiled");
  ASSERT_NE(bar, nullptr);
  EXPECT_EQ(bar->value, "not measured");
  const std::string tip = tooltip_at(lab, NullBackend::centre(*bar), "tooltip");
  EXPECT_TRUE(tip.ends_with("not measured")) << tip;
}

TEST(MatmulRoofline, IsHiddenOnAnEmptyPage) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_FALSE(lab.visible("matmul/roofline_card"));
}

TEST(MatmulRoofline, ShowsCeilingsThenKernels) {
  PeakSample peak;
  peak.gflops = 500;
  Lab lab(matmul_job({peak}), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/roofline_card"));
  EXPECT_FALSE(lab.visible("matmul/plot/roofline")) << "no ceilings yet";
  lab.show(matmul_job({peak, ceilings_measured(cpu())}));
  EXPECT_TRUE(lab.visible("matmul/plot/roofline"));
  EXPECT_TRUE(lab.visible("matmul/ceilings/5")) << "two peaks and four levels";
  EXPECT_FALSE(lab.visible("matmul/roofline/size")) << "nothing to choose yet";
  lab.show(matmul_job({peak, ceilings_measured(cpu()), matmul_sample(cpu(), "simd", 64, 100)}));
  EXPECT_TRUE(lab.visible("matmul/roofline/size"));
  EXPECT_TRUE(lab.visible("matmul/plot/roofline/legend/The rung simd"));
}

TEST(MatmulRoofline, AcceptsSamplesWithoutCeilings) {
  Lab lab(matmul_job({matmul_sample(cpu(), "simd", 64, 100)}), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/roofline_card"));
  EXPECT_FALSE(lab.visible("matmul/plot/roofline"));
}

TEST(MatmulRoofline, IsHiddenInALiveRun) {
  Model model = make_scene(Page::Matmul, Scene::Empty);
  StartMatmul request;
  request.live = true;
  model.apply(event(1, 1, JobStarted{"Live", request}));
  model.apply(event(1, 2, matmul_sample(cpu(), "simd", 64, 100)));
  Lab lab(std::move(model), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/live_card"));
  EXPECT_EQ(lab.backend.find("matmul/live_card")->value, "cpu:0, N = 64");
  EXPECT_FALSE(lab.visible("matmul/roofline_card"));
}

TEST(MatmulLive, ShowsTheLastSampleTheMedianAndTheShareOfThePeak) {
  Model model = make_scene(Page::Matmul, Scene::Empty);
  StartMatmul request;
  request.live = true;
  model.apply(event(1, 1, RungInfo{cpu(), "simd", "SIMD micro-kernel", "What it adds."}));
  model.apply(event(1, 1, JobStarted{"Live", request}));
  PeakSample peak;
  peak.gflops = 500;
  model.apply(event(1, 1, peak));
  for (const double gflops : {100.0, 200.0, 90.0}) {
    model.apply(event(1, 2, matmul_sample(cpu(), "simd", 512, gflops)));
  }
  Lab lab(std::move(model), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/live_table/0")->value,
            "SIMD micro-kernel\t90.0 GFLOP/s\t100 GFLOP/s\t90.0 GFLOP/s to 200 GFLOP/s\t20 %");
}

TEST(MatmulTabs, ALiveRunKeepsTheLadder) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kLarge);
  lab.open(Page::Matmul);
  lab.view.forms.matmul.live_size = 256;
  lab.click("matmul/tab/Live");
  lab.click("matmul/live");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1U);
  const StartMatmul request = lab.sent<StartMatmul>()[0];
  EXPECT_EQ(request.sizes, std::vector<std::int64_t>{256});
  lab.model.apply(event(2, 1, JobStarted{"Live", request}));
  lab.model.apply(event(2, 2, matmul_sample(cpu(), "simd", 256, 100)));
  lab.model.apply(event(2, 3, JobFinished{}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("matmul/live_card"));
  lab.click("matmul/tab/Ladder");
  EXPECT_TRUE(lab.visible("matmul/ladder/cpu:0/naive"));
  EXPECT_FALSE(lab.visible("matmul/live_card"));
}

TEST(MatmulTabs, AReplacedLadderCanBeSeenAgain) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kStacked);
  lab.open(Page::Matmul);
  EXPECT_FALSE(lab.visible("matmul/replaced"));
  lab.model.apply(event(2, 1, JobStarted{"Matmul ladder on cpu:0", StartMatmul{}}));
  lab.model.apply(event(2, 2, matmul_sample(cpu(), "simd", 64, 100)));
  lab.model.apply(event(2, 3, JobFinished{}));
  lab.frames(3);
  EXPECT_FALSE(lab.visible("matmul/plot/gflops/legend/The rung naive"));
  lab.click("matmul/replaced");
  EXPECT_TRUE(lab.visible("matmul/plot/gflops/legend/The rung naive"));
  lab.click("matmul/replaced");
  EXPECT_FALSE(lab.visible("matmul/plot/gflops/legend/The rung naive"));
}

TEST(MatmulLadder, StaysInPlaceWhenItsRunEnds) {
  Model model(machine_of(2));
  model.apply(event(1, 0, RungInfo{cpu(), "simd", "SIMD micro-kernel", "What it adds."}));
  StartMatmul request;
  request.devices = {cpu()};
  model.apply(event(1, 0, JobStarted{"Matmul ladder", request}));
  PeakSample peak;
  peak.gflops = 500;
  peak.time = timing(1e-3);
  model.apply(event(1, 1, peak));
  MatmulSample unsteady = matmul_sample(cpu(), "simd", 64, 85);
  unsteady.time.p90_s = 2 * unsteady.time.median_s;
  model.apply(event(1, 2, unsteady));
  Lab lab(std::move(model), 1, kLarge);
  lab.open(Page::Matmul);
  const float bar = lab.backend.find("matmul/ladder/cpu:0/simd")->min.y;
  EXPECT_FALSE(lab.visible("matmul/ladder_sentence"));
  lab.model.apply(event(1, 3, CoresShared{0.5}));
  lab.model.apply(event(1, 4, JobFinished{}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("matmul/ladder_sentence"));
  EXPECT_TRUE(lab.visible("matmul/measure_again"));
  EXPECT_EQ(lab.backend.find("matmul/ladder/cpu:0/simd")->min.y, bar);
}

TEST(MatmulRoofline, DefaultsToLargestSizeAndFastestKernel) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kLarge);
  lab.open(Page::Matmul);
  const auto value = [&](const char* path) { return lab.backend.find(path)->value; };
  EXPECT_EQ(value("matmul/roofline/size"), "1024");
  EXPECT_EQ(value("matmul/roofline/kernel"), "The rung simd");
  lab.click("matmul/roofline/size");
  lab.click("matmul/roofline/size/128");
  EXPECT_EQ(value("matmul/roofline/size"), "128");
  EXPECT_EQ(lab.view.forms.matmul.roofline_size, 128);
  lab.click("matmul/roofline/kernel");
  lab.click("matmul/roofline/kernel/The rung naive");
  EXPECT_EQ(value("matmul/roofline/kernel"), "The rung naive");
  EXPECT_FALSE(lab.visible("matmul/shown_device/cpu:0")) << "one device has results";
}

TEST(MatmulRoofline, HighlightsTheHoveredKernel) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kLarge);
  lab.open(Page::Matmul);
  lab.backend.move_to(NullBackend::centre(*lab.backend.find("matmul/ladder/cpu:0/naive")));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("matmul/roofline/kernel")->value, "The rung naive");
  EXPECT_EQ(lab.view.forms.matmul.roofline_kernel, "") << "hovering changes no setting";
}

TEST(MatmulRoofline, ShowsOneRooflinePerDevice) {
  CeilingsMeasured second = ceilings_measured(cpu(1));
  second.bandwidth.pop_back();
  Lab lab(matmul_job({ceilings_measured(cpu(0)), second, matmul_sample(cpu(0), "simd", 64, 100),
                      matmul_sample(cpu(1), "simd", 32, 100)}),
          1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/ceilings/5"));
  lab.click("matmul/shown_device/cpu:1");
  EXPECT_EQ(lab.backend.find("matmul/roofline/size")->value, "32");
  EXPECT_FALSE(lab.visible("matmul/ceilings/5"));
}

TEST(MatmulCurves, KeepAKernelsColourAndShowOneDevice) {
  const auto job = [](std::initializer_list<const char*> on_second) {
    Model model = make_scene(Page::Matmul, Scene::Empty);
    model.apply(event(1, 1, JobStarted{"Matmul ladder", StartMatmul{}}));
    for (const char* name : {"naive", "simd"}) {
      model.apply(event(1, 2, matmul_sample(cpu(0), name, 64, 100)));
    }
    for (const char* name : on_second) {
      model.apply(event(1, 2, matmul_sample(cpu(1), name, 64, 100)));
    }
    return model;
  };
  using Labels = std::vector<std::string>;
  Lab lab(job({}), 1, kStacked);
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.legend("matmul/plot/gflops"), (Labels{"The rung naive", "The rung simd"}));
  const auto color = [&](std::size_t kernel) {
    return kernel_series(lab.panel(), lab.model.matmul().current.kernels[kernel]).color;
  };
  const ImU32 naive = color(0), simd = color(1);
  EXPECT_NE(naive, simd);
  lab.show(job({"simd"}));
  EXPECT_EQ(lab.legend("matmul/plot/gflops"), (Labels{"The rung naive", "The rung simd"}));
  EXPECT_EQ(color(0), naive);
  EXPECT_EQ(color(1), simd);
  EXPECT_EQ(color(2), simd) << "although it is the first kernel of cpu:1";
  lab.click("matmul/shown_device/cpu:1");
  EXPECT_EQ(lab.legend("matmul/plot/gflops"), Labels{"The rung simd"})
      << "naive was not measured there";
}

TEST(MatmulRoofline, TooltipExplainsACeiling) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kLarge);
  lab.open(Page::Matmul);
  const ui::WidgetRect* row = lab.backend.find("matmul/ceilings/2");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->value, "L1 read\t1.00 TB/s\t±7.5 %\t31\t0.50");
  const std::string in_table =
      tooltip_at(lab, {row->min.x + 30, NullBackend::centre(*row).y}, "tooltip");
  EXPECT_NE(in_table.find("2 threads sum 48.0 KiB repeatedly"), std::string::npos) << in_table;
  EXPECT_NE(in_table.find("repetitions\t31 after 3 warm-up"), std::string::npos) << in_table;
  // Searches upwards for the left end of the lowest line.
  const ui::WidgetRect* plot = lab.backend.find("matmul/plot/roofline");
  ASSERT_NE(plot, nullptr);
  std::string on_line;
  const auto lacks = [&](const char* part) { return on_line.find(part) == std::string::npos; };
  for (float y = plot->max.y - 60;
       y > plot->min.y + 60 && (lacks("repetition\t40.0 GB/s") || lacks("the sums are verified"));
       y -= 6) {
    on_line += tooltip_at(lab, {plot->min.x + 60, y}, "matmul/plot/roofline/tooltip");
  }
  EXPECT_FALSE(lacks("fastest repetition\t40.0 GB/s")) << on_line;
  EXPECT_FALSE(lacks("the sums are verified")) << on_line;
}

// A job on a GPU that multiplies f32 and bf16, with results of the kernels in `measured`.
Model gpu_job(Precision dtype, std::initializer_list<const char*> measured) {
  Model model = make_scene(Page::Matmul, Scene::Empty);
  const auto rung = [&](const char* name, std::vector<Precision> takes) {
    model.apply(event(0, 0, RungInfo{gpu(), name, name, "What it adds.", false, std::move(takes)}));
  };
  rung("async", {Precision::F32});
  rung("mma_bf16", {Precision::BF16});
  rung("cublas", {Precision::F32, Precision::BF16});
  StartMatmul request;
  request.dtype = dtype;
  model.apply(event(1, 1, JobStarted{"Matmul ladder on cuda:0", request}));
  PeakSample peak;
  peak.device = gpu();
  peak.dtype = dtype;
  peak.gflops = 50000;
  model.apply(event(1, 1, peak));
  for (const char* name : measured) {
    model.apply(event(1, 2, matmul_sample(gpu(), name, 64, 100)));
  }
  return model;
}

TEST(MatmulLadder, ShowsTheRungsThatSupportThePrecision) {
  Lab lab(gpu_job(Precision::BF16, {"cublas"}), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/ladder/cuda:0/cublas"));
  EXPECT_TRUE(lab.visible("matmul/ladder/cuda:0/mma_bf16")) << "not measured yet";
  EXPECT_FALSE(lab.visible("matmul/ladder/cuda:0/async"));
  lab.show(gpu_job(Precision::F32, {"async"}));
  EXPECT_FALSE(lab.visible("matmul/ladder/cuda:0/mma_bf16"));
}

TEST(MatmulLadder, StartsWithTheWayFromTheFirstRungToTheFastest) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_EQ(
      lab.backend.find("matmul/ladder_sentence")->label,
      "On cpu:0 at N = 1024, the lab's fastest kernel reaches 64 % of the peak, 16.0 times the "
      "speed of three plain loops. The best library reaches 256 %.");
}

TEST(MatmulLadder, HasASentenceWithoutThePlainRung) {
  Model model = gpu_job(Precision::BF16, {"mma_bf16"});
  model.apply(event(1, 3, JobFinished{}));
  Lab lab(std::move(model), 1, kLarge);
  lab.open(Page::Matmul);
  const ui::WidgetRect* said = lab.backend.find("matmul/ladder_sentence");
  ASSERT_NE(said, nullptr);
  EXPECT_NE(said->label.find("the lab's fastest kernel reaches"), std::string::npos) << said->label;
}

TEST(MatmulCurves, NeedNoLegendBesideTheBarsOfTheirColours) {
  for (const ImVec2 size : {kLarge, kStacked}) {
    Lab lab(make_scene(Page::Matmul, Scene::Done), 1, size);
    lab.open(Page::Matmul);
    EXPECT_EQ(lab.legend("matmul/plot/gflops").empty(), size.x == kLarge.x);
  }
}

TEST(MatmulCurves, LeaveRoomForTheLabelAboveThePeak) {
  PeakSample peak;
  peak.gflops = 500;
  Lab lab(matmul_job({peak, matmul_sample(cpu(), "simd", 64, 490), JobFinished{}}), 1, kLarge);
  lab.open(Page::Matmul);
  const std::string shown = lab.backend.find("matmul/plot/gflops")->value;
  EXPECT_NE(shown.find("y 0..577"), std::string::npos) << shown;
}

TEST(MatmulCurves, HoveringListsTheKernelsAtThatSizeByTheirSpeed) {
  Lab lab(matmul_job({matmul_sample(cpu(), "naive", 64, 20), matmul_sample(cpu(), "simd", 64, 200),
                      matmul_sample(cpu(), "naive", 512, 10),
                      matmul_sample(cpu(), "simd", 512, 100), JobFinished{}}),
          1, kLarge);
  lab.open(Page::Matmul);
  const ui::WidgetRect plot = *lab.backend.find("matmul/plot/gflops");
  const float y = (plot.min.y + plot.max.y) / 2;
  const ImVec2 right(plot.max.x - 40, y), left(plot.min.x + 80, y);
  const char* const path = "matmul/plot/gflops/tooltip";
  const std::string text = tooltip_at(lab, right, path);
  EXPECT_TRUE(
      text.starts_with("N = 512\nThe rung simd\t100 GFLOP/s\nThe rung naive\t10.0 GFLOP/s"
                       "\n\nThe rung "))
      << text;
  EXPECT_LT(lab.backend.find(path)->max.x, right.x) << "where the plot has more room";
  EXPECT_TRUE(tooltip_at(lab, left, path).starts_with("N = 64\n"));
  EXPECT_GT(lab.backend.find(path)->min.x, left.x);
}

TEST(MatmulCurves, NothingIsExplainedUnderAPointerThatRests) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kLarge);
  lab.open(Page::Matmul);
  const ui::WidgetRect plot = *lab.backend.find("matmul/plot/gflops");
  ImVec2 at(plot.max.x - 40, (plot.min.y + plot.max.y) / 2);
  lab.open(Page::Log);
  lab.backend.move_to(at);
  lab.frames(3);
  lab.open(Page::Matmul);
  EXPECT_FALSE(lab.visible("matmul/plot/gflops/tooltip")) << "another page";
  at.x -= 10;
  EXPECT_NE(tooltip_at(lab, at, "matmul/plot/gflops/tooltip"), "");
  lab.click("matmul/run");
  lab.model.apply(event(9, 9000, JobStarted{"Matmul ladder on cpu:0", StartMatmul{}}));
  lab.frames(60);
  EXPECT_TRUE(lab.visible("matmul/stop"));
  EXPECT_FALSE(lab.visible("tooltip")) << "the pointer is still where it pressed the other button";
  at = NullBackend::centre(*lab.backend.find("matmul/stop"));
  at.x += 10;
  EXPECT_NE(tooltip_at(lab, at, "tooltip"), "");
}

TEST(MatmulResults, SkippedCasesHaveTheTitlesOfTheirKernels) {
  Lab lab(matmul_job({RungInfo{cpu(), "naive", "Three loops", "What it adds."},
                      Skipped{"naive at 4096 on cpu:0", "one run would take 60 s"}, JobFinished{}}),
          1, kLarge);
  lab.open(Page::Matmul);
  const ui::WidgetRect* said = lab.backend.ui.widgets.find("matmul/skipped/0");
  ASSERT_NE(said, nullptr);
  EXPECT_TRUE(said->label.starts_with("Three loops at 4096 on cpu:0: ")) << said->label;
}

TEST(MatmulResults, TheLogNamesTheKernelOfTheSentence) {
  Model model =
      matmul_job({matmul_sample(cpu(), "simd", 256, 117), matmul_sample(cpu(), "tiled", 1024, 109),
                  matmul_sample(cpu(), "simd", 1024, 84), matmul_sample(cpu(), "onednn", 1024, 300),
                  matmul_sample(cpu(1), "simd", 1024, 111), JobFinished{}});
  EXPECT_EQ(model.log().back().text,
            "Matmul ladder on cpu:0 done: 109 GFLOP/s by The rung tiled at N = 1024 on cpu:0, best "
            "library 300 GFLOP/s; also measured: cpu:1");
}

TEST(MatmulResults, TheLogWarnsOfUnsteadyKernelsOnEveryDevice) {
  MatmulSample varying = matmul_sample(cpu(1), "simd", 1024, 111);
  varying.time.p90_s = 2 * varying.time.median_s;
  const Model model = matmul_job({matmul_sample(cpu(), "simd", 1024, 109), varying, JobFinished{}});
  EXPECT_TRUE(model.log().back().text.ends_with("also measured: cpu:1 (unsteady)"))
      << model.log().back().text;
  EXPECT_EQ(model.log().back().severity, Severity::Warning);
}

TEST(MatmulLadder, HasNoSentenceWhileItIsMeasured) {
  PeakSample peak;
  peak.gflops = 500;
  Model model = matmul_job(
      {peak, matmul_sample(cpu(), "naive", 64, 5), matmul_sample(cpu(), "simd", 64, 200)});
  Lab lab(std::move(model), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_FALSE(lab.visible("matmul/ladder_sentence"));
  lab.model.apply(event(1, 3, JobFinished{}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("matmul/ladder_sentence"));
}

TEST(MatmulLadder, ComparesWithAShorterCurveAtItsSize) {
  PeakSample peak;
  peak.gflops = 500;
  Lab lab(matmul_job({peak, matmul_sample(cpu(), "naive", 64, 5),
                      matmul_sample(cpu(), "simd", 128, 200), JobFinished{}}),
          1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_EQ(
      lab.backend.find("matmul/ladder_sentence")->label,
      "On cpu:0 at N = 128, the lab's fastest kernel reaches 40 % of the peak, 40.0 times the "
      "speed of three plain loops at N = 64.");
}

TEST(MatmulLadder, NamesTheSizeOfAShorterCurveBesideItsSpeed) {
  Lab lab(
      matmul_job({matmul_sample(cpu(), "naive", 64, 2), matmul_sample(cpu(), "simd", 128, 100)}), 1,
      kLarge);
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/ladder/cpu:0/naive")->value, "2.00 GFLOP/s, N = 64");
  EXPECT_EQ(lab.backend.find("matmul/ladder/cpu:0/simd")->value, "100 GFLOP/s");
}

TEST(MatmulForm, OffersTf32OnlyWithAGpu) {
  Lab lab(gpu_job(Precision::F32, {}), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/dtype/bf16"));
  EXPECT_FALSE(lab.visible("matmul/dtype/tf32")) << "the machine has no GPU";
}

TEST(MatmulLadder, ShowsTitlesOfKernels) {
  const RungInfo rung{cpu(), "loop_order", "Loop order", "What it adds."};
  Lab lab(matmul_job({rung, ceilings_measured(cpu()), matmul_sample(cpu(), "loop_order", 64, 5),
                      JobFinished{}}),
          1, kStacked);
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.legend("matmul/plot/gflops"), std::vector<std::string>{"Loop order"});
  EXPECT_EQ(lab.backend.find("matmul/roofline/kernel")->value, "Loop order");
  const ImVec2 bar = NullBackend::centre(*lab.backend.find("matmul/ladder/cpu:0/loop_order"));
  EXPECT_TRUE(tooltip_at(lab, bar, "tooltip").starts_with("Loop order (loop_order)"));
}

TEST(MatmulForm, TitlesOfKernelsNameTheKernel) {
  Model model(machine_of(1));
  model.apply(event(0, 0, RungInfo{cpu(), "naive", "Three loops", "What it adds."}));
  Lab lab(std::move(model), 1, kLarge);
  lab.view.forms.matmul.which = 2;
  lab.open(Page::Matmul);
  const ImVec2 box = NullBackend::centre(*lab.backend.find("matmul/kernel/naive"));
  EXPECT_EQ(tooltip_at(lab, box, "tooltip"), "Three loops (naive)\nWhat it adds.");
}

TEST(MatmulForm, EveryRungHasACheckboxAndListsUnsupportedTypes) {
  Lab lab(gpu_job(Precision::F32, {"async"}), 1, kLarge);
  lab.view.forms.matmul.which = 2;
  lab.view.forms.matmul.request.dtype = Precision::BF16;
  lab.open(Page::Matmul);
  const auto hint_of = [&](const char* box) {
    return tooltip_at(lab, NullBackend::centre(*lab.backend.find(box)), "tooltip");
  };
  EXPECT_EQ(hint_of("matmul/kernel/async"), "async\nWhat it adds.\nDoes not support bf16.");
  EXPECT_EQ(hint_of("matmul/kernel/mma_bf16"), "mma_bf16\nWhat it adds.");
}

TEST(MatmulLadder, IsThatOfTheChosenDevice) {
  Lab lab(
      matmul_job({matmul_sample(cpu(0), "simd", 64, 100), matmul_sample(cpu(1), "simd", 64, 100),
                  matmul_sample(cpu(2), "simd", 64, 100)}),
      1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/ladder/cpu:0/simd"));
  EXPECT_FALSE(lab.visible("matmul/ladder/cpu:1/simd"));
  lab.click("matmul/shown_device/cpu:1");
  lab.frames(3);
  EXPECT_FALSE(lab.visible("matmul/ladder/cpu:0/simd"));
  EXPECT_TRUE(lab.visible("matmul/ladder/cpu:1/simd"));
}

TEST(MatmulLadder, NamesTheKernelsThatASlowLibraryHasChosen) {
  const auto job = [](double gflops) {
    RungInfo rung{cpu(), "openblas", "OpenBLAS", "What it adds.", true};
    rung.chosen = "Prescott";
    MatmulSample sample = matmul_sample(cpu(), "openblas", 64, gflops);
    sample.library = true;
    return matmul_job({rung, matmul_sample(cpu(), "simd", 64, 100), sample, JobFinished{}});
  };
  Lab lab(job(20), 1, kLarge);
  lab.open(Page::Matmul);
  const ui::WidgetRect* said = lab.backend.find("matmul/chosen_kernels");
  ASSERT_NE(said, nullptr);
  EXPECT_NE(said->label.find("its kernels for Prescott"), std::string::npos) << said->label;
  lab.show(job(90));
  EXPECT_FALSE(lab.visible("matmul/chosen_kernels")) << "fast enough";
}

TEST(MatmulLadder, NamesChosenKernelsOnlyIfAllSteadySizesAgree) {
  const auto job = [](double small_gflops, bool steady) {
    RungInfo rung{cpu(), "openblas", "OpenBLAS", "What it adds.", true};
    rung.chosen = "Cooperlake";
    MatmulSample small = matmul_sample(cpu(), "openblas", 64, small_gflops);
    MatmulSample large = matmul_sample(cpu(), "openblas", 1024, 7);
    small.library = large.library = true;
    if (!steady) large.time.p90_s = 4 * large.time.median_s;
    return matmul_job({rung, matmul_sample(cpu(), "simd", 64, 100),
                       matmul_sample(cpu(), "simd", 1024, 100), small, large, JobFinished{}});
  };
  Lab lab(job(20, true), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/chosen_kernels"));
  lab.show(job(97, true));
  EXPECT_FALSE(lab.visible("matmul/chosen_kernels")) << "it is fast at another size";
  lab.show(job(20, false));
  EXPECT_FALSE(lab.visible("matmul/chosen_kernels")) << "the figure shown is unsteady";
}

TEST(MatmulLadder, MarksUnsteadyRungsAndOffersToMeasureAgain) {
  PeakSample peak;
  peak.gflops = 500;
  peak.time = timing(1e-3);
  MatmulSample fast = matmul_sample(cpu(), "simd", 64, 85);
  fast.time.p10_s = fast.time.median_s / 2;
  fast.time.p90_s = 2 * fast.time.median_s;
  Lab lab(matmul_job({peak, matmul_sample(cpu(), "naive", 64, 5), fast, JobFinished{}}), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/ladder_sentence")->label,
            "On cpu:0 at N = 64, the lab's fastest kernel reached 17 % (8.5 % to 34 %) of the "
            "peak. That is at least 8.08 times the speed of three plain loops.");
  EXPECT_TRUE(lab.visible("matmul/mark_key"));
  lab.click("matmul/measure_again");
  EXPECT_EQ(lab.sent<StartMatmul>().size(), 1U);
}

TEST(MatmulLadder, TooFewRepetitionsAreNeitherSteadyNorUnsteady) {
  PeakSample peak;
  peak.gflops = 500;
  peak.time = timing(1e-3);
  MatmulSample once = matmul_sample(cpu(), "simd", 64, 85);
  once.time = {.median_s = 1e-3, .p10_s = 1e-3, .p90_s = 1e-3, .n = 1, .unstable = true};
  Lab lab(matmul_job({peak, ceilings_measured(cpu()), once, JobFinished{}}), 1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_FALSE(lab.visible("matmul/mark_key"));
  EXPECT_EQ(lab.backend.find("matmul/few_key")->label,
            "Where n is given, fewer than 6 repetitions fit the time limit.");
  EXPECT_EQ(lab.backend.find("matmul/limit")->label,
            "Only one repetition of The rung simd at N = 64 fits the time limit, at 85.0 GFLOP/s: "
            "allow more time per kernel to find its limit.");
  EXPECT_EQ(lab.backend.find("matmul/limit")->kind, "text");
  EXPECT_NE(lab.backend.find("matmul/ladder/cpu:0/simd")->value.find("n = 1"), std::string::npos);
}

TEST(MatmulLadder, AKernelWithFewRepetitionsIsNotCalledTheFastest) {
  PeakSample peak;
  peak.gflops = 500;
  peak.time = timing(1e-3);
  MatmulSample once = matmul_sample(cpu(), "simd", 64, 300);
  once.time = {.median_s = 1e-3, .p10_s = 1e-3, .p90_s = 1e-3, .n = 1, .unstable = true};
  Lab lab(matmul_job({peak, matmul_sample(cpu(), "naive", 64, 5),
                      matmul_sample(cpu(), "packed", 64, 200), once, JobFinished{}}),
          1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_NE(lab.backend.find("matmul/ladder_sentence")->label.find("40 % of the peak"),
            std::string::npos);
  const std::string status = ui::result_of(lab.model.matmul().current, lab.model.rungs());
  EXPECT_TRUE(status.starts_with("200 GFLOP/s")) << status;
}

TEST(MatmulLadder, NamesTheRungAboveThatIsFaster) {
  PeakSample peak;
  peak.gflops = 500;
  peak.time = timing(1e-3);
  const auto said = [&](double tiled) {
    Lab lab(matmul_job({peak, matmul_sample(cpu(), "naive", 64, 100),
                        matmul_sample(cpu(), "simd", 64, tiled),
                        matmul_sample(cpu(), "onednn", 64, 435), JobFinished{}}),
            1, kLarge);
    lab.open(Page::Matmul);
    EXPECT_EQ(lab.backend.find("matmul/library_line/cpu:0")->label, "Line: best library, 87 %");
    return lab.visible("matmul/slower/cpu:0/simd");
  };
  EXPECT_TRUE(said(60));
  EXPECT_FALSE(said(99)) << "about as fast";
  EXPECT_FALSE(said(200));
}

TEST(MatmulLadder, ComparesUnsteadyKernelsOnlyWhereTheirRangesAreApart) {
  PeakSample peak;
  peak.gflops = 500;
  peak.time = timing(1e-3);
  const auto varying = [](const char* kernel, double gflops, double factor) {
    MatmulSample s = matmul_sample(cpu(), kernel, 64, gflops);
    s.time.p10_s = s.time.median_s / factor;
    s.time.p90_s = factor * s.time.median_s;
    return s;
  };
  const auto sentence = [&](const PeakSample& peak, const MatmulSample& own,
                            const MatmulSample& library, double plain) {
    Lab lab(
        matmul_job({peak, matmul_sample(cpu(), "naive", 64, plain), own, library, JobFinished{}}),
        1, kLarge);
    lab.open(Page::Matmul);
    return lab.backend.find("matmul/ladder_sentence")->label;
  };
  EXPECT_EQ(sentence(peak, varying("simd", 400, 1.25), varying("onednn", 350, 1), 200),
            "On cpu:0 at N = 64, the lab's fastest kernel reached 80 % (64 % to 100 %) of the "
            "peak. The best library reached 70 %: too close to say which is faster.");
  EXPECT_EQ(sentence(peak, varying("simd", 400, 1.25), varying("onednn", 100, 1), 200),
            "On cpu:0 at N = 64, the lab's fastest kernel reached 80 % (64 % to 100 %) of the "
            "peak. The best library reached 20 %.");
  peak.time.p90_s = 2 * peak.time.median_s;
  EXPECT_EQ(sentence(peak, varying("simd", 400, 1), varying("onednn", 300, 1), 200),
            "On cpu:0 at N = 64, the lab's fastest kernel reached 80 % of the peak. The best "
            "library reached 60 %. The peak was unsteady, so the shares are rough.");
}

TEST(MatmulLadder, AnUnsteadyFirstRungDoesNotKeepTheOthersFromComparison) {
  PeakSample peak;
  peak.gflops = 500;
  peak.time = timing(1e-3);
  MatmulSample plain = matmul_sample(cpu(), "naive", 64, 5);
  plain.time.p90_s = 2 * plain.time.median_s;
  Lab lab(matmul_job({peak, plain, matmul_sample(cpu(), "simd", 64, 400),
                      matmul_sample(cpu(), "onednn", 64, 300), JobFinished{}}),
          1, kLarge);
  lab.open(Page::Matmul);
  EXPECT_EQ(
      lab.backend.find("matmul/ladder_sentence")->label,
      "On cpu:0 at N = 64 in f32, the lab's fastest kernel reaches 80 % of the peak. The best "
      "library reaches 60 %.");
  EXPECT_TRUE(lab.visible("matmul/mark_key")) << "of the first rung";
}

TEST(MatmulRoofline, DrawsNoLimitFromAnUnsteadyMeasurement) {
  CeilingsMeasured ceilings = ceilings_measured(cpu());
  const MatmulSample sample = matmul_sample(cpu(), "simd", 64, 85);
  Lab lab(matmul_job({ceilings, sample, JobFinished{}}), 1, kLarge);
  lab.open(Page::Matmul);
  const auto says = [&](const char* path, const char* part) {
    const ui::WidgetRect* said = lab.backend.ui.widgets.find(path);
    return said != nullptr && said->label.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says("matmul/limit", "is limited by"));
  EXPECT_FALSE(lab.visible("matmul/unsteady_ceilings"));
  ceilings.compute.back().time.p90_s = 18 * ceilings.compute.back().time.median_s;
  lab.show(matmul_job({ceilings, sample, JobFinished{}}));
  EXPECT_TRUE(says("matmul/limit", "Too unsteady to find the limit of The rung simd"));
  EXPECT_TRUE(says("matmul/unsteady_ceilings", "FMA f32, 2 threads"));
  const auto rings = [&] {
    const ImU32 warning = lab.backend.ui.theme->warning;
    return drawn_in(*lab.backend.find("matmul/plot/roofline"), warning);
  };
  EXPECT_EQ(rings(), 0U) << "the product was steady";
  MatmulSample varying = sample;
  varying.time.p90_s = 2 * varying.time.median_s;
  lab.show(matmul_job({ceilings, varying, JobFinished{}}));
  EXPECT_GT(rings(), 0U);
}

TEST(MatmulTabs, AnEmptyTabOffersItsRun) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kLarge);
  lab.open(Page::Matmul);
  const auto offered = [&](const char* tab) {
    lab.click(std::string("matmul/tab/") + tab);
    const ui::WidgetRect* button = lab.backend.find("matmul/empty");
    return button == nullptr ? "" : button->label;
  };
  EXPECT_EQ(offered("Ladder"), "Run ladder");
  EXPECT_EQ(offered("Live"), "Run live on cpu:0");
  lab.click("matmul/empty");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1U);
  EXPECT_TRUE(lab.sent<StartMatmul>()[0].live);
  lab.show(make_scene(Page::Matmul, Scene::Empty));
  lab.backend.ui.time_s += 10;  // the job that was sent is given up
  EXPECT_EQ(offered("Together"), "Run together");
  lab.click("matmul/empty");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 2U);
  EXPECT_TRUE(lab.sent<StartMatmul>()[1].together);
  EXPECT_FALSE(lab.sent<StartMatmul>()[1].live);
}

}  // namespace
}  // namespace lab::test
