#include "ui/model/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/events/tensor_code.h"
#include "compute/core/language.h"
#include "tests/support/catalogs.h"
#include "tests/ui/events.h"
#include "ui/model/columns.h"
#include "ui/model/training_run.h"

namespace lab::ui {
namespace {

using namespace lab::test;

Column64 ones(const Column64& values) {
  return Column64(values.size(), 1.0);
}

TEST(Smoothed, FollowsAGrowingSeries) {
  Column64 values = {4, 2};
  Smoothed smoothed;
  EXPECT_EQ(smoothed.follow(values, ones(values), 0), values);
  values.push_back(1);
  EXPECT_EQ(smoothed.follow(values, ones(values), 0), values);
}

TEST(Smoothed, StartsOverForAnotherWeightOrAShorterSeries) {
  const auto once = [](const Column64& values, double keep) {
    Ema ema(keep);
    Column64 averages;
    for (const double value : values) averages.push_back(ema.add(value));
    return averages;
  };
  Column64 values = {4, 2, 1, 3};
  Smoothed smoothed;
  EXPECT_EQ(smoothed.follow(values, ones(values), 0.5), once(values, 0.5));
  EXPECT_EQ(smoothed.follow(values, ones(values), 0.9), once(values, 0.9));
  values.resize(2);
  EXPECT_EQ(smoothed.follow(values, ones(values), 0.9), once(values, 0.9));
}

class ModelTest : public ::testing::Test {
 protected:
  void start(JobId job, JobCommand command, std::string title = "A job") {
    model.apply(event(job, t += 1, JobStarted{std::move(title), std::move(command)}));
  }
  void finish(JobId job, Outcome outcome, std::string error = {}) {
    model.apply(event(job, t += 1, JobFinished{outcome, 1.5, std::move(error)}));
  }
  void send(JobId job, Payload payload) { model.apply(event(job, t += 0.1, std::move(payload))); }

