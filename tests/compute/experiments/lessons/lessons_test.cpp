// The engine of the lessons, and short runs of the lessons.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/lesson.h"
#include "compute/experiments/lessons/lesson_experiment.h"
#include "compute/experiments/lessons/several_devices/allreduce_parts.h"
#include "tests/support/errors.h"
#include "tests/support/fake_gpu/fake_gpu.h"
#include "tests/support/fake_nccl/fake_nccl.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

using test::message_of;
using test::Probe;

template <typename Result>
std::vector<Result> results_of(const Probe& probe) {
  std::vector<Result> found;
  for (const LessonEvent& event : probe.all<LessonEvent>()) {
    if (const auto* result = std::get_if<Result>(&event.result)) found.push_back(*result);
  }
  return found;
}

StartLesson lesson(const std::string& name, std::optional<double> vary = {}) {
  StartLesson request;
  request.lesson = name;
  request.vary = vary;
  return request;
}

void run(Probe& probe, const StartLesson& request) {
  probe.run(*make_lesson_experiment(request));
}

struct ShortLesson {
  const char* name;
  std::optional<double> vary;
};

class Lessons : public testing::TestWithParam<ShortLesson> {};

double sample_value(const Probe& probe, const std::string& series) {
  for (const LessonSample& s : results_of<LessonSample>(probe)) {
    if (s.series == series) return s.value;
  }
  ADD_FAILURE() << "no sample of " << series;
  return 0;
}

// A ratio and both times are of one round, so that they agree on a busy machine as well.
void expect_ratio(const Probe& probe, const std::string& ratio, const std::string& above,
                  const std::string& below) {
  EXPECT_NEAR(sample_value(probe, ratio), sample_value(probe, above) / sample_value(probe, below),
              1e-9);
}

TEST_P(Lessons, HoldsAndExplainsItsGap) {
  const std::string name = GetParam().name;
  if (name == "accuracy" || name == "sixteen" || name == "log") SKIP_UNDER_THREAD_SANITIZER();
  Probe probe(2);
  run(probe, lesson(name, GetParam().vary));
  const auto done = results_of<LessonDone>(probe);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_TRUE(done[0].sentence.ends_with(".")) << done[0].sentence;
  EXPECT_EQ(done[0].sentence.find(". "), std::string::npos)
      << "more than one sentence: " << done[0].sentence;
  EXPECT_TRUE(done[0].answer || !done[0].why_open.empty());
  for (const LessonCheck& check : done[0].checks) EXPECT_TRUE(check.passed) << check.what;
  EXPECT_FALSE(results_of<LessonSample>(probe).empty());
  if (name == "together") {
    const std::string products = results_of<LessonSpan>(probe)[0].what;
    EXPECT_TRUE(products.ends_with(" products")) << products;
    const std::string both = fmt::format("{} products", 2 * std::stoll(products));
    expect_ratio(probe, "in sequence / at once", both + " in sequence", both + " at once");
  }
  if (name == "log") {
    expect_ratio(probe, "logging each / keeping", "logging each norm: last value available",
                 "keeping them on the device: last value available");
  }
  if (name == "memory") {
    EXPECT_EQ(sample_value(probe, "memory limit of cpu:0"),
              static_cast<double>(probe.machine.at(cpu()).memory().limit_bytes()));
  }
  for (const LessonGap& gap : results_of<LessonGap>(probe)) {
    double sum = gap.predicted;
    for (const GapPart& part : gap.parts) sum += part.value;
    EXPECT_NEAR(sum, gap.measured, 1e-9 * std::abs(gap.measured) + 1e-15) << gap.what;
    EXPECT_EQ(gap.parts.back().cause, "unexplained");
    if (name == "devices") {
      EXPECT_EQ(gap.unit, "cores");
    }
  }
  EXPECT_EQ(results_of<LessonStepBegun>(probe).size(),
            lessons::find_lesson(name).info.steps.size());
  for (const Device device : probe.machine.devices()) {
    EXPECT_EQ(probe.machine.at(device).memory().used_bytes(), 0) << to_string(device);
  }
}

