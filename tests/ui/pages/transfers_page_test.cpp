// The Transfers page: curves of one pair of devices, the levels of memory, costs and the matrix.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "compute/experiments/registry.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/ui/pages/scenes.h"
#include "ui/model/job_result.h"
#include "ui/model/run_estimate.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;
using ui::TransferResults;

const ImVec2 kWide{1600, 2000};  // shows the whole page without scrolling

TransferFit fit_of(TransferOp op, int threads) {
  TransferFit fit;
  fit.op = op;
  fit.threads = threads;
  fit.levels = {{"L1", 16 * kKiB, 3, 2e-7, 60, 0.02}, {"memory", 0, 8, 1e-7, 20, 0.2}};
  return fit;
}

// Copies between all pairs of two devices, and reads within cpu:0.
Model two_devices() {
  Model model(machine_of(2));
  model.apply(event(1, 0, JobStarted{"Transfers by size", StartTransfers{}}));
  double gb_per_s = 10;
  for (const Device from : {cpu(0), cpu(1)}) {
    for (const Device to : {cpu(0), cpu(1)}) {
      for (const std::int64_t bytes : {kKiB, kMiB}) {
        gb_per_s += 10;
        model.apply(event(1, 1, transfer_sample(from, to, TransferOp::Copy, 1, bytes, gb_per_s)));
      }
    }
  }
  model.apply(event(1, 1, transfer_sample(cpu(), cpu(), TransferOp::Read, 1, kMiB, 12)));
  model.apply(event(1, 2, fit_of(TransferOp::Copy, 1)));
  model.apply(event(1, 2, fit_of(TransferOp::Read, 1)));
  model.apply(event(1, 3, JobFinished{}));
  return model;
}

std::string value(Lab& lab, std::string_view path) {
  const ui::WidgetRect* found = lab.backend.ui.widgets.find(path);
  return found == nullptr ? "none" : found->value;
}

TEST(TransferCurves, ShowOnePairAndColourOperations) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  using Labels = std::vector<std::string>;
  EXPECT_EQ(lab.legend("transfers/plot/bandwidth"), (Labels{"copy", "read"}));
  lab.click("transfers/shown_pair/cpu:0 to cpu:1");
  EXPECT_EQ(lab.legend("transfers/plot/bandwidth"), Labels{"copy"}) << "reads are within cpu:0";
}

TEST(TransferCurves, LabelTheLevelsOfMemory) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_TRUE(lab.visible("transfers/plot/bandwidth/band/L1"));
  EXPECT_TRUE(lab.visible("transfers/plot/bandwidth/band/memory"));
  lab.click("transfers/shown_pair/cpu:0 to cpu:1");
  EXPECT_FALSE(lab.visible("transfers/plot/bandwidth/band/L1")) << "not fitted";
}

TEST(TransferCurves, BandwidthsAreLogarithmicUntilTheReaderChoosesOtherwise) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  const auto begins_at_0 = [&] {
    return value(lab, "transfers/plot/bandwidth").find("y 0..") != std::string::npos;
  };
  EXPECT_FALSE(begins_at_0()) << value(lab, "transfers/plot/bandwidth");
  lab.click("transfers/plot/bandwidth", 1);
  lab.click("transfers/plot/bandwidth/menu/log-y");
  EXPECT_TRUE(begins_at_0()) << "the user's choice";
}

TEST(TransferCurves, AFigureFarBelowItsNeighboursIsMarked) {
  TransferResults results;
  for (const auto& [kib, gb_per_s] : {std::pair(2, 160), {4, 20}, {8, 211}, {16, 90}, {32, 80}}) {
    results.add(transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kib * kKiB, gb_per_s), 0);
  }
  EXPECT_EQ(results.cases.front().unsteady, (ui::Column64{0, 1, 0, 0, 0}));
  EXPECT_TRUE(results.cases.front().samples[1].dip);
  results.add(transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, 4 * kKiB, 180), 0);
  EXPECT_EQ(results.cases.front().unsteady, (ui::Column64{0, 0, 0, 0, 0})) << "measured again";
}

TEST(TransferCurves, ALargeTipLeavesItsPlotInSight) {
  Lab lab(two_devices(), 1, {1280, 720});
  lab.open(Page::Transfers);
  const ui::WidgetRect plot = *lab.backend.find("transfers/plot/bandwidth");
  lab.backend.move_to({plot.max.x - 40, (plot.min.y + plot.max.y) / 2});
  lab.frames(60);
  const ui::WidgetRect* tip = lab.backend.find("transfers/plot/bandwidth/tooltip");
  ASSERT_NE(tip, nullptr);
  EXPECT_TRUE(tip->min.x >= plot.max.x || tip->max.x <= plot.min.x || tip->min.y >= plot.max.y ||
              tip->max.y <= plot.min.y + 60)
      << tip->min.x << ".." << tip->max.x << ", " << tip->min.y << ".." << tip->max.y;
}