  Model model{machine_of(2)};
  double t = 0;
};

TEST_F(ModelTest, RemembersWhenJobsRan) {
  start(1, StartTour{});
  EXPECT_TRUE(model.job_spans().empty());
  finish(1, Outcome::Cancelled);
  start(2, StartMatmul{});
  finish(2, Outcome::Done);
  ASSERT_EQ(model.job_spans().size(), 2U);
  EXPECT_EQ(model.job_spans()[0].page, Page::Tour);
  EXPECT_EQ(model.job_spans()[1].page, Page::Matmul);
  EXPECT_EQ(model.job_spans()[1].begin_s, 3);
  EXPECT_EQ(model.job_spans()[1].end_s, 4);
}

TEST(Ema, KeepsConstants) {
  Ema ema;
  for (int i = 0; i < 100; ++i) EXPECT_NEAR(ema.add(3.5), 3.5, 1e-12);
}

TEST(Ema, MatchesTheDefinitionWithBiasCorrection) {
  Ema ema(0.9);
  double sum = 0;
  for (int i = 1; i <= 50; ++i) {
    const double x = std::sin(i);
    sum = 0.9 * sum + 0.1 * x;
    EXPECT_NEAR(ema.add(x), sum / (1 - std::pow(0.9, i)), 1e-12);
  }
}

TEST(Ema, IgnoresNonFiniteValues) {
  Ema ema;
  EXPECT_TRUE(std::isnan(ema.add(kNoValue)));
  EXPECT_EQ(ema.add(2), 2);
  EXPECT_EQ(ema.add(std::numeric_limits<double>::infinity()), 2);
  EXPECT_NEAR(ema.add(2), 2, 1e-12);
}

TEST(DeviceHistory, KeepsOneToTwoHistoryLengths) {
  DeviceHistory history;
  for (int i = 0; i < 4 * 3600; ++i) {
    DeviceTelemetry reading;
    reading.t_s = 0.5 * i;
    reading.utilisation = 0.25;
    history.add(reading);
  }
  EXPECT_EQ(history.t_s.back(), 0.5 * (4 * 3600 - 1));
  EXPECT_LE(history.t_s.front(), history.t_s.back() - kHistorySeconds);
  EXPECT_LE(history.t_s.size(), 4u * 3600 / 2 + 64);
  EXPECT_EQ(history.t_s.size(), history.utilisation.size());
  EXPECT_EQ(history.t_s.size(), history.temperature_c.size());
}

TEST(DeviceHistory, IsBoundedAtAnyRate) {
  DeviceHistory history;
  for (int i = 0; i < 200'000; ++i) {
    DeviceTelemetry reading;
    reading.t_s = 1e-4 * i;
    history.add(reading);
  }
  EXPECT_LE(history.t_s.size(), 2 * kHistoryPoints);
  EXPECT_GE(history.t_s.size(), kHistoryPoints);
}

TEST(DeviceHistory, UnknownValuesAreNan) {
  DeviceHistory history;
  DeviceTelemetry reading;
  reading.t_s = 1;
  history.add(reading);
  EXPECT_TRUE(std::isnan(history.utilisation.at(0)));
}

TEST(Resample, HoldsTheLastValueAndIsNanBefore) {
  const Column64 t_s = {10, 11, 14};
  const Column64 values = {1, 2, 3};
  const std::vector<float> out = resample(t_s, values, 15, 6, 6);  // at 10, 11, ..., 15
  ASSERT_EQ(out.size(), 6u);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[3], 2);
  EXPECT_EQ(out[4], 3);
  EXPECT_EQ(out[5], 3);
  EXPECT_TRUE(std::isnan(resample(t_s, values, 15, 10, 10)[0]));
  EXPECT_TRUE(std::isnan(resample({}, {}, 15, 10, 10)[9]));
}

TEST_F(ModelTest, IgnoresReadingsOfUnknownDevices) {
  send(0, telemetry({cpu(1), gpu(3)}, 1, 0.5));
  EXPECT_FALSE(model.history(cpu(0)).seen);
  ASSERT_TRUE(model.history(cpu(1)).seen);
  EXPECT_EQ(*model.history(cpu(1)).last.utilisation, 0.5);
  EXPECT_EQ(model.memory(cpu(1)).used, 12 * kMiB);
  EXPECT_EQ(model.memory(cpu(1)).peak, 96 * kMiB);
  const auto mib = [](double n) { return n * static_cast<double>(kMiB); };
  EXPECT_EQ(model.memory(cpu(1)).used_bytes, (Column64{mib(96), mib(12)})) << "peak, then used";
  send(0, telemetry({cpu(1)}, 2, 0.5));
  EXPECT_EQ(model.memory(cpu(1)).used_bytes, (Column64{mib(96), mib(12), mib(12)}));
  EXPECT_FALSE(model.history(gpu(3)).seen);
}

TEST_F(ModelTest, TensorListSumsPerDevice) {
  TensorList list;
  list.tensors.push_back(tensor(1, cpu(0), 100));
  list.tensors.push_back(tensor(2, cpu(0), 20));
  list.tensors.push_back(tensor(3, cpu(1), 3));
  send(0, list);
  EXPECT_EQ(model.memory(cpu(0)).used, 120);
  EXPECT_EQ(model.memory(cpu(1)).used, 3);
  send(0, TensorList{});
  EXPECT_EQ(model.memory(cpu(0)).used, 0);
  EXPECT_EQ(model.memory(cpu(0)).peak, 120);
  EXPECT_EQ(model.memory(cpu(0)).used_bytes.size(), 2u);
}

TEST_F(ModelTest, TracksAJobFromStartToEnd) {
  EXPECT_EQ(model.state(Page::Matmul).phase, Phase::Empty);
  start(7, StartMatmul{}, "Matmul ladder on cpu:0");
  ASSERT_TRUE(model.job());
  EXPECT_EQ(model.job()->title, "Matmul ladder on cpu:0");
  EXPECT_EQ(model.state(Page::Matmul).phase, Phase::Running);
  send(7, Progress{1.5, "packed at 64", 12.0});
  EXPECT_EQ(model.job()->done, 1);
  EXPECT_EQ(*model.job()->left_s, 12.0);
  finish(7, Outcome::Done);
  EXPECT_FALSE(model.job());
  EXPECT_EQ(model.state(Page::Matmul).phase, Phase::Done);
  EXPECT_EQ(model.state(Page::Matmul).seconds, 1.5);
}

TEST_F(ModelTest, EventsOfUnknownJobsChangeNothing) {
  start(1, StartMatmul{});
  send(99, Progress{0.7, "?", {}});
  send(99, matmul_sample(cpu(), "naive", 64, 1));
  send(99, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kKiB, 1));
  send(99, step_done(1));
  send(99, Predictions{});
  finish(99, Outcome::Failed, "not mine");
  EXPECT_EQ(model.job()->done, 0);
  EXPECT_TRUE(model.matmul().current.empty());
  EXPECT_TRUE(model.transfers().current.empty());
  EXPECT_TRUE(model.runs().empty());
  EXPECT_EQ(model.state(Page::Matmul).phase, Phase::Running);
}