TEST(LessonRoofline, LimitsAKernelByTheLevelThatHoldsItsArrays) {
  SKIP_UNDER_THREAD_SANITIZER();
  Probe probe(2);
  run(probe, lesson("roofline"));
  const auto predictions = results_of<LessonPrediction>(probe);
  const NamedQuantity nearest = predictions.front().constants.at(1);  // 3 KiB
  EXPECT_EQ(nearest.value, sample_value(probe, nearest.name));
  EXPECT_GE(nearest.value, sample_value(probe, "bandwidth of memory"));
  const LessonPrediction& sine = predictions.back();  // 32 MiB
  EXPECT_EQ(sine.constants.at(1).value, sample_value(probe, sine.constants.at(1).name));
  EXPECT_LE(sine.constants.at(1).value, nearest.value);
}

TEST(LessonRoofline, MarksTheKneeThatItsSentenceNames) {
  SKIP_UNDER_THREAD_SANITIZER();
  Probe probe(2);
  run(probe, lesson("roofline"));
  const LessonDone done = results_of<LessonDone>(probe).at(0);
  ASSERT_EQ(done.marks.size(), 1U);
  EXPECT_EQ(done.marks[0].value, sample_value(probe, "measured knee, N"));
  EXPECT_NE(done.sentence.find(fmt::format("N = {:.0f};", done.marks[0].value)), std::string::npos)
      << done.sentence;
  const double ideal = sample_value(probe, "ideal knee with arrays in memory, N");
  EXPECT_TRUE(done.sentence.ends_with(fmt::format("from N = {:.0f} on.", ideal)))
      << done.sentence << ": rounded once, and here " << ideal;
  EXPECT_EQ(ideal, std::round(ideal));
}

// The time of a copy is named in two measurements, of which the text says how they differ.
TEST(LessonLink, TellsItsTwoTimesOfOneCopyApart) {
  Probe probe(2);
  run(probe, lesson("link"));
  const LessonDone done = results_of<LessonDone>(probe).at(0);
  ASSERT_TRUE(done.answer);
  EXPECT_NE(done.explanation.find(format_seconds(done.answer->values.at(2)) + " for 64 MiB"),
            std::string::npos)
      << done.explanation;
  const double in_turns = sample_value(probe, "one copy of 64 MiB beside them, cpu:0 to cpu:1");
  const auto says = [&](const std::string& text) {
    return done.sentence.find(text) != std::string::npos;
  };
  EXPECT_EQ(says(format_seconds(in_turns)), says("in turns")) << done.sentence;
  EXPECT_NE(says("in turns"), says(" times ")) << "otherwise a ratio: " << done.sentence;
}

// The messages of a ring's step are timed one after another and count as simultaneous.
TEST(LessonAllreduce, CallsTheTimeOfTheRingModelled) {
  Probe probe(2);
  run(probe, lesson("allreduce"));
  for (const LessonGap& gap : results_of<LessonGap>(probe)) {
    EXPECT_EQ(gap.modelled, gap.what.find("modelled") != std::string::npos) << gap.what;
  }
}

TEST(LessonTensors, OccupyMainMemoryAlsoInReusedPages) {
  Probe probe(1);
  for (int i = 0; i < 2; ++i) {
    run(probe, lesson("tensors"));
    EXPECT_NEAR(sample_value(probe, "its pages in main memory"), 4 * kMiB, 64 * kKiB);
  }
}