TEST(TransferCurves, MostlyUnsteadyOnesHaveOneSentence) {
  Model model = two_devices();
  model.apply(event(2, 4, JobStarted{"Transfers by size", StartTransfers{}}));
  TransferSample wide = transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kKiB, 50);
  wide.time.p90_s = 2 * wide.time.median_s;
  model.apply(event(2, 5, wide));
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_EQ(lab.backend.find("transfers/mark_key")->label,
            "Most figures are unsteady; the bands show p10 to p90.");
}

TEST(TransferCurves, SayWhichBytesAndWhoseLevels) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  const auto said = [&] {
    const ImVec2 card = lab.backend.find("transfers/bandwidth")->min;
    lab.backend.move_to({1, 1});
    lab.frames(3);
    lab.backend.move_to({card.x + 40, card.y + 20});
    lab.frames(60);
    return lab.backend.find("tooltip")->value;
  };
  EXPECT_NE(said().find("a copy of 1 MiB moves 2 MiB"), std::string::npos) << said();
  EXPECT_NE(said().find("levels are those of a copy"), std::string::npos) << said();
  lab.click("transfers/shown_pair/cpu:0 to cpu:1");
  EXPECT_EQ(said().find("levels"), std::string::npos) << "not fitted: " << said();
}

// A sweep of other devices is drawn over the previous one only where both measured the same pair.
TEST(TransferCurves, PreviousOnesAreOfTheSamePair) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  lab.click("transfers/shown_pair/cpu:0 to cpu:1");
  lab.model.apply(event(2, 4, JobStarted{"Transfers by size", StartTransfers{}}));
  const auto measure = [&](Device from, Device to, double gb_per_s) {
    lab.model.apply(event(2, 5, transfer_sample(from, to, TransferOp::Copy, 1, kKiB, gb_per_s)));
    lab.frames(3);
    lab.click("transfers/plot/bandwidth", 1);
    lab.click("transfers/plot/bandwidth/menu/copy-csv");
    return lab.backend.clipboard;
  };
  const std::string other = measure(cpu(1), cpu(1), 110);
  EXPECT_NE(other.find("\"copy cpu:1, 1 thread\",110"), std::string::npos) << other;
  EXPECT_NE(other.find("\"copy cpu:1, 1 thread\",80"), std::string::npos) << other;
  EXPECT_EQ(other.find("cpu:0 to cpu:1"), std::string::npos) << other;
  const std::string chosen = measure(cpu(0), cpu(1), 95);
  EXPECT_NE(chosen.find("\"copy cpu:0 to cpu:1, 1 thread\",40"), std::string::npos) << chosen;
  EXPECT_EQ(chosen.find("copy cpu:1, 1 thread"), std::string::npos) << chosen;
}

// The largest x in the CSV of a plot whose menu copies it.
double largest_x(Lab& lab, const std::string& plot) {
  lab.click(plot, 1);
  lab.click(plot + "/menu/copy-csv");
  std::istringstream csv(lab.backend.clipboard);
  double largest = 0;
  std::string line;
  std::getline(csv, line);  // the names of the columns
  while (std::getline(csv, line)) largest = std::max(largest, std::stod(line));
  return largest;
}

TEST(TransferCurves, BothPlotsShowAllSizes) {
  Model model(machine_of(1));
  model.apply(event(1, 0, JobStarted{"Transfers by size", StartTransfers{}}));
  for (std::int64_t bytes = kKiB; bytes <= 64 * kMiB; bytes *= 4) {
    model.apply(event(1, 1, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, bytes, 10)));
    model.apply(event(1, 1, transfer_sample(cpu(), cpu(), TransferOp::Read, 1, bytes, 20)));
  }
  model.apply(event(1, 2, JobFinished{}));
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_EQ(lab.backend.find("transfers/latency")->label, "Time over size   (1 thread)");
  EXPECT_EQ(largest_x(lab, "transfers/plot/latency"), 64.0 * kMiB);
  EXPECT_EQ(largest_x(lab, "transfers/plot/bandwidth"), 64.0 * kMiB);
}

TEST(TransferHeadline, ComparesTheFastestSizeWithTheLargest) {
  TransferResults results;
  const auto add = [&](std::int64_t bytes, double gb_per_s) {
    results.add(transfer_sample(cpu(0), cpu(1), TransferOp::Copy, 1, bytes, gb_per_s), 0);
  };
  const std::pair pair(cpu(0), cpu(1));
  add(kKiB, 100);
  EXPECT_EQ(headline(results, pair), "") << "one size";
  add(16 * kKiB, 250);
  add(kGiB, 20);
  EXPECT_EQ(headline(results, pair),
            "Copies from cpu:0 to cpu:1, read + write: 250 GB/s with arrays of 16.0 KiB, 20.0 GB/s "
            "with arrays of 1.00 GiB, 12.5 times slower.");
  EXPECT_EQ(headline(results, {cpu(0), cpu(0)}), "") << "another pair";
}