TEST_F(ModelTest, FailedJobKeepsErrorRequestAndLog) {
  StartTransfers request;
  request.budget_s = 0.125;
  start(2, request, "Transfers");
  finish(2, Outcome::Failed, "transfer: 1 TiB does not fit; choose a smaller size");
  const PageState& state = model.state(Page::Transfers);
  EXPECT_EQ(state.phase, Phase::Failed);
  EXPECT_EQ(state.error, "transfer: 1 TiB does not fit; choose a smaller size");
  ASSERT_TRUE(state.command);
  EXPECT_EQ(std::get<StartTransfers>(*state.command).budget_s, 0.125);
  EXPECT_EQ(model.log().back().severity, Severity::Error);
  start(3, request, "Transfers");
  EXPECT_EQ(model.state(Page::Transfers).phase, Phase::Running);
  EXPECT_TRUE(model.state(Page::Transfers).error.empty());
}

TEST_F(ModelTest, CancelledJobIsNotAFailure) {
  start(2, StartMatmul{});
  finish(2, Outcome::Cancelled);
  EXPECT_EQ(model.state(Page::Matmul).phase, Phase::Done);
  EXPECT_TRUE(model.state(Page::Matmul).cancelled);
}

TEST_F(ModelTest, MatmulCurvesAreSortedWithoutDuplicates) {
  start(1, StartMatmul{});
  send(1, matmul_sample(cpu(), "naive", 256, 2));
  send(1, matmul_sample(cpu(), "naive", 64, 1));
  send(1, matmul_sample(cpu(), "naive", 256, 3));
  send(1, matmul_sample(cpu(1), "naive", 64, 4));
  const MatmulResults& results = model.matmul().current;
  ASSERT_EQ(results.kernels.size(), 2u);
  EXPECT_EQ(results.kernels[0].size, (Column64{64, 256}));
  EXPECT_EQ(results.kernels[0].gflops, (Column64{1, 3}));
  EXPECT_NEAR(results.kernels[0].gflops_low[1], 3 / 1.1, 1e-9);
  EXPECT_NEAR(results.kernels[0].gflops_high[1], 3 / 0.95, 1e-9);
  EXPECT_EQ(results.largest_size(cpu()), 256);
  EXPECT_EQ(results.kernels[0].at(64)->gflops, 1);
  EXPECT_EQ(results.kernels[0].at(65), nullptr);
  EXPECT_TRUE(results.kernels[0].live_t_s.empty());
}

TEST_F(ModelTest, KeepsOldResultsUntilNewOnesArriveOrFail) {
  start(1, StartMatmul{});
  send(1, matmul_sample(cpu(), "naive", 64, 1));
  finish(1, Outcome::Done);
  start(2, StartMatmul{});
  EXPECT_TRUE(model.matmul().current.empty());
  ASSERT_TRUE(model.matmul().previous);
  EXPECT_EQ(model.matmul().previous->kernels.size(), 1u);
  finish(2, Outcome::Failed, "no");
  EXPECT_EQ(model.matmul().current.kernels.size(), 1u);
  EXPECT_FALSE(model.matmul().previous);
}

TEST_F(ModelTest, LiveRunKeepsEverySampleInOrder) {
  StartMatmul request;
  request.live = true;
  start(1, request);
  for (int i = 0; i < 10; ++i) send(1, matmul_sample(cpu(), "naive", 64, i + 1));
  const KernelResults& k = model.matmul_runs().of(RunKind::Live).current.kernels.at(0);
  EXPECT_EQ(k.live_t_s.size(), 10u);
  EXPECT_EQ(k.live_gflops.back(), 10);
  EXPECT_GT(k.live_t_s.front(), 0);
  EXPECT_EQ(k.size.size(), 1u);
}