// Four devices share cores on most machines, and then gain no more than the cores allow. What the
// lesson says of the second device follows from what it measured.
TEST(LessonSpeedup, PredictsWithinTheCoresAndExplainsWhatItMeasured) {
  SKIP_UNDER_THREAD_SANITIZER();
  Probe probe(4);
  const int load = core_load(probe.machine, probe.machine.devices());
  run(probe, lesson("speedup", 16));
  for (const LessonPrediction& prediction : results_of<LessonPrediction>(probe)) {
    if (load == 1 || prediction.series.find("4 devices") == std::string::npos) continue;
    EXPECT_LE(prediction.value, 4.0 / load) << prediction.series;
  }
  const LessonDone done = results_of<LessonDone>(probe).at(0);
  const std::vector<double> faster = done.answer->values;
  const std::string lenet = done.explanation.substr(0, done.explanation.find("ResNet-18:"));
  const std::string deep = done.explanation.substr(lenet.size());
  const auto paid = [](double ratio) {
    return ratio > 1.05   ? "the second device paid."
           : ratio < 0.95 ? "the second device cost time."
                          : "the second device changed little.";
  };
  EXPECT_NE(lenet.find(paid(faster[0])), std::string::npos) << done.explanation;
  EXPECT_NE(deep.find(paid(faster[1])), std::string::npos) << done.explanation;
  EXPECT_EQ(deep.find("and gained more") != std::string::npos, faster[1] > faster[0])
      << done.explanation;
}

// The sentence and the verdicts rest on the same measured times, also on a busy machine.
TEST(LessonSixteen, WeighsTheSlowDeviceByItsMeasuredSaving) {
  SKIP_UNDER_THREAD_SANITIZER();
  Probe probe(2);
  run(probe, lesson("sixteen", 16));
  double without_s = INFINITY, fastest_s = INFINITY, without_varies_s = 0, fastest_varies_s = 0;
  std::vector<std::string> verdicts;
  for (const LessonSample& s : results_of<LessonSample>(probe)) {
    if (s.series.starts_with("time per step")) {
      const double varies_s = (s.time.p90_s - s.time.p10_s) / 2;
      if (s.value < fastest_s) {
        fastest_s = s.value;
        fastest_varies_s = varies_s;
      }
      if (s.x == 0 && s.value < without_s) {
        without_s = s.value;
        without_varies_s = varies_s;
      }
    }
    if (s.series.starts_with("the slow device over")) verdicts.push_back(s.text);
  }
  ASSERT_EQ(verdicts.size(), 3U);
  const bool pays = without_s - fastest_s > std::max(without_varies_s, fastest_varies_s);
  const std::string saves = pays ? "it saves " + format_seconds(without_s - fastest_s) + " per step"
                                 : "drop it: it saves no more than steps vary";
  for (const std::string& verdict : verdicts) {
    EXPECT_NE(verdict.find(saves), std::string::npos) << verdict << "; expected: " << saves;
  }
  const std::string sentence = results_of<LessonDone>(probe).at(0).sentence;
  EXPECT_EQ(sentence.starts_with("The slow device saved nothing"), fastest_s == without_s)
      << sentence;
  // The Scaling page predicts for the same batch.
  const std::string explanation = results_of<LessonDone>(probe).at(0).explanation;
  const auto free = std::get<StartScaling>(*lessons::find_lesson("sixteen").info.free);
  EXPECT_NE(explanation.find(fmt::format("the same {} images", free.training.batch)),
            std::string::npos)
      << explanation;
}

INSTANTIATE_TEST_SUITE_P(All, Lessons,
                         testing::Values(ShortLesson{"devices", {}}, ShortLesson{"tensors", 64},
                                         ShortLesson{"copies", 1}, ShortLesson{"link", {}},
                                         ShortLesson{"log", {}}, ShortLesson{"together", 64},
                                         ShortLesson{"network", {}}, ShortLesson{"memory", 32},
                                         ShortLesson{"feed", 10}, ShortLesson{"allreduce", 3},
                                         ShortLesson{"equal", {}}, ShortLesson{"accuracy", 1},
                                         ShortLesson{"sixteen", 2}),
                         [](const auto& param) { return param.param.name; });

TEST(LessonStage, ReportsTheGuessBeforeMeasuring) {
  Probe probe(2);
  StartLesson request = lesson("tensors", 128);
  request.guess = "64 KiB";
  run(probe, request);
  const auto guesses = results_of<LessonGuess>(probe);
  ASSERT_EQ(guesses.size(), 1U);
  EXPECT_EQ(guesses[0].answer.values, std::vector<double>{65536});
  EXPECT_EQ(results_of<LessonDone>(probe)[0].answer, guesses[0].answer);
  EXPECT_EQ(results_of<LessonDone>(probe)[0].vary, 128);
}