TEST(TransferHeadline, NamesTheSmallestTimeWhereLargeArraysAreFastest) {
  TransferResults results;
  results.add(transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kKiB, 1.024), 0);
  results.add(transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kGiB, 50), 0);
  EXPECT_EQ(headline(results, {cpu(), cpu()}),
            "Copies within cpu:0, read + write: 50.0 GB/s with arrays of 1.00 GiB; 1.00 KiB takes "
            "1.00 µs.");
}

TEST(TransferHeadline, NamesTheLevelsOfMemory) {
  TransferResults results;
  results.add(transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, 16 * kKiB, 250), 0);
  results.add(transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kGiB, 20), 0);
  results.add(fit_of(TransferOp::Copy, 1));
  EXPECT_EQ(headline(results, {cpu(), cpu()}),
            "Copies within cpu:0, read + write: 250 GB/s in L1 with arrays of 16.0 KiB, 20.0 GB/s "
            "in memory with arrays of 1.00 GiB, 12.5 times slower.");
}

TEST(TransferHeadline, ComparesNoUnsteadyCopies) {
  TransferResults results;
  TransferSample fast = transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, 16 * kKiB, 200);
  fast.time.p10_s = fast.time.median_s / 2;
  fast.time.p90_s = 2 * fast.time.median_s;
  results.add(fast, 0);
  results.add(transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kGiB, 20), 0);
  EXPECT_TRUE(headline_is_unsteady(results, {cpu(), cpu()}));
  EXPECT_EQ(headline(results, {cpu(), cpu()}),
            "Copies within cpu:0, read + write: 200 GB/s (p10 to p90: 100 GB/s to 400 GB/s) with "
            "arrays of 16.0 KiB, 20.0 GB/s with arrays of 1.00 GiB. Too unsteady to compare.");
}

TEST(TransferHeadline, CopiesToAGpuCountOnce) {
  TransferResults results;
  for (const std::int64_t bytes : {kKiB, kGiB}) {
    results.add(transfer_sample(cpu(), gpu(), TransferOp::Copy, 1, bytes, 20), 0);
  }
  EXPECT_TRUE(headline(results, {cpu(), gpu()}).starts_with("Copies from cpu:0 to cuda:0: 20.0"));
}

// A reading of `others` of 4 hardware threads, and a copy after it.
void copy_beside(Model& model, double t_s, double others, std::int64_t bytes, double gb_per_s) {
  Telemetry reading = telemetry(model.devices(), t_s, 0.5);
  reading.others = OtherLoad{.programs = others, .host = 0, .threads = 4};
  model.apply(event(0, t_s, reading));
  model.apply(event(1, t_s, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, bytes, gb_per_s)));
}

TEST(TransferHeadline, ComparesNoCopiesMadeBesideOtherPrograms) {
  Model model(machine_of(2));
  model.apply(event(1, 0, JobStarted{"Transfers by size", StartTransfers{}}));
  copy_beside(model, 10, 0, 16 * kKiB, 200);
  copy_beside(model, 20, 2.5, kGiB, 20);
  model.apply(event(1, 21, JobFinished{}));
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  const std::string said = lab.backend.find("transfers/headline")->label;
  EXPECT_NE(said.find("Too disturbed to compare: others took 0 % of the cores' time during the "
                      "first and 62 % during the second."),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("times slower"), std::string::npos) << said;
  EXPECT_TRUE(lab.visible("transfers/mark_key"));
}

TEST(TransferResults, SayFirstWhatOthersTookAndWhichFiguresThatConcerns) {
  const auto job = [](bool steady) {
    Model model = two_devices();
    model.apply(event(2, 30, JobStarted{"Transfers by size", StartTransfers{}}));
    TransferSample sample = transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kKiB, 20);
    if (!steady) sample.time.p90_s = 2 * sample.time.median_s;
    model.apply(event(2, 31, sample));
    model.apply(event(2, 32, CoresShared{0.62}));
    model.apply(event(2, 33, JobFinished{}));
    return model;
  };
  Lab lab(job(false), 1, kWide);
  lab.open(Page::Transfers);
  const auto said_of_others = [&] {
    lab.backend.move_to(NullBackend::centre(*lab.backend.find("transfers/others")));
    lab.frames(40);
    const ui::WidgetRect* tip = lab.backend.find("tooltip");
    return lab.backend.find("transfers/others")->label + "\n" + (tip != nullptr ? tip->value : "");
  };
  EXPECT_EQ(said_of_others(),
            "Others took 62 % of the cores\n"
            "Other programs or the host took 62 % of the cores' time: marked figures may be "
            "worse than the device can do.");
  EXPECT_LT(lab.backend.find("transfers/others")->max.y,
            lab.backend.find("transfers/tab/Sweep")->max.y);
  lab.show(job(true));
  EXPECT_NE(said_of_others().find("all figures are still steady"), std::string::npos);
  lab.click("transfers/measure_again");
  EXPECT_EQ(lab.sent<StartTransfers>().size(), 1U);
}