TEST(Model, LiveResultsOfHoursStayBounded) {
  Model model(machine_of(1));
  StartMatmul product;
  product.live = true;
  StartTransfers copy;
  copy.live = true;
  constexpr int kSamples = 100'000;
  model.apply(event(1, 0, JobStarted{"Live product", product}));
  for (int i = 1; i <= kSamples; ++i) {
    model.apply(event(1, 0.2 * i, matmul_sample(cpu(), "simd", 256, i)));
  }
  model.apply(event(1, 0.2 * kSamples, JobFinished{}));
  model.apply(event(2, 0, JobStarted{"Live copy", copy}));
  for (int i = 1; i <= kSamples; ++i) {
    model.apply(event(2, 0.2 * i, transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, 4096, i)));
  }
  const KernelResults& k = model.matmul_runs().of(RunKind::Live).current.kernels.at(0);
  const TransferCase& c = model.transfer_runs().of(RunKind::Live).current.cases.at(0);
  for (const auto& [times, values] :
       {std::pair(&k.live_t_s, &k.live_gflops), std::pair(&c.live_t_s, &c.live_gb_per_s)}) {
    EXPECT_LE(times->size(), 2 * kHistoryPoints);
    EXPECT_EQ(times->size(), values->size());
    EXPECT_LE(times->front(), times->back() - kHistorySeconds);
    EXPECT_EQ(values->back(), kSamples);
  }
}

TEST_F(ModelTest, RepeatedRungIsReplaced) {
  send(0, RungInfo{cpu(), "naive", "Three loops", "", false});
  send(0, RungInfo{cpu(), "naive", "Three plain loops", "", false});
  ASSERT_EQ(model.rungs().size(), 1u);
  EXPECT_EQ(model.rungs()[0].title, "Three plain loops");
}

TEST_F(ModelTest, TransferCasesHaveFits) {
  start(1, StartTransfers{});
  send(1, transfer_sample(cpu(), cpu(), TransferOp::Copy, 2, kMiB, 20));
  send(1, transfer_sample(cpu(), cpu(), TransferOp::Copy, 2, kKiB, 5));
  send(1, transfer_sample(cpu(), cpu(1), TransferOp::Copy, 2, kKiB, 4));
  TransferFit fit;
  fit.threads = 2;
  fit.levels = {{"L1", 16 * kKiB, 5, 2e-6, 95, 0.02},
                {"L2", kMiB, 6, 0, 40, 0.12},
                {"memory", 0, 7, 0, 20, 0.03}};
  fit.faster_than_one = {180 * kKiB, 64 * kMiB};
  send(1, fit);
  const TransferResults& results = model.transfers().current;
  ASSERT_EQ(results.cases.size(), 2u);
  EXPECT_EQ(results.cases[0].bytes, (Column64{1024, 1048576}));
  ASSERT_TRUE(results.cases[0].fit);
  EXPECT_FALSE(results.cases[1].fit);
  ASSERT_NE(results.best_copy(cpu(), cpu(), kKiB), nullptr);
  EXPECT_EQ(results.best_copy(cpu(), cpu(), kKiB)->gb_per_s, 5) << "of that size, not the best";
  EXPECT_EQ(results.best_copy(cpu(1), cpu(), kKiB), nullptr);
  EXPECT_EQ(results.copy_sizes(), (std::vector<std::int64_t>{kKiB, kMiB})) << "each once";
  EXPECT_EQ(results.pairs().size(), 2U);
  EXPECT_EQ(sentence(fit),
            "2.00 µs per call, then 95.0 GB/s in L1, up to 16.0 KiB; 20.0 GB/s in memory.");
  EXPECT_EQ(describe_faster(fit),
            "copy cpu:0: 2 threads are faster than one thread for 180 KiB to 64.0 MiB.");
}

// A slow step counts as long as it took: 100 images in 1 s and in 3 s are 50 images/s.
TEST(RateEmaTest, AveragesTimes) {
  RateEma ema;
  EXPECT_EQ(ema.add(100), 100);
  double last = 0;
  for (int i = 0; i < 2000; ++i) last = ema.add(i % 2 == 0 ? 100 : 100.0 / 3);
  EXPECT_NEAR(last, 50, 2);
  EXPECT_EQ(ema.add(0), last) << "not a rate";
}

TEST_F(ModelTest, TrainingKeepsAndSmoothsEveryStep) {
  start(1, StartTraining{});
  send(1, training_started(true));
  Ema ema;
  double smooth = 0;
  for (int i = 1; i <= 500; ++i) {
    send(1, step_done(i));
    smooth = ema.add(step_done(i).accuracy);
  }
  send(1, epoch_done(1));
  EpochDone untested = epoch_done(2);
  untested.test_acc.reset();
  send(1, untested);
  const TrainingRun& run = model.runs().back();
  EXPECT_TRUE(run.synthetic());
  EXPECT_EQ(run.name(), "LeNet, batch 256, lr 0.9");
  ASSERT_EQ(run.steps().size(), 500u);
  EXPECT_EQ(run.steps().step.back(), 500);
  EXPECT_NEAR(run.steps().epoch.back(), 500.0 / 235, 1e-12);
  EXPECT_NEAR(run.steps().accuracy_smooth.back(), smooth, 1e-12);
  ASSERT_EQ(run.epochs().size(), 2u);
  EXPECT_EQ(run.epochs().step[0], 500);
  EXPECT_TRUE(std::isnan(run.epochs().test_acc[1]));
}