TEST(LessonStage, LogsAWarningUnderTheTitleAndKeepsIt) {
  Probe probe(2);
  RunContext ctx(1, probe.machine, probe.tensors, probe.channel, probe.control, {});
  lessons::LessonStage stage(ctx, lesson("together"), lessons::find_lesson("together").info);
  stage.warn("1.62x is below 1.8x.");
  stage.finish();
  probe.events = probe.channel.drain();
  const auto lines = probe.all<LogLine>();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text, "Two products at once: 1.62x is below 1.8x.");
  EXPECT_EQ(results_of<LessonDone>(probe).at(0).warnings,
            std::vector<std::string>{"1.62x is below 1.8x."});
}

TEST(LessonStage, RefusesWhatItCannotRun) {
  Probe one(1);
  EXPECT_EQ(message_of([&] { run(one, lesson("copies")); }, Errc::Unsupported),
            "lesson copies: needs 2 devices, found 1; split the CPU with --cpu-devices 2");
  EXPECT_EQ(message_of([&] { run(one, lesson("tensors", 9000)); }, Errc::Usage),
            "lesson tensors: 9000 must be between 64 and 8192");
  EXPECT_EQ(message_of([&] { run(one, lesson("devices", 2)); }, Errc::Usage),
            "lesson devices: it has no setting to vary");
  EXPECT_EQ(message_of([&] { run(one, lesson("tensors", 700)); }, Errc::Usage),
            "lesson tensors: 700 is not a step of the setting; the nearest are 512 and 1024");
  EXPECT_EQ(message_of([&] { run(one, lesson("accuracy", 2.5)); }, Errc::Usage),
            "lesson accuracy: 2.5 is not a step of the setting; the nearest are 2 and 3");
  const std::string unknown = message_of([&] { run(one, lesson("elsewhere")); }, Errc::NotFound);
  EXPECT_EQ(unknown.rfind("unknown lesson 'elsewhere'; choose one of devices, tensors", 0), 0U)
      << unknown;
  StartLesson request = lesson("tensors", 64);
  request.devices = {cpu(3)};
  EXPECT_THROW(run(one, request), Error);
  request = lesson("speedup");
  request.devices = {cpu()};
  EXPECT_EQ(message_of([&] { run(one, request); }, Errc::Usage),
            "lesson speedup: it takes the devices that it needs; omit --devices");
}

TEST(LessonGap, NamesWhatTheCausesLeave) {
  const LessonGap gap = lessons::closed({"copy", "s", 1e-3, 4e-3, {{"latency", 2e-3}}});
  ASSERT_EQ(gap.parts.size(), 2U);
  EXPECT_DOUBLE_EQ(gap.parts[1].value, 1e-3);
  EXPECT_EQ(gap.note, "");
  // A cause may exceed the gap, as long as less cancels than the gap itself.
  EXPECT_EQ(lessons::closed({"copy", "s", 1e-3, 4e-3, {{"latency", 5e-3}}}).parts.size(), 2U);
}

TEST(LessonGap, HasNoCausesOfUnsteadyTimes) {
  const LessonGap gap = lessons::unsteady({"copy", "s", 1e-3, 4e-3, {{"latency", 2e-3}}});
  EXPECT_TRUE(gap.unsteady);
  ASSERT_EQ(gap.parts.size(), 1U);
  EXPECT_EQ(gap.parts[0].cause, "unexplained");
  EXPECT_DOUBLE_EQ(gap.parts[0].value, 3e-3);
  EXPECT_NE(gap.note, "");
  const Timing steady{.median_s = 1, .p10_s = 0.95, .p90_s = 1.1, .min_s = 0.9, .n = 30};
  Timing wide = steady, late = steady, cut = steady;
  wide.p90_s = 1.5;
  late.min_s = 0.5;
  cut.unstable = true;
  EXPECT_FALSE(lessons::is_disturbed(steady));
  for (const Timing& time : {wide, late, cut}) EXPECT_TRUE(lessons::is_disturbed(time));
}

