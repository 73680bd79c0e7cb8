// Recorded timelines of training steps, and the Chrome trace made from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/files/whole_file.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/train/step_recorder.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

using Json = nlohmann::json;

StartTraining small_request(int devices) {
  StartTraining request;
  request.synthetic_train = 64 * 8;
  request.synthetic_test = 8;
  request.batch = 64;
  request.steps = 5;
  request.evaluate = false;
  request.bucket_bytes = 64 << 10;  // several buckets
  for (int i = 0; i < devices; ++i) request.devices.push_back(cpu(i));
  return request;
}

StepTimeline recorded(int devices) {
  StartTraining request = small_request(devices);
  request.timeline = true;
  test::Probe probe(devices);
  probe.run(*make_training_experiment(request));
  const auto all = probe.all<StepTimeline>();
  EXPECT_FALSE(all.empty());
  return all.empty() ? StepTimeline{} : all.front();
}

// The share of the step that its spans cover, which follow each other.
double covered_in_order(const StepTimeline& t) {
  double sum_s = 0, last_s = 0;
  for (const TimelineSpan& span : t.spans) {
    EXPECT_GE(span.begin_s, last_s - 1e-6) << name_of(t, span);
    EXPECT_LE(span.end_s, t.seconds + 1e-6) << name_of(t, span);
    sum_s += span.seconds();
    last_s = span.end_s;
  }
  return sum_s / t.seconds;
}

TEST(StepTimelines, CoverTheStepInOrder) {
  double most = 0;  // another program may take the core between two spans of a step
  for (int attempt = 0; attempt < 5 && most <= 0.5; ++attempt) {
    const StepTimeline t = recorded(1);
    EXPECT_EQ(t.step, 3) << "after two steps of warm-up";
    EXPECT_TRUE(t.timed);
    EXPECT_TRUE(t.buckets.empty());
    EXPECT_EQ(t.lost, 0);
    std::set<StepPhase> phases;
    for (const TimelineSpan& span : t.spans) phases.insert(span.phase);
    EXPECT_EQ(phases.size(), 5U) << "all but the all-reduce";
    const double covered = covered_in_order(t);
    EXPECT_LE(covered, 1.0001);
    most = std::max(most, covered);
  }
  EXPECT_GT(most, 0.5);
}

TEST(StepTimelines, ShowBucketsOnEveryDevice) {
  for (const int devices : {2, 4}) {
    SCOPED_TRACE(devices);
    const StepTimeline t = recorded(devices);
    ASSERT_EQ(t.devices.size(), static_cast<std::size_t>(devices));
    ASSERT_GT(t.buckets.size(), 1U);
    EXPECT_FALSE(t.sums_unseen);
    for (const TimelineBucket& bucket : t.buckets) {
      ASSERT_EQ(bucket.ready_s.size(), t.devices.size());
      for (const double ready_s : bucket.ready_s) {
        EXPECT_GT(ready_s, 0);
        EXPECT_LT(ready_s, bucket.done_s) << "summed once all devices have filled it";
      }
    }
    std::set<int> computing;
    for (const TimelineSpan& span : t.spans) {
      if (span.lane == TimelineLane::Compute) computing.insert(span.device);
    }
    EXPECT_EQ(computing.size(), t.devices.size());
    EXPECT_GE(overlapped_share(t), 0);
  }
}

TEST(StepTimelines, AreOffUnlessWantedAndChangeNoLoss) {
  StartTraining request = small_request(2);
  test::Probe plain(2), with(2);
  plain.run(*make_training_experiment(request));
  request.timeline = true;
  with.run(*make_training_experiment(request));
  EXPECT_TRUE(plain.all<StepTimeline>().empty());
  const auto a = plain.all<StepDone>(), b = with.all<StepDone>();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].loss, b[i].loss);
}

class TraceFile : public ::testing::Test {
 protected:
  Json written(StartTraining request, int devices) {
    const auto file = std::filesystem::temp_directory_path() / "lab_step_trace_test.json";
    request.trace_file = file.string();
    test::Probe probe(devices);
    probe.run(*make_training_experiment(request));
    Json trace = Json::parse(files::read_text_file(file));
    std::filesystem::remove(file);
    return trace;
  }
};