// Neither the buttons of a run that has ended nor the pairs that it reaches late move the figures.
TEST(TransferResults, StayInPlaceFromTheFirstFigureToTheEnd) {
  Model model = two_devices();
  model.apply(event(2, 30, JobStarted{"Transfers by size", StartTransfers{}}));
  TransferSample first = transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kKiB, 20);
  first.time.p90_s = 2 * first.time.median_s;
  model.apply(event(2, 31, first));
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  const float top = lab.backend.find("transfers/bandwidth")->min.y;
  EXPECT_TRUE(lab.visible("transfers/shown_pair/cpu:0 to cpu:1"));
  lab.model.apply(event(2, 32, transfer_sample(cpu(), cpu(1), TransferOp::Copy, 1, kKiB, 20)));
  lab.model.apply(event(2, 33, CoresShared{0.62}));
  lab.model.apply(event(2, 34, JobFinished{}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("transfers/measure_again"));
  EXPECT_EQ(lab.backend.find("transfers/bandwidth")->min.y, top);
}

TEST(TransferResults, APreviousRunStillSaysWhatOthersTook) {
  Model model = two_devices();
  const auto run = [&model](JobId job, double others) {
    model.apply(event(job, 30, JobStarted{"Transfers by size", StartTransfers{}}));
    model.apply(event(job, 31, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kKiB, 20)));
    if (others > 0) model.apply(event(job, 32, CoresShared{others}));
    model.apply(event(job, 33, JobFinished{}));
  };
  run(2, 0.25);
  run(3, 0);
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_FALSE(lab.visible("transfers/others"));
  lab.click("transfers/replaced");
  lab.frames(3);
  ASSERT_TRUE(lab.visible("transfers/others"));
  EXPECT_EQ(lab.backend.find("transfers/others")->label, "Others took 25 % of the cores");
  EXPECT_FALSE(lab.visible("transfers/measure_again")) << "another run was the last";
}

TEST(TransferResults, AQuickSweepSaysWhatItLeftOut) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_FALSE(lab.visible("transfers/quick_note"));
  StartTransfers quick;
  quick.quick = true;
  lab.model.apply(event(2, 4, JobStarted{"Transfers by size", quick}));
  lab.model.apply(event(2, 5, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, 128 * kMiB, 20)));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("transfers/quick_note")->label, "Quick: copies only, up to 128 MiB");
}

TEST(TransferCurves, TheLegendNamesTheThreadsOfTheLines) {
  Model model = two_devices();
  model.apply(event(2, 4, JobStarted{"Transfers by size", StartTransfers{}}));
  for (const int threads : {1, 2}) {
    model.apply(event(2, 5, transfer_sample(cpu(), cpu(), TransferOp::Copy, threads, kKiB, 20)));
  }
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_TRUE(lab.visible("transfers/plot/bandwidth/key/1 thread"));
  EXPECT_TRUE(lab.visible("transfers/plot/bandwidth/key/2 threads"));
  EXPECT_EQ(lab.backend.find("transfers/bandwidth")->label, "Bandwidth over size");
}

TEST(TransferLive, ShowsTheLastSampleTheMedianAndTheSpread) {
  Model model(machine_of(2));
  StartTransfers live;
  live.live = true;
  model.apply(event(2, 4, JobStarted{"Live", live}));
  for (const double gb_per_s : {10.0, 30.0, 20.0}) {
    model.apply(event(2, 5, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kMiB, gb_per_s)));
  }
  EXPECT_EQ(ui::result_of(model.transfer_runs().of(ui::RunKind::Live).current),
            "copy cpu:0, 1 thread, arrays of 1.00 MiB, at 20.0 GB/s (median), unsteady");
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_EQ(value(lab, "transfers/live_table/0"),
            "copy cpu:0, 1 thread\t20.0 GB/s\t20.0 GB/s\t10.0 GB/s to 30.0 GB/s");
  EXPECT_NE(value(lab, "transfers/plot/live").find("y 0..33"), std::string::npos)
      << value(lab, "transfers/plot/live");
  EXPECT_FALSE(lab.visible("transfers/table_card")) << "its only rows were the last readings";
}