TEST(LessonGap, LeavesNoRoundingUnexplained) {
  const LessonGap gap = lessons::closed({"busy cores", "", 1, 0.3, {{"waiting", -0.7 + 1e-15}}});
  ASSERT_EQ(gap.parts.size(), 2U);
  EXPECT_EQ(gap.parts[1].value, 0);
}

TEST(LessonGap, DoesNotExplainBySumsThatCancel) {
  const LessonGap gap = lessons::closed({"copy", "s", 1e-3, 0.76e-3, {{"caches", -9.38e-3}}});
  ASSERT_EQ(gap.parts.size(), 1U);
  EXPECT_EQ(gap.parts[0].cause, "unexplained");
  EXPECT_NEAR(gap.parts[0].value, -0.24e-3, 1e-12);
  EXPECT_EQ(gap.note, "The causes could not be separated.");
  const LessonGap named = lessons::closed({"step", "s", 1, 1.1, {{"a", 3}, {"b", -2.9}}});
  EXPECT_EQ(named.parts.size(), 1U) << "named causes that cancel";
  EXPECT_NE(named.note, "");
  const LessonGap small = lessons::closed({"cores", "", 1, 0.96, {{"a", 3}, {"b", -3.04}}}, 0.05);
  EXPECT_EQ(small.parts.size(), 1U);
  EXPECT_EQ(small.note, "") << "a small gap needs no explanation";
}

TEST(Lessons, FillTheirSettingIntoTheExperiment) {
  const auto filled = [](const char* name, double vary) {
    const LessonInfo& info = lessons::find_lesson(name).info;
    JobCommand command = info.free.value();
    info.set_free(command, vary);
    return command;
  };
  EXPECT_EQ(std::get<StartMatmul>(filled("together", 256)).sizes, std::vector<std::int64_t>{256});
  EXPECT_EQ(std::get<StartMatmul>(filled("crossover", 32)).sizes,
            (std::vector<std::int64_t>{8, 16, 32}));
  EXPECT_EQ(std::get<StartMatmul>(filled("roofline", 64)).sizes,
            (std::vector<std::int64_t>{16, 32, 64}));
  EXPECT_EQ(std::get<RunTensorCode>(filled("tensors", 64)).statements.at(0).text,
            "X = rand(64, 64)");
  EXPECT_EQ(std::get<RunTensorCode>(filled("copies", 4)).statements.at(0).text,
            "X = ones(1024, 1024, device=cpu:1)");
  EXPECT_EQ(std::get<StartTraining>(filled("memory", 64)).batch, 64);
  EXPECT_EQ(std::get<StartTraining>(filled("accuracy", 3)).epochs, 3);
  EXPECT_EQ(std::get<StartScaling>(filled("speedup", 64)).training.batch, 64);
  EXPECT_EQ(std::get<StartScaling>(filled("allreduce", 8)).predict_devices, 8);
}

const LessonFrame& last_of(const std::vector<LessonFrame>& frames, const std::string& sequence) {
  const LessonFrame* last = nullptr;
  for (const LessonFrame& frame : frames) {
    if (frame.sequence != sequence) continue;
    EXPECT_EQ(frame.step, last == nullptr ? 0 : last->step + 1);
    last = &frame;
  }
  EXPECT_NE(last, nullptr) << sequence;
  return *last;
}

TEST(LessonFrames, MoveChunksToTheSumOnEveryDevice) {
  Probe probe(1);
  run(probe, lesson("allreduce", 3));
  const auto frames = results_of<LessonFrame>(probe);
  std::vector<double> sums(3, 0);
  for (const LessonRow& row : frames.front().rows) {
    for (std::size_t i = 0; i < 3; ++i) sums[i] += row.values.at(i);
  }
  for (const char* sequence : {"Star", "Ring"}) {
    const LessonFrame& last = last_of(frames, sequence);
    EXPECT_EQ(last.step, 4) << "2 (k - 1) stages after the first";
    for (const LessonRow& row : last.rows) EXPECT_EQ(row.values, sums) << row.name;
  }
  EXPECT_EQ(last_of(frames, "Ring").moves.size(), 3U);
  EXPECT_EQ(last_of(frames, "Star").moves.size(), 1U);
}