TEST_F(ModelTest, KeepsPastRunsThatHaveSteps) {
  start(1, StartTraining{});
  send(1, training_started(false));
  send(1, step_done(1));
  finish(1, Outcome::Done);
  start(2, StartTraining{});
  EXPECT_EQ(model.runs().size(), 2u);
  finish(2, Outcome::Failed, "no data");
  ASSERT_EQ(model.runs().size(), 1u);
  EXPECT_EQ(model.runs().back().id(), 1);
  send(2, step_done(1));  // arrives after its run was removed
  EXPECT_EQ(model.runs().back().steps().size(), 1u);
  for (JobId job = 3; job < 60; ++job) {
    start(job, StartTraining{});
    send(job, step_done(1));
    finish(job, Outcome::Done);
  }
  EXPECT_EQ(model.runs().size(), kTrainingRuns);
  EXPECT_EQ(model.runs().back().id(), 59);
}

TEST_F(ModelTest, ForgottenRunsMakeRoom) {
  for (JobId job = 1; job <= static_cast<JobId>(kTrainingRuns) + 1; ++job) {
    if (job > static_cast<JobId>(kTrainingRuns)) model.forget_run(7);
    start(job, StartTraining{});
    send(job, step_done(1));
    finish(job, Outcome::Done);
  }
  ASSERT_EQ(model.runs().size(), kTrainingRuns);
  EXPECT_EQ(model.runs().front().id(), 1) << "the oldest is still there";
  for (const TrainingRun& run : model.runs()) EXPECT_NE(run.id(), 7);
}

TEST_F(ModelTest, KeptRunsHaveSlotsOfTheirOwn) {
  for (const JobId job : {1, 7}) {
    start(job, StartTraining{});
    send(job, step_done(1));
    finish(job, Outcome::Done);
  }
  EXPECT_EQ(model.runs()[0].slot(), 0);
  EXPECT_EQ(model.runs()[1].slot(), 1);
  start(8, StartTraining{});
  finish(8, Outcome::Failed, "no data");
  for (JobId job = 9; job < 9 + static_cast<JobId>(kTrainingRuns) + 5; ++job) {
    start(job, StartTraining{});
    send(job, step_done(1));
    finish(job, Outcome::Done);
    std::set<int> slots;
    for (const TrainingRun& run : model.runs()) slots.insert(run.slot());
    EXPECT_EQ(slots.size(), model.runs().size());
    EXPECT_LT(*slots.rbegin(), static_cast<int>(kTrainingRuns));
  }
}

TEST_F(ModelTest, RestoredRunsHaveSlotsOfTheirOwn) {
  start(1, StartTraining{});
  std::vector<TrainingRun> restored;
  for (const JobId id : {-2, -1}) restored.emplace_back(id, StartTraining{});
  model.restore_runs(std::move(restored));
  ASSERT_EQ(model.runs().size(), 3U);
  EXPECT_EQ(model.runs().back().id(), 1);
  EXPECT_EQ(model.runs()[2].slot(), 0) << "kept";
  EXPECT_EQ(model.runs()[1].slot(), 1);
  EXPECT_EQ(model.runs()[0].slot(), 2);
}

TEST_F(ModelTest, RestoredRunsKeepTheirSlots) {
  std::vector<TrainingRun> restored;
  for (const JobId id : {-3, -2, -1}) {
    restored.emplace_back(id, StartTraining{}).set_slot(id == -2 ? 0 : 4);
  }
  model.restore_runs(std::move(restored));
  EXPECT_EQ(model.runs()[2].slot(), 4);
  EXPECT_EQ(model.runs()[1].slot(), 0);
  EXPECT_EQ(model.runs()[0].slot(), 1) << "its own is taken";
}

TEST_F(ModelTest, ADivergedRunEndsWithAWarning) {
  start(1, StartTraining{});
  send(1, training_started(true));
  StepDone step = step_done(1);
  step.loss = 1e6;
  send(1, step);
  step.step = 2;
  step.loss = 2.3026;  // a network that only guesses has not come back
  send(1, step);
  TrainingDone done;
  done.test_acc = 0.1;
  send(1, done);
  finish(1, Outcome::Done);
  EXPECT_EQ(model.log().back().severity, Severity::Warning);
  EXPECT_NE(model.log().back().text.find("diverged at step 1, test accuracy 10.0 %"),
            std::string::npos)
      << model.log().back().text;
}