TEST(TransferForm, AnEmptyPageCentresItsTwoButtons) {
  Lab lab(Model(machine_of(2)), 1, kWide);
  lab.open(Page::Transfers);
  const ui::WidgetRect* card = lab.backend.find("transfers/nothing");
  const ui::WidgetRect *sweep = lab.backend.find("transfers/empty"),
                       *quick = lab.backend.find("transfers/empty/quick");
  EXPECT_NEAR(sweep->min.x - card->min.x, card->max.x - quick->max.x, 2);
}

TEST(TransferMatrix, MarksUnsteadyCopiesWithTheirSpread) {
  Model model = two_devices();
  TransferSample wide = transfer_sample(cpu(0), cpu(1), TransferOp::Copy, 1, kMiB, 50);
  wide.time.p90_s = 2 * wide.time.median_s;
  model.apply(event(2, 4, JobStarted{"Transfers by size", StartTransfers{}}));
  model.apply(event(2, 5, wide));
  model.apply(event(2, 6, JobFinished{}));
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_EQ(value(lab, "transfers/matrix/cpu:0/cpu:1"), "50.0 (over ±50 %)");
  lab.click("transfers/matrix/cpu:0/cpu:1");
  EXPECT_TRUE(lab.visible("transfers/mark_key"));
}

TEST(TransferHeadline, FollowsTheShownPair) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  const auto said = [&] { return lab.backend.find("transfers/headline")->label; };
  EXPECT_NE(said().find("within cpu:0"), std::string::npos) << said();
  lab.click("transfers/shown_pair/cpu:0 to cpu:1");
  EXPECT_NE(said().find("from cpu:0 to cpu:1"), std::string::npos) << said();
}

TEST(TransferMatrix, ShowsCopiesOfTheChosenSize) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_EQ(value(lab, "transfers/matrix_size"), "1.00 MiB");
  EXPECT_EQ(value(lab, "transfers/matrix/cpu:0/cpu:1"), "50.0");
  lab.click("transfers/matrix_size");
  lab.click("transfers/matrix_size/1.00 KiB");
  EXPECT_EQ(value(lab, "transfers/matrix/cpu:0/cpu:1"), "40.0");
  lab.click("transfers/matrix/cpu:1/cpu:0");
  EXPECT_EQ(lab.view.forms.transfers.shown_pair, std::pair(cpu(1), cpu(0)));
}

TEST(TransferCosts, WithholdLinesThatMissTheSamples) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  const ui::WidgetRect* said = lab.backend.ui.widgets.find("transfers/cost/0");
  ASSERT_NE(said, nullptr);
  EXPECT_NE(said->label.find("200 ns per call in L1"), std::string::npos) << said->label;
  EXPECT_EQ(said->label.find("memory"), std::string::npos) << said->label;
  const ui::WidgetRect* rough = lab.backend.ui.widgets.find("transfers/cost/1");
  ASSERT_NE(rough, nullptr);
  EXPECT_NE(rough->label.find("No line fits the times of the other levels"), std::string::npos)
      << rough->label;
  const std::string example = value(lab, "transfers/cost/2/0");
  for (const char* part : {"memory", "1.00 MiB", "35.0 µs", "GB/s\t±7.5 %"}) {
    EXPECT_NE(example.find(part), std::string::npos) << example;
  }
  EXPECT_FALSE(lab.visible("transfers/fit_table"));
  lab.click("transfers/show_fits");
  lab.click("transfers/fit_table/sort/Bandwidth");
  EXPECT_NE(value(lab, "transfers/fit_table/0").find("60.0 GB/s"), std::string::npos);
  EXPECT_NE(value(lab, "transfers/fit_table/3").find("N/A"), std::string::npos);
  EXPECT_NE(value(lab, "transfers/fit_table/3").find("20.0 %"), std::string::npos);
}

TEST(TransferCosts, OnlyTheFirstLevelHasACostPerCall) {
  TransferFit fit = fit_of(TransferOp::Copy, 1);
  fit.levels[1].residual = 0.02;
  EXPECT_EQ(ui::sentence(fit),
            "200 ns per call, then 60.0 GB/s in L1, up to 16.0 KiB; 20.0 GB/s in memory.");
  fit.levels[0].residual = 0.2;
  EXPECT_EQ(ui::sentence(fit), "20.0 GB/s in memory.");
}