std::vector<std::string> checks_of(const Probe& probe) {
  const LessonDone done = results_of<LessonDone>(probe).at(0);
  std::vector<std::string> names;
  for (const LessonCheck& check : done.checks) {
    EXPECT_TRUE(check.passed) << check.what;
    names.push_back(check.what);
  }
  return names;
}

TEST(LessonChecks, NameAllPlantedFaultsThatAreFoundInOneStatement) {
  Probe probe(2);
  run(probe, lesson("equal"));
  const std::vector<std::string> checks = checks_of(probe);
  EXPECT_EQ(std::ranges::count(checks, "all 4 planted faults are found"), 1);
  EXPECT_TRUE(std::ranges::none_of(checks, [](const std::string& what) {
    return what.starts_with("the planted fault is found");
  }));
}

TEST(LessonSums, RunOnTheGpusOfTheMachine) {
  Probe probe(MachineOptions{.emulated_gpus = 3});
  run(probe, lesson("allreduce", 3));
  const std::vector<std::string> checks = checks_of(probe);
  EXPECT_EQ(std::ranges::count(checks, "copies between 3 GPUs: every GPU holds the exact sum"), 1);
  const auto samples = results_of<LessonSample>(probe);
  const auto nccl = std::ranges::find(samples, "NCCL on 3 GPUs", &LessonSample::series);
  ASSERT_NE(nccl, samples.end());
  EXPECT_EQ(nccl->text, "NCCL does not run on emulated GPUs");
}

TEST(LessonSums, UseNccl) {
  Probe probe(MachineOptions{.emulated_gpus = 2});
  test::FakeNccl nccl(
      {probe.machine.at(emulated_gpu(0)).gpu(), probe.machine.at(emulated_gpu(1)).gpu()});
  RunContext ctx(1, probe.machine, probe.tensors, probe.channel, probe.control, {});
  const lessons::Lesson& allreduce = lessons::find_lesson("allreduce");
  lessons::LessonStage stage(ctx, lesson("allreduce", 2), allreduce.info);
  lessons::sum_over_gpus(stage, {.nccl = nccl.library()});
  EXPECT_EQ(nccl.sums(), 1);
  nccl.fails = "ncclCommInitAll";
  lessons::sum_over_gpus(stage, {.nccl = nccl.library()});
  stage.finish();
  probe.events = probe.channel.drain();
  EXPECT_EQ(std::ranges::count(checks_of(probe), "NCCL on 2 GPUs: every GPU holds the exact sum"),
            1);
  const std::string reason = results_of<LessonSample>(probe).back().text;
  EXPECT_NE(reason.find("ncclCommInitAll"), std::string::npos) << reason;
}

TEST(LessonFrames, WalkOneBatchThroughSumAndUpdate) {
  Probe probe(2);
  run(probe, lesson("equal"));
  const auto frames = results_of<LessonFrame>(probe);
  ASSERT_EQ(frames.size(), 7U);
  const auto& sum = frames[4].rows;
  const auto& update = frames[5].rows;
  ASSERT_EQ(sum.size() / 3, update.size() / 4) << "rows per parameter";
  for (std::size_t p = 0; p < sum.size() / 3; ++p) {
    for (std::size_t i = 0; i < 4; ++i) {
      const double g = sum[3 * p + 2].values.at(i);
      EXPECT_NEAR(sum[3 * p].values.at(i) + sum[3 * p + 1].values.at(i), g, 1e-6);
      EXPECT_NEAR(update[4 * p].values.at(i) - 0.1 * g, update[4 * p + 2].values.at(i), 1e-6);
      EXPECT_EQ(update[4 * p + 2].values.at(i), update[4 * p + 3].values.at(i));
    }
  }
  EXPECT_EQ(frames[6].rows.at(0).text, frames[6].rows.at(1).text) << "hashes";
}

