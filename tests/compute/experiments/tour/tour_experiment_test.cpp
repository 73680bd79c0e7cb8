#include "compute/experiments/tour/tour_experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "tests/support/probe.h"

namespace lab {
namespace {

using Figures = std::map<std::pair<Device, TourQuestion>, TourFigure>;

StartTour quick() {
  StartTour request;
  request.seconds = 0.1;
  return request;
}

// A machine with preset bandwidths, which need not be measured.
void preset_bandwidths(Machine& machine, const std::vector<BandwidthCeiling>& levels) {
  for (const Device device : machine.devices()) {
    if (device.kind == DeviceKind::Cpu) machine.at(device).bandwidths().emplace().levels = levels;
  }
}

std::vector<BandwidthCeiling> memory_only() {
  BandwidthCeiling level{.name = "memory", .working_set_bytes = 1'000'000'000, .gb_per_s = 20};
  level.time.min_s = 0.05;
  level.time.p10_s = 0.0625;
  level.time.median_s = 0.1;
  level.time.p90_s = 0.2;
  level.time.n = 11;
  return {level};
}

Figures complete_figures(const test::Probe& probe) {
  Figures figures;
  for (const TourFigure& one : probe.all<TourFigure>()) {
    if (!one.complete) continue;
    EXPECT_TRUE(figures.emplace(std::pair{one.device, one.question}, one).second);
  }
  return figures;
}

TEST(TourExperiment, AnswersEveryQuestionForEveryDevice) {
  test::Probe probe(MachineOptions{.cpu_devices = 2, .emulated_gpus = 1});
  preset_bandwidths(probe.machine, memory_only());
  probe.run(*make_tour_experiment(quick()));
  const Figures figures = complete_figures(probe);
  ASSERT_EQ(figures.size(), 8U);
  for (const auto& [key, one] : figures) {
    SCOPED_TRACE(to_string(one.device) + " " + to_string(one.question));
    EXPECT_EQ(one.missing, "");
    EXPECT_GT(one.value, 0);
    EXPECT_GT(one.n, 0);
    EXPECT_LE(one.low, one.median);
    EXPECT_LE(one.median, one.high);
    EXPECT_FALSE(value_text(one).empty());
    EXPECT_FALSE(spread_text(one).empty());
    EXPECT_FALSE(percentiles_text(one).empty());
    EXPECT_FALSE(sentence_of(one).empty());
  }
  const auto skipped = probe.all<Skipped>();
  EXPECT_EQ(std::ranges::count(skipped, "emu:0", &Skipped::what), 1);
  for (const Skipped& one : skipped) {
    // The plain kernel is refused where one run takes more than four budgets.
    EXPECT_TRUE(one.what == "emu:0" || one.what.starts_with("naive")) << one.what;
  }
  for (const auto& tensor : probe.machine.at(cpu()).memory().list()) ADD_FAILURE() << tensor.name;
}

// The figures are those of the experiments of the other pages.
TEST(TourExperiment, TakesTheFiguresFromTheOtherExperiments) {
  test::Probe probe;
  preset_bandwidths(probe.machine, memory_only());
  probe.run(*make_tour_experiment(quick()));
  const Figures figures = complete_figures(probe);
  ASSERT_EQ(figures.size(), 4U);
  const TourFigure& peak = figures.at({cpu(), TourQuestion::Peak});
  EXPECT_DOUBLE_EQ(peak.value, probe.all<PeakSample>().back().gflops * 1e9);
  bool plain = false;  // refused where one run takes more than four budgets
  for (const MatmulSample& sample : probe.all<MatmulSample>()) {
    plain = plain || sample.kernel == "naive";
    EXPECT_EQ(sample.kernel == "naive" ? peak.plain_share : peak.best_share, sample.share_of_peak);
  }
  EXPECT_TRUE(peak.best_share);
  EXPECT_EQ(peak.plain_share.has_value(), plain);
  const TourFigure& bandwidth = figures.at({cpu(), TourQuestion::Bandwidth});
  EXPECT_DOUBLE_EQ(bandwidth.value, 20e9);
  EXPECT_DOUBLE_EQ(bandwidth.median, 10e9);
  EXPECT_DOUBLE_EQ(bandwidth.low, 5e9);
  EXPECT_DOUBLE_EQ(bandwidth.high, 16e9);
  EXPECT_EQ(bandwidth.n, 11);
  const auto copies = probe.all<TransferSample>();
  const TourFigure& copy = figures.at({cpu(), TourQuestion::SmallCopy});
  EXPECT_EQ(copy.value, copies.front().time.median_s);
  EXPECT_EQ(copy.threads, 1) << "whatever the device's number of threads";
  EXPECT_EQ(copy.all_threads_s.has_value(), copies.size() == 2);
  EXPECT_EQ(copies.back().bytes, kTourCopy_bytes);
  const TourFigure& training = figures.at({cpu(), TourQuestion::Training});
  EXPECT_EQ(training.value, training.median);
  const auto steps = probe.all<StepDone>();
  EXPECT_EQ(training.n, steps.back().step - 3) << "without the warm-up";
  for (const TourFigure& one : probe.all<TourFigure>()) {
    if (one.question == TourQuestion::Peak && !one.complete) return;
  }
  ADD_FAILURE() << "the peak was not shown while the kernels were measured";
}

// Stops once `Result` has been reported.
template <typename Result>
void run_until_stopped(test::Probe& probe) {
  try {
    probe.run_until<Result>(*make_tour_experiment(StartTour{}), 1);
    ADD_FAILURE() << "it was not stopped";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::Cancelled);
  }
}

TEST(TourExperiment, StopsOnRequest) {
  test::Probe probe;
  preset_bandwidths(probe.machine, memory_only());
  run_until_stopped<PeakSample>(probe);
  EXPECT_TRUE(complete_figures(probe).empty());
}

TEST(TourExperiment, NamesTheReasonOfAMissingFigure) {
  test::Probe probe;
  preset_bandwidths(probe.machine, {});
  run_until_stopped<CeilingsMeasured>(probe);
  for (const TourFigure& one : probe.all<TourFigure>()) {
    if (one.question != TourQuestion::Bandwidth) continue;
    EXPECT_NE(one.missing, "");
    EXPECT_EQ(value_text(one), "N/A");
    EXPECT_NE(sentence_of(one).find(one.missing), std::string::npos);
    return;
  }
  ADD_FAILURE() << "no figure";
}

TEST(TourExperiment, RejectsEmulatedGpusAndNoTime) {
  test::Probe probe(MachineOptions{.emulated_gpus = 1});
  StartTour request = quick();
  request.devices = {emulated_gpu()};
  EXPECT_THROW(probe.run(*make_tour_experiment(request)), Error);
  request.devices = {};
  request.seconds = 0;
  EXPECT_THROW(probe.run(*make_tour_experiment(request)), Error);
}

}  // namespace
}  // namespace lab