TEST(TransferCosts, OmitABandwidthThatNoSampleComesNear) {
  const TransferFit fit = fit_of(TransferOp::Copy, 1);
  const auto said = [&](double gb_per_s) {
    const std::vector<ui::MeasuredTransfer> samples = {
        {transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, 8 * kKiB, gb_per_s)}};
    return ui::sentence(fit, samples);
  };
  EXPECT_EQ(said(50), "200 ns per call, then 60.0 GB/s in L1, up to 16.0 KiB.");
  EXPECT_EQ(said(20), "200 ns per call in L1.");
}

TEST(TransferTabs, ALiveRunKeepsTheSweep) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  StartTransfers live;
  live.live = true;
  lab.model.apply(event(2, 4, JobStarted{"Live", live}));
  lab.model.apply(event(2, 5, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kMiB, 20)));
  lab.model.apply(event(2, 6, JobFinished{}));
  lab.frames(3);
  ASSERT_TRUE(lab.visible("transfers/live_card"));
  EXPECT_EQ(lab.backend.find("transfers/live_card")->label,
            "Bandwidth over time: cpu:0, copy of 1.00 MiB, 1 thread");
  lab.click("transfers/tab/Sweep");
  EXPECT_TRUE(lab.visible("transfers/plot/bandwidth"));
}

TEST(TransferForm, OffersTheWholeSweepAndTheQuickOne) {
  for (const char* path : {"transfers/quick", "transfers/empty/quick"}) {
    Lab lab(Model(machine_of(2)), 1, kWide);
    lab.view.forms.transfers.sizes = "many";
    lab.open(Page::Transfers);
    EXPECT_TRUE(lab.visible("transfers/sizes/error"));
    EXPECT_FALSE(lab.backend.find("transfers/run")->enabled);
    lab.click(path);
    ASSERT_EQ(lab.sent<StartTransfers>().size(), 1U) << path;
    EXPECT_TRUE(lab.sent<StartTransfers>()[0].quick);
    EXPECT_EQ(lab.sent<StartTransfers>()[0].ops, std::vector<TransferOp>{TransferOp::Copy});
  }
  Lab lab(Model(machine_of(2)), 1, kWide);
  lab.view.forms.transfers.request.quick = true;  // as saved by older versions
  lab.open(Page::Transfers);
  lab.click("transfers/run");
  ASSERT_EQ(lab.sent<StartTransfers>().size(), 1U);
  EXPECT_FALSE(lab.sent<StartTransfers>()[0].quick);
}

TEST(TransferForm, RefusesArraysThatFitNoMemory) {
  MachineInfo machine = machine_of(1);
  machine.devices.front().memory_limit_bytes = 8 * kGiB;
  Lab lab(Model(machine), 1, kWide);
  lab.view.forms.transfers.sizes = "1KiB..64TiB";
  lab.open(Page::Transfers);
  EXPECT_EQ(lab.backend.find("transfers/sizes/error")->label,
            "An array of 16.0 GiB is too large; arrays of up to 8.00 GiB fit into memory.");
  EXPECT_FALSE(lab.backend.find("transfers/run")->enabled);
  EXPECT_FALSE(lab.visible("transfers/form_error"));
  lab.view.forms.transfers.sizes = "1KiB..8GiB";
  lab.frames(3);
  EXPECT_TRUE(lab.backend.find("transfers/run")->enabled);
}