TEST(LessonHeat, ShowsBatchNormOverSlicesApart) {
  SKIP_UNDER_THREAD_SANITIZER();
  Probe probe(2);
  run(probe, lesson("equal"));
  int same = 0, running = 0;
  for (const LessonSample& s : results_of<LessonSample>(probe)) {
    if (!s.x) continue;
    if (s.group.empty()) {
      ++same;
      EXPECT_LT(s.value, 256) << s.series;
    } else if (s.series.find("running") != std::string::npos) {
      ++running;
      EXPECT_GT(s.value, 300) << s.series << " at step " << *s.x;
    }
  }
  EXPECT_GT(same, 0);
  EXPECT_EQ(running, 3 * 2 * 2) << "mean and variance of two replicas at three steps";
}

TEST(LessonMaps, PlaceEveryCoreInItsCaches) {
  Probe probe(2);
  run(probe, lesson("devices"));
  const auto maps = results_of<LessonMap>(probe);
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(maps[0].devices.size(), 2U);
  ASSERT_EQ(maps[0].links.size(), 1U);
  EXPECT_EQ(maps[0].links[0].to, cpu(1));
  for (const DeviceInfo& device : maps[0].devices) {
    for (const CacheInfo& cache : device.caches) {
      EXPECT_EQ(std::ssize(cache.cores), cache.instances);
    }
  }
}

TEST(LessonMaps, LinkGpusThatReachEachOther) {
  const auto fake = std::make_shared<test::FakeBackend>(3, kMiB);
  fake->gpu(0).faults.no_peer_access = true;
  Probe probe(MachineOptions{.open_gpus = test::backend_opener(fake)});
  run(probe, lesson("devices"));
  const LessonMap map = results_of<LessonMap>(probe).at(0);
  std::vector<std::string> links;
  for (const LessonMap::Link& link : map.links) {
    links.push_back(to_string(link.from) + " " + to_string(link.to) + " " + link.what);
  }
  EXPECT_EQ(links, (std::vector<std::string>{"cpu:0 cuda:0 PCIe", "cpu:0 cuda:1 PCIe",
                                             "cuda:1 cuda:2 peer access", "cpu:0 cuda:2 PCIe"}));
}

TEST(LessonStage, KeepsTheStateFileWhereAsked) {
  const test::TempDir folder;
  Probe probe(2);
  StartLesson request = lesson("network");
  request.save_file = (folder.path() / "net.safetensors").string();
  run(probe, request);
  EXPECT_TRUE(std::filesystem::exists(request.save_file));
  request.lesson = "devices";
  EXPECT_EQ(message_of([&] { run(probe, request); }, Errc::Usage),
            "lesson devices: it writes no state file; omit --save");
}

// Emulated GPUs are the machine's GPUs where it has no others.
TEST(NetworkLesson, RunsOnTheGpuIfThereIsOne) {
  for (const int gpus : {0, 1}) {
    SCOPED_TRACE(gpus);
    Probe probe(MachineOptions{.cpu_devices = 2, .emulated_gpus = gpus});
    run(probe, lesson("network"));
    std::string text;
    for (const LessonSample& sample : results_of<LessonSample>(probe)) {
      text += sample.series + ": " + sample.text + '\n';
    }
    const std::string home = gpus > 0 ? "emu:0" : "cpu:0", other = gpus > 0 ? "cpu:0" : "cpu:1";
    EXPECT_NE(text.find("net[0].weight: values: 3, on " + home), std::string::npos) << text;
    EXPECT_NE(text.find(fmt::format("forward: X is on {} and the network on {}", other, home)),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("loaded on " + other + ": equal, bit for bit"), std::string::npos) << text;
    const LessonDone done = results_of<LessonDone>(probe).at(0);
    EXPECT_EQ(done.sentence,
              fmt::format("The network's 4 parameters are on {}; its state file holds names and "
                          "values but no device, so it was loaded on {} unchanged.",
                          home, other));
    EXPECT_EQ(done.checks.size(), 6U);
    for (const LessonCheck& check : done.checks) EXPECT_TRUE(check.passed) << check.what;
  }
}