TEST_F(TraceFile, HasNestedEventsLanesAndTheLoss) {
  const Json trace = written(small_request(2), 2);
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> lanes;
  std::map<int, std::vector<std::pair<double, double>>> steps;
  std::map<int, double> layers_us;
  std::set<std::string> processes, threads;
  int losses = 0;
  for (const Json& e : trace.at("traceEvents")) {
    const std::string kind = e.at("ph");
    if (kind == "C") losses += e.at("args").at("loss").is_number() ? 1 : 0;
    if (kind == "M" && e.at("name") == "process_name") processes.insert(e.at("args").at("name"));
    if (kind == "M" && e.at("name") == "thread_name") threads.insert(e.at("args").at("name"));
    if (kind != "X") continue;
    const int pid = e.at("pid");
    const double ts = e.at("ts"), dur = e.at("dur");
    const bool step = e.at("cat") == "step";
    lanes[{pid, e.at("tid")}].push_back({ts, ts + dur});
    if (step) steps[pid].push_back({ts, ts + dur});
    if (!step && e.at("tid") == 0) layers_us[pid] += dur;
  }
  EXPECT_EQ(processes, (std::set<std::string>{"cpu:0", "cpu:1"}));
  EXPECT_EQ(threads, (std::set<std::string>{"compute", "all-reduce", "copies"}));
  EXPECT_EQ(losses, 5);
  for (const auto& [pid, of_device] : steps) {
    EXPECT_EQ(of_device.size(), 5U);
    double steps_us = 0;
    for (const auto& [begin, end] : of_device) steps_us += end - begin;
    EXPECT_LE(layers_us[pid], steps_us * 1.0001);
    EXPECT_GT(layers_us[pid], 0);
  }
  constexpr double kRounding_us = 0.002;
  for (const auto& [lane, spans] : lanes) {
    for (const auto& a : spans) {
      for (const auto& b : spans) {
        const bool apart = a.second <= b.first + kRounding_us || b.second <= a.first + kRounding_us;
        const bool a_in_b =
            a.first >= b.first - kRounding_us && a.second <= b.second + kRounding_us;
        const bool b_in_a =
            b.first >= a.first - kRounding_us && b.second <= a.second + kRounding_us;
        EXPECT_TRUE(apart || a_in_b || b_in_a) << lane.first << " " << lane.second;
      }
    }
  }
}

TEST_F(TraceFile, IsWrittenByAStoppedTraining) {
  const test::TempDir dir;
  StartTraining request = small_request(1);
  request.steps = 1'000'000;
  request.trace_file = (dir.path() / "trace.json").string();
  test::Probe probe(1);
  EXPECT_THROW(probe.run_until<StepDone>(*make_training_experiment(request), 3), Error);
  EXPECT_FALSE(Json::parse(files::read_text_file(request.trace_file)).at("traceEvents").empty());
}

TEST_F(TraceFile, CannotBeWrittenIntoAMissingFolder) {
  StartTraining request = small_request(1);
  request.trace_file = "/no-such-folder/trace.json";
  test::Probe probe(1);
  try {
    probe.run(*make_training_experiment(request));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("/no-such-folder/trace.json"), std::string::npos);
  }
}

TEST_F(TraceFile, IsLeftOutWithAWarningOnAFullDisk) {
  const test::TempDir dir;
  StartTraining request = small_request(1);
  request.trace_file = (dir.path() / "trace.json").string();
  test::Probe probe(1);
  {
    const test::FileSizeLimit full(1024);
    probe.run(*make_training_experiment(request));
  }
  EXPECT_EQ(probe.all<TrainingDone>().size(), 1U) << "the other results remain";
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  const auto lines = probe.all<LogLine>();
  const auto warning = std::ranges::find_if(lines, [](const LogLine& line) {
    return line.severity == Severity::Warning && line.text.starts_with("no trace was written: ");
  });
  ASSERT_NE(warning, lines.end());
  EXPECT_NE(warning->text.find(request.trace_file), std::string::npos) << warning->text;
}

TEST(TraceSteps, AreBoundedAndSpreadOverTheTraining) {
  TraceSteps trace;
  for (std::int64_t step = 0; step < 1000; ++step) {
    if (!trace.wants(step)) continue;
    StepTimeline timeline;
    timeline.step = step + 1;
    trace.add(std::move(timeline));
  }
  ASSERT_LE(trace.steps().size(), TraceSteps::kMostSteps);
  ASSERT_GE(trace.steps().size(), TraceSteps::kMostSteps / 2 - 1);
  EXPECT_EQ(trace.steps().front().step, 1);
  EXPECT_GT(trace.steps().back().step, 900);
  const std::int64_t stride = trace.steps()[1].step - 1;
  for (std::size_t i = 0; i < trace.steps().size(); ++i) {
    EXPECT_EQ(trace.steps()[i].step, 1 + static_cast<std::int64_t>(i) * stride);
  }
}

TEST(TrainingProbes, ReportTheSpeedWithoutTraining) {
  StartTraining request = small_request(1);
  request.probe = true;
  test::Probe probe(1);
  probe.run(*make_training_experiment(request));
  ASSERT_EQ(probe.all<TrainingRate>().size(), 1U);
  EXPECT_GT(probe.all<TrainingRate>()[0].images_per_s, 0);
  EXPECT_GT(probe.all<TrainingRate>()[0].test_images_per_s, 0);
  EXPECT_TRUE(probe.all<StepDone>().empty());
}

}  // namespace
}  // namespace lab