// Those that do not fit are skipped, with the reason.
TEST(TransferForm, AcceptsTheUsualSizesOnASmallDevice) {
  MachineInfo machine = machine_of(1);
  machine.devices.front().memory_limit_bytes = kGiB / 2;
  Lab lab(Model(machine), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_TRUE(lab.backend.find("transfers/run")->enabled);
  EXPECT_FALSE(lab.visible("transfers/sizes/error"));
}

TEST(TransferForm, StopsInPlaceOfStarting) {
  Lab lab(make_scene(Page::Transfers, Scene::Running), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_FALSE(lab.visible("transfers/run"));
  lab.click("transfers/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1U);
}

TEST(TransferForm, ARunScrollsToItsResults) {
  Lab lab(two_devices(), 1, {1280, 720});
  lab.view.forms.transfers.show_table = true;
  lab.open(Page::Transfers);
  lab.scroll(-40);
  EXPECT_FALSE(lab.visible("transfers/tab/Live"));
  lab.click("transfers/run");
  EXPECT_TRUE(lab.visible("transfers/tab/Live"));
}

TEST(TransferForm, NamesAndChoosesTheCaseOfALiveRun) {
  Lab lab(Model(machine_of(2)), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_FALSE(lab.visible("transfers/live_op"));
  lab.click("transfers/tab/Live");
  EXPECT_FALSE(lab.visible("transfers/sizes")) << "those of the sweep";
  EXPECT_EQ(value(lab, "transfers/from"), "cpu:0") << "one pair, not every device";
  EXPECT_EQ(value(lab, "transfers/to"), "cpu:1") << "between two devices where there are two";
  EXPECT_EQ(lab.backend.find("transfers/live")->label, "Run live: cpu:0 to cpu:1");
  lab.click("transfers/live_op");
  lab.click("transfers/live_op/Read");
  EXPECT_EQ(lab.backend.find("transfers/live")->label, "Run live: cpu:0");
  EXPECT_EQ(lab.backend.find("transfers/empty")->label, "Run live: cpu:0");
  lab.click("transfers/empty");
  ASSERT_EQ(lab.sent<StartTransfers>().size(), 1U);
  EXPECT_TRUE(lab.sent<StartTransfers>()[0].live);
  EXPECT_EQ(lab.sent<StartTransfers>()[0].ops, std::vector<TransferOp>{TransferOp::Read});
}

TEST(TransferTable, NamesTheDevicesIfThereAreSeveral) {
  Lab lab(two_devices(), 1, kWide);
  lab.view.forms.transfers.show_table = true;
  lab.open(Page::Transfers);
  lab.scroll(-40);
  const ui::WidgetRect* row = lab.backend.find("transfers/table/0");
  ASSERT_NE(row, nullptr);
  EXPECT_NE(row->value.find("copy cpu:0, "), std::string::npos) << row->value;
}

TEST(TransferForm, SaysHowLongASweepTakes) {
  Lab lab(Model(machine_of(2)), 1, kWide);
  lab.view.forms.transfers.sizes = "1KiB..8KiB";
  lab.open(Page::Transfers);
  const ui::WidgetRect* said = lab.backend.find("transfers/estimate");
  ASSERT_NE(said, nullptr);
  EXPECT_EQ(said->label, "about 40 s, more on a busy machine");
}

TEST(TransferForm, ASweepBeginsWithTheTimeThatTheFormShows) {
  Probe probe(2);
  StartTransfers request;
  request.sizes_bytes = {kKiB, kMiB};
  message_of([&] { probe.run_until<Progress>(*make_experiment(request), 1); }, Errc::Cancelled);
  const double shown_s = ui::estimate_of(request, probe.machine.info()).seconds;
  ASSERT_FALSE(probe.all<Progress>().empty());
  ASSERT_TRUE(probe.all<Progress>()[0].left_s);
  EXPECT_GE(*probe.all<Progress>()[0].left_s, shown_s);
  EXPECT_NEAR(*probe.all<Progress>()[0].left_s, shown_s, 1);
}

TEST(TransferForm, ADeviceOfOneCoreOffersNoThreadCounts) {
  MachineInfo machine = machine_of(1);
  machine.devices.front().cores = {0};
  Lab lab(Model(machine), 1, kWide);
  lab.view.forms.transfers.request.one_thread = false;
  lab.view.forms.transfers.request.all_threads = false;
  lab.open(Page::Transfers);
  EXPECT_FALSE(lab.visible("transfers/one_thread"));
  EXPECT_FALSE(lab.visible("transfers/form_error"));
  lab.click("transfers/run");
  ASSERT_EQ(lab.sent<StartTransfers>().size(), 1U);
  EXPECT_TRUE(lab.sent<StartTransfers>()[0].one_thread);
}

TEST(TransferForm, ALiveRunIsNeverQuick) {
  Lab lab(Model(machine_of(2)), 1, kWide);
  lab.view.forms.transfers.live_size = "2MiB";
  lab.view.forms.transfers.request.quick = true;
  lab.open(Page::Transfers);
  lab.click("transfers/tab/Live");
  lab.click("transfers/live");
  ASSERT_EQ(lab.sent<StartTransfers>().size(), 1U);
  EXPECT_TRUE(lab.sent<StartTransfers>()[0].live);
  EXPECT_FALSE(lab.sent<StartTransfers>()[0].quick);
  EXPECT_EQ(lab.sent<StartTransfers>()[0].sizes_bytes, std::vector<std::int64_t>{2 * kMiB});
}

TEST(TransferForm, SaysHowLongARunStillTakes) {
  Model model(machine_of(2));
  model.apply(event(1, 0, JobStarted{"Transfers by size", StartTransfers{}}));
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_EQ(lab.backend.find("transfers/estimate")->label, "Running");
  lab.model.apply(event(1, 1, Progress{0.5, "copy", 9.0}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("transfers/estimate")->label, "about 9 s left");
  lab.model.apply(event(1, 2, JobFinished{}));
  lab.frames(3);
  EXPECT_TRUE(lab.backend.find("transfers/estimate")->label.ends_with("on a busy machine"));
}

TEST(TransferForm, TheQuickSweepSaysWhatDoesNotApply) {
  Lab lab(Model(machine_of(2)), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_NE(lab.tooltip_of("transfers/quick").find("takes only the devices, threads and cache"),
            std::string::npos)
      << lab.tooltip_of("transfers/quick");
}

TEST(TransferForm, OperationsWithoutACaseAreDisabledWithTheReason) {
  Lab lab(Model(machine_of(2)), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_TRUE(lab.backend.find("transfers/op/read")->enabled);
  lab.view.forms.transfers.from = 1;  // cpu:0
  lab.view.forms.transfers.to = 2;    // cpu:1
  lab.frames(3);
  EXPECT_TRUE(lab.backend.find("transfers/op/copy")->enabled);
  for (const char* path : {"transfers/op/read", "transfers/op/write", "transfers/op/triad"}) {
    EXPECT_FALSE(lab.backend.find(path)->enabled) << path;
  }
  EXPECT_NE(lab.tooltip_of("transfers/op/read").find("the same device in From and To"),
            std::string::npos);
  EXPECT_TRUE(lab.backend.find("transfers/run")->enabled);
  lab.click("transfers/op/copy");
  EXPECT_FALSE(lab.backend.find("transfers/run")->enabled) << "it would measure nothing";
  EXPECT_TRUE(lab.visible("transfers/form_error"));
}

TEST(TransferMatrix, AnEmptyCellSaysWhy) {
  Model model(machine_of(2));
  StartTransfers request;
  request.from = {cpu(0)};
  model.apply(event(1, 0, JobStarted{"Transfers by size", request}));
  model.apply(event(1, 1, transfer_sample(cpu(0), cpu(0), TransferOp::Copy, 1, kMiB, 5)));
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_EQ(value(lab, "transfers/matrix/cpu:0/cpu:1"), "–");
  EXPECT_EQ(lab.tooltip_of("transfers/matrix/cpu:0/cpu:1"), "cpu:0 to cpu:1\nNot measured yet.");
  EXPECT_EQ(lab.tooltip_of("transfers/matrix/cpu:1/cpu:0"),
            "cpu:1 to cpu:0\nNot among the devices of this run.");
  lab.model.apply(event(1, 2, JobFinished{}));
  lab.frames(3);
  EXPECT_EQ(lab.tooltip_of("transfers/matrix/cpu:0/cpu:1"),
            "cpu:0 to cpu:1\nNo copy was measured: the run ended before, or skipped it.");
}

TEST(TransferCurves, LevelsAreThoseOfTheReportedCaches) {
  Lab lab(two_devices(), 1, kWide);
  lab.open(Page::Transfers);
  const std::string tip = lab.tooltip_of("transfers/plot/bandwidth/band/L1");
  EXPECT_NE(tip.find("L1 (reported)"), std::string::npos) << tip;
  EXPECT_NE(tip.find("16.0 KiB"), std::string::npos) << tip;
}

TEST(TransferResults, OfAnEarlierSessionHaveTheirDate) {
  Model done = two_devices();
  ui::TransferResults kept = done.transfers().current;
  kept.earlier = true;
  kept.measured_at = 1'700'000'000;
  ui::KeptRuns<TransferResults> runs;
  runs.restore(ui::RunKind::Sweep, kept, {});
  Model model(machine_of(2));
  model.restore_results(std::move(runs), {});
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  EXPECT_TRUE(lab.backend.find("transfers/measured")->label.starts_with("Measured 2023-11-1"))
      << lab.backend.find("transfers/measured")->label;
  EXPECT_TRUE(lab.visible("transfers/plot/bandwidth"));
  lab.model.apply(event(2, 4, JobStarted{"Transfers by size", StartTransfers{}}));
  lab.model.apply(event(2, 5, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kMiB, 5)));
  lab.model.apply(event(2, 6, JobFinished{}));
  lab.frames(3);
  EXPECT_FALSE(lab.visible("transfers/measured")) << "measured now";
  lab.click("transfers/replaced");
  EXPECT_TRUE(lab.visible("transfers/measured"));
}

TEST(TransferCurves, TheChoiceAmongManyPairsIsNoWiderThanItsNames) {
  Model model(machine_of(3));
  model.apply(event(1, 0, JobStarted{"Transfers by size", StartTransfers{}}));
  for (const int from : {0, 1, 2}) {
    for (const int to : {0, 1, 2}) {
      model.apply(event(1, 1, transfer_sample(cpu(from), cpu(to), TransferOp::Copy, 1, kMiB, 5)));
    }
  }
  Lab lab(std::move(model), 1, kWide);
  lab.open(Page::Transfers);
  const ui::WidgetRect* choice = lab.backend.find("transfers/shown_pair");
  ASSERT_NE(choice, nullptr);
  EXPECT_LT(choice->max.x - choice->min.x, 330);
}

}  // namespace
}  // namespace lab::test