class ClassFiles : public testing::Test {
 protected:
  void write(const char* name, const std::string& text) {
    files::write_file(folder_.path() / name, text);
  }
  LessonClass compare(const std::string& file = "") {
    Probe probe;
    probe.run(*make_class_experiment({"devices", {(folder_.path() / file).string()}}));
    return results_of<LessonClass>(probe).at(0);
  }
  const test::TempDir folder_;
};

TEST_F(ClassFiles, AreReadFromAFolder) {
  write("b.json",
        "{\"type\":\"guess\",\"lesson\":\"devices\",\"values\":[2]}\n"
        "{\"type\":\"done\",\"lesson\":\"devices\",\"answer\":[1]}\n");
  write("a.json", "{\"type\":\"done\",\"lesson\":\"devices\",\"answer\":[1]}\n");
  write("notes.txt", "not read");
  const LessonClass all = compare();
  ASSERT_EQ(all.people.size(), 2U);
  EXPECT_EQ(all.people[0].file, "a.json");
  EXPECT_FALSE(all.people[0].guess.has_value());
  EXPECT_EQ(all.bins.at(1).answers, 2);
  EXPECT_EQ(all.bins.at(2).guesses, 1);
}

TEST_F(ClassFiles, MustHaveTheSameSetting) {
  write("a.json", "{\"type\":\"done\",\"lesson\":\"devices\",\"answer\":[1],\"vary\":64}\n");
  write("b.json", "{\"type\":\"done\",\"lesson\":\"devices\",\"answer\":[1],\"vary\":null}\n");
  EXPECT_EQ(compare().people.at(0).vary, 64);
  write("c.json", "{\"type\":\"done\",\"lesson\":\"devices\",\"answer\":[1],\"vary\":128}\n");
  EXPECT_EQ(message_of([&] { compare(); }, Errc::Usage),
            "class: a.json was measured with the setting 64, c.json with 128; compare files of the "
            "same --vary");
}

TEST_F(ClassFiles, AreNamedWhenTheyCannotBeRead) {
  const auto refusal = [&](const char* file, Errc code) {
    return message_of([&] { compare(file); }, code);
  };
  write("broken.json", "{");
  EXPECT_NE(refusal("broken.json", Errc::Corrupt).find("broken.json: a line is not a JSON object"),
            std::string::npos);
  write("other.json", "{\"type\":\"done\",\"lesson\":\"link\",\"answer\":[1]}\n");
  EXPECT_NE(refusal("other.json", Errc::Corrupt).find("neither a guess nor a result"),
            std::string::npos);
  write("far.json", "{\"type\":\"guess\",\"lesson\":\"devices\",\"values\":[7]}\n");
  EXPECT_NE(refusal("far.json", Errc::Corrupt).find("none of the 3 choices"), std::string::npos);
  EXPECT_NE(refusal("missing.json", Errc::NotFound).find("missing.json"), std::string::npos);
}

TEST(LessonStage, CanBeCancelled) {
  Probe probe(2);
  const auto experiment = make_lesson_experiment(lesson("link"));
  EXPECT_EQ(
      message_of([&] { probe.run_until<LessonEvent>(*experiment, 3); }, Errc::Cancelled).empty(),
      false);
}

TEST(LessonList, EveryLessonIsComplete) {
  for (const LessonInfo& info : lesson_list()) {
    SCOPED_TRACE(info.name);
    EXPECT_FALSE(info.title.empty());
    EXPECT_GE(info.text.size(), 3U);
    EXPECT_FALSE(info.steps.empty());
    EXPECT_FALSE(info.question.text.empty());
    EXPECT_FALSE(info.question.why.empty());
    for (const LessonStep& step : info.steps) EXPECT_FALSE(step.title.empty());
    if (info.question.choices.empty()) {
      EXPECT_LT(info.question.low, info.question.high);
    }
    if (info.vary) {
      EXPECT_LE(info.vary->low, info.vary->value);
      EXPECT_LE(info.vary->value, info.vary->high);
    }
  }
}

}  // namespace
}  // namespace lab