TEST(DifferingSettings, AreNamedInWords) {
  const auto of_first = [](const std::vector<const TrainingRun*>& runs) {
    std::vector<std::string> values;
    for (const DifferingSetting& s : settings_that_differ(runs)) values.push_back(s.values[0]);
    return values;
  };
  StartTraining few, many;
  few.synthetic_train = 6000;
  const TrainingRun first(1, few), second(2, many);
  EXPECT_EQ(of_first({&first, &second}), std::vector<std::string>{"Training images: 6000"});
  few.data = many.data = DataSource::FashionMnist;
  const TrainingRun third(3, few), fourth(4, many);
  EXPECT_TRUE(of_first({&third, &fourth}).empty()) << "neither uses them";
  StartTraining two = many;
  two.devices = {cpu(0), cpu(1)};
  const TrainingRun fifth(5, two);
  EXPECT_EQ(of_first({&fifth, &fourth}), std::vector<std::string>{"devices cpu:0, cpu:1"});
}

TEST(SettingDifferences, AreComputedAgainWhenTheRunsChange) {
  StartTraining slow, fast;
  slow.lr = 0.1, fast.lr = 0.9;
  const TrainingRun first(1, slow), second(2, fast);
  TrainingRun third(3, slow);
  SettingDifferences differences;
  EXPECT_EQ(differences.of({&first, &third}), settings_that_differ({&first, &third}));
  const auto* const computed = differences.of({&first, &second}).data();
  EXPECT_EQ(differences.of({&first, &second}), settings_that_differ({&first, &second}));
  EXPECT_EQ(differences.of({&first, &second}).data(), computed) << "computed again";
  differences.of({&first, &third});
  TrainingStarted started = training_started(true);
  started.request = fast;
  third.add(started);
  EXPECT_EQ(differences.of({&first, &third}), settings_that_differ({&first, &third}));
}

TEST(TrainingRunName, StatesASettingOnlyWithItsOwnValue) {
  StartTraining request;
  request.lr = 0.1;
  request.seed = 3;
  TrainingRun run(1, request);
  for (const char* key : {"model", "batch", "lr", "seed"}) EXPECT_TRUE(run.is_in_name(key)) << key;
  EXPECT_FALSE(run.is_in_name("momentum")) << run.name();
  TrainingStarted started = training_started(true);
  started.request = request;
  started.lr = 0.2;  // scaled to the devices
  run.add(started);
  EXPECT_FALSE(run.is_in_name("lr")) << run.name();
}

TEST_F(ModelTest, AcceptsAMillionSteps) {
  start(1, StartTraining{});
  send(1, training_started(true));
  Event e = event(1, 1, step_done(1));
  for (int i = 1; i <= 1'000'000; ++i) {
    std::get<StepDone>(e.payload).step = i;
    model.apply(e);
  }
  EXPECT_EQ(model.runs().back().steps().size(), 1'000'000u);
}

TEST_F(ModelTest, LogIsBounded) {
  for (std::size_t i = 0; i < kLogLines + 50; ++i) {
    send(0, LogLine{Severity::Info, std::to_string(i)});
  }
  EXPECT_EQ(model.log().size(), kLogLines);
  EXPECT_EQ(model.log().back().text, std::to_string(kLogLines + 49));
}

TEST(Statements, AnUnreadableOneIsNotRepeatedInItsErrorInAnyLanguage) {
  for (const Language language :
       {Language::English, Language::Chinese, Language::Japanese, Language::Vietnamese}) {
    const test::WithLanguage in(language);
    Model model(machine_of(1));
    const std::string statement = " Q + 1";
    std::string error;
    try {
      parse_tensor_statement(statement);
    } catch (const Error& e) {
      error = e.what();
    }
    ASSERT_NE(error.find("Q + 1"), std::string::npos);
    model.note_unreadable(statement, error);
    ASSERT_EQ(model.statements().size(), 1U);
    EXPECT_EQ(model.statements()[0].error.find("Q + 1"), std::string::npos)
        << model.statements()[0].error;
    EXPECT_FALSE(model.statements()[0].error.empty());
  }
}

}  // namespace
}  // namespace lab::ui
