// The Log page: a line per job, its notes folded, warnings in sight.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/events/tensor_code.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

ui::Model model_of_jobs(int jobs) {
  ui::Model model(machine_of(1));
  for (JobId id = 1; id <= static_cast<JobId>(jobs); ++id) {
    model.apply(event(id, 1, JobStarted{"Training lenet on cpu:0", StartTraining{}}));
    for (int i = 0; i < 3; ++i) {
      model.apply(event(id, 2, LogLine{Severity::Info, "convolutions: direct"}));
    }
    model.apply(event(id, 2, LogLine{Severity::Warning, "the steps vary"}));
    JobFinished end;
    end.seconds = 12.5;
    model.apply(event(id, 3, end));
  }
  return model;
}

std::vector<std::string> lines_of(const Lab& lab) {
  std::vector<std::string> lines;
  for (std::string path = "log/line/0"; lab.visible(path);
       path = "log/line/" + std::to_string(lines.size())) {
    lines.push_back(lab.backend.find(path)->label);
  }
  return lines;
}

TEST(LogPage, HasOneLinePerJobAndItsWarnings) {
  Lab lab(model_of_jobs(2));
  lab.open(Page::Log);
  const std::vector<std::string> closed{
      "Training lenet on cpu:0 done with warnings", "the steps vary",
      "Training lenet on cpu:0 done with warnings", "the steps vary"};
  EXPECT_EQ(lines_of(lab), closed);
}

TEST(LogPage, AJobWithWarningsEndsInOne) {
  const ui::Model model = model_of_jobs(1);
  EXPECT_EQ(model.log().back().severity, Severity::Warning);
  ui::Model quiet(machine_of(1));
  quiet.apply(event(1, 1, JobStarted{"Training lenet on cpu:0", StartTraining{}}));
  quiet.apply(event(1, 2, LogLine{Severity::Info, "convolutions: direct"}));
  quiet.apply(event(1, 3, JobFinished{}));
  EXPECT_EQ(quiet.log().back().severity, Severity::Info);
  EXPECT_EQ(quiet.log().back().text, "Training lenet on cpu:0 done");
}

TEST(LogPage, CountsTheLinesOfEachKindThatItShows) {
  Lab lab(model_of_jobs(2));
  lab.open(Page::Log);
  const auto label = [&](const char* path) { return lab.backend.find(path)->label; };
  EXPECT_EQ(label("log/info"), "Info (0)") << "the notes are folded";
  EXPECT_EQ(label("log/warning"), "Warning (4)") << "each warns once more at its end";
  EXPECT_EQ(label("log/error"), "Error (0)");
  lab.click("log/job/1");
  ASSERT_GT(lines_of(lab).size(), 4U) << "the notes of the job";
  EXPECT_EQ(label("log/info"), "Info (0)") << "they count with their job";
  lab.view.forms.log.filter = "vary";
  lab.frames(2);
  EXPECT_EQ(label("log/info"), "Info (0)");
  EXPECT_EQ(label("log/warning"), "Warning (2)");
  lab.view.forms.log.filter.clear();
  lab.model.file_saved("run.csv");
  lab.frames(2);
  EXPECT_EQ(label("log/info"), "Info (1)") << "it is of no job";
}

TEST(LogPage, TellsWhatAJobMeasured) {
  const std::vector<std::pair<Page, std::string>> results = {
      {Page::Tour, ": cpu:0 187 GFLOP/s"},
      {Page::Transfers, ": copies of "},
      {Page::Matmul, ": 320 GFLOP/s by The rung simd at N = 1024 on cpu:0"},
      {Page::Scaling, ": 1.94 times as fast on 2 devices"}};
  for (const auto& [page, text] : results) {
    const std::string& result = text;
    const ui::Model model = make_scene(page, Scene::Done);
    const bool told = std::any_of(model.log().begin(), model.log().end(), [&](const auto& entry) {
      return entry.seconds && entry.text.find(" done" + result) != std::string::npos;
    });
    EXPECT_TRUE(told) << result << " not in: " << model.log().back().text;
  }
}

TEST(LogPage, TellsTheBestSteadySpeedUp) {
  ui::Model model = make_scene(Page::Matmul, Scene::Empty);
  StartMatmul request;
  request.together = true;
  model.apply(event(900, 1, JobStarted{"Products", request}));
  const std::vector<Device> both = {cpu(0), cpu(1)};
  model.apply(event(900, 2, TogetherSpeedup{both, 256, 10, 7, 0.02, 0.0105, 1.9, 1.8, 1.95}));
  model.apply(event(900, 3, TogetherSpeedup{both, 512, 1, 7, 0.02, 0.01, 2.0, 0.9, 2.5}));
  model.apply(event(900, 4, JobFinished{Outcome::Done, 1, ""}));
  EXPECT_EQ(model.log().back().text,
            "Products done: at best 1.90 times as fast as one device, at N = 256");
}

TEST(LogPage, APredictionDoesNotReportEarlierMeasurements) {
  ui::Model model = make_scene(Page::Scaling, Scene::Done);
  StartScaling request;
  request.measure = false;
  request.compute_s = 0.08;
  model.apply(event(900, 1, JobStarted{"Prediction", request}));
  model.apply(event(900, 2, scaling_prediction(ScalingMode::Strong, 16)));
  model.apply(event(900, 3, JobFinished{Outcome::Done, 1, ""}));
  EXPECT_EQ(model.log().back().text.find("Prediction done: "), 0U);
  EXPECT_TRUE(model.log().back().text.ends_with(" times as fast on 16 devices, predicted"))
      << model.log().back().text;
}

TEST(LogPage, TellsWhatEveryKindOfJobFound) {
  const auto last_line = [](const JobCommand& command, const std::vector<Payload>& results,
                            Outcome outcome) {
    ui::Model model(machine_of(1));
    model.apply(event(1, 1, JobStarted{"Job", command}));
    for (const Payload& result : results) model.apply(event(1, 2, result));
    model.apply(event(1, 3, JobFinished{outcome, 1, ""}));
    return model.log().back().text;
  };
  TensorResult made;
  made.statement = "X = ones(2, 3)";
  made.tensor.emplace();
  made.tensor->shape = {2, 3};
  made.tensor->bytes = 24;
  EXPECT_EQ(
      last_line(RunTensorCode{{parse_tensor_statement(made.statement)}}, {made}, Outcome::Done),
      "Job: 24 B on cpu:0");
  EXPECT_EQ(last_line(MakeTensor{}, {LogLine{Severity::Info, "Created X on cpu:0"}}, Outcome::Done),
            "Created X on cpu:0");
  LessonDone done;
  done.sentence = "Two products took half the time.";
  StartLesson lesson;
  lesson.lesson = "together";
  EXPECT_EQ(last_line(lesson, {LessonEvent{"together", done}}, Outcome::Done),
            "Job done: Two products took half the time.");
  StartTransfers live;
  live.live = true;
  EXPECT_EQ(last_line(live, {transfer_sample(cpu(), cpu(), TransferOp::Read, 1, kMiB, 20)},
                      Outcome::Cancelled),
            "Job stopped on request: read cpu:0, 1 thread, arrays of 1.00 MiB, at 20.0 GB/s "
            "(median)");
}

TEST(LogPage, FoldsOutTheNotesOfOneJob) {
  Lab lab(model_of_jobs(2));
  lab.open(Page::Log);
  lab.click("log/job/1");
  const std::vector<std::string> open{"Training lenet on cpu:0 done with warnings",
                                      "the steps vary",
                                      "Training lenet on cpu:0 done with warnings",
                                      "the steps vary", "convolutions: direct (3 times)"};
  EXPECT_EQ(lines_of(lab), open);
  lab.click("log/job/1");
  EXPECT_EQ(lines_of(lab).size(), 4U);
}

TEST(LogPage, TheFilterLooksIntoFoldedNotes) {
  Lab lab(model_of_jobs(2));
  lab.open(Page::Log);
  lab.view.forms.log.filter = "CONVOLUTIONS";
  lab.frames(2);
  EXPECT_EQ(lines_of(lab).size(), 2U);
}

TEST(LogPage, TheFilterSearchesPageSettingsAndCommandLine) {
  ui::Model model(machine_of(1));
  StartMatmul request;
  request.seed = 4711;
  model.apply(event(1, 1, JobStarted{"Ladder", request}));
  model.apply(event(1, 2, JobFinished{}));
  model.apply(event(2, 3, JobStarted{"Steps", StartTraining{}}));
  model.apply(event(2, 4, JobFinished{}));
  Lab lab(std::move(model));
  lab.open(Page::Log);
  for (const char* text : {"matmul", "4711", "--seed"}) {
    lab.view.forms.log.filter = text;
    lab.frames(2);
    EXPECT_EQ(lines_of(lab), std::vector<std::string>{"Ladder done"}) << text;
  }
}

TEST(LogPage, NotesAreHiddenWithTheLineOfTheirJob) {
  Lab lab(model_of_jobs(1));
  lab.open(Page::Log);
  lab.click("log/job/1");
  ASSERT_EQ(lines_of(lab).size(), 3U);
  lab.click("log/warning");
  EXPECT_TRUE(lines_of(lab).empty()) << lines_of(lab).front();
  lab.view.forms.log.filter = "convolutions";
  lab.frames(2);
  EXPECT_EQ(lines_of(lab).size(), 1U) << "searched for";
}

TEST(LogPage, ShowsTheNotesOfARunningJob) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training lenet on cpu:0", StartTraining{}}));
  model.apply(event(1, 2, LogLine{Severity::Info, "convolutions: direct"}));
  Lab lab(std::move(model));
  lab.open(Page::Log);
  EXPECT_TRUE(lab.visible("log/line/0"));
}

TEST(LogPage, AJobsLineShowsTheTimeUsedByOtherPrograms) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training lenet on cpu:0", StartTraining{}}));
  model.apply(event(1, 2, CoresShared{0.12}));
  model.apply(event(1, 3, JobFinished{}));
  Lab lab(std::move(model));
  lab.open(Page::Log);
  EXPECT_EQ(
      lines_of(lab),
      std::vector<std::string>{
          "Training lenet on cpu:0 done; other programs or the host took 12 % of the cores' time"});
  lab.view.forms.log.filter = "other programs";
  lab.frames(2);
  EXPECT_EQ(lines_of(lab).size(), 1U);
}

TEST(LogPage, AJobsLineLeadsToItsPage) {
  Lab lab(model_of_jobs(2));
  lab.open(Page::Log);
  lab.click("log/job/1/page");
  EXPECT_EQ(lab.view.page, Page::Training);
  EXPECT_TRUE(lab.view.forms.log.open.empty()) << "its notes stay folded";
}

TEST(LogPage, TheLinkOpensTheResultsOfItsOwnJob) {
  std::time_t now = 1'700'000'000;
  ui::Model model(machine_of(1), [&now] { return now; });
  for (JobId id = 1; id <= 3; ++id) {
    now += 60;
    model.apply(event(id, 1, JobStarted{"Scaling", StartScaling{}}));
    model.apply(event(id, 2, scaling_point(ScalingMode::Strong, 1)));
    model.apply(event(id, 3, JobFinished{}));
  }
  Lab lab(std::move(model), 1, {1280, 1000});
  const ui::RunTabs& tabs = lab.view.forms.scaling.tabs;
  for (const auto& [path, replaced] :
       {std::pair("log/job/2/page", true), std::pair("log/job/3/page", false)}) {
    lab.open(Page::Log);
    EXPECT_EQ(lab.tooltip_of(path).find("replaced"), std::string::npos);
    lab.click(path);
    EXPECT_EQ(lab.view.page, Page::Scaling);
    EXPECT_EQ(tabs.replaced, replaced) << path;
  }
  lab.open(Page::Log);
  EXPECT_EQ(lab.tooltip_of("log/job/1/page"), "A later run replaced these results.");
}

TEST(LogPage, RepeatsTheDateOfEarlierSessions) {
  const std::time_t now = 1'700'000'000;
  ui::Model model(machine_of(1), [] { return now; });
  model.restore_log({{.when = now - 60, .job = 1, .text = "Ladder done", .seconds = 2.0}});
  model.apply(event(0, 1, LogLine{Severity::Info, "saved x.csv"}));
  Lab lab(std::move(model));
  lab.open(Page::Log);
  EXPECT_TRUE(lab.visible("log/date/" + ui::date_of(now)));
  EXPECT_TRUE(lab.visible("log/earlier_date/" + ui::date_of(now)));
}

TEST(LogPage, SeveralDaysHaveDates) {
  std::time_t now = 1'700'000'000;
  ui::Model model(machine_of(1), [&now] { return now; });
  model.apply(event(0, 1, LogLine{Severity::Info, "saved x.csv"}));
  const std::string first = ui::date_of(now);
  Lab lab(model);
  lab.open(Page::Log);
  EXPECT_FALSE(lab.visible("log/date/" + first)) << "one day";
  now += 24 * 3600;
  model.apply(event(0, 2, LogLine{Severity::Info, "saved y.csv"}));
  const std::string second = ui::date_of(now);
  EXPECT_EQ(second.size(), std::string("2023-11-15").size());
  lab.show(std::move(model));
  ASSERT_TRUE(lab.visible("log/date/" + first) && lab.visible("log/date/" + second));
  EXPECT_LT(lab.backend.find("log/date/" + second)->min.y,
            lab.backend.find("log/date/" + first)->min.y);
  lab.click("log/copy");
  EXPECT_EQ(std::string(ImGui::GetClipboardText()).substr(0, first.size()), first);
}

TEST(LogPage, AStopOnRequestIsNoWarning) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training lenet on cpu:0", StartTraining{}}));
  model.apply(event(1, 2, JobFinished{Outcome::Cancelled, 1, ""}));
  EXPECT_EQ(model.log().back().severity, Severity::Info);
}

TEST(LogPage, AStoppedJobHasAMarkOfItsOwn) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Tour", StartTour{}}));
  model.apply(event(1, 2, JobFinished{Outcome::Cancelled, 1, ""}));
  model.apply(event(2, 3, JobStarted{"Tour", StartTour{}}));
  model.apply(event(2, 4, JobFinished{Outcome::Done, 1, ""}));
  Lab lab(std::move(model));
  lab.open(Page::Log);
  EXPECT_EQ(lab.backend.find("log/line/0")->value, "info");
  EXPECT_EQ(lab.backend.find("log/line/1")->value, "stopped");
}

TEST(LogPage, TheJobsOfATourLeaveNoNotes) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Tour", StartTour{}}));
  model.apply(event(1, 2, LogLine{Severity::Info, "convolution algorithms: direct"}));
  EXPECT_TRUE(model.log().empty());
  model.apply(event(1, 3, LogLine{Severity::Warning, "the clock was throttled"}));
  EXPECT_EQ(model.log().size(), 1U);
}

TEST(LogPage, ATourOfSeveralDevicesNamesTheirPeaks) {
  ui::Model model(machine_of(2));
  model.apply(event(1, 1, JobStarted{"Tour", StartTour{}}));
  for (const Device device : {cpu(0), cpu(1)}) {
    model.apply(event(1, 2, tour_figure(device, TourQuestion::Peak)));
    model.apply(event(1, 2, tour_figure(device, TourQuestion::Bandwidth)));
  }
  model.apply(event(1, 3, JobFinished{}));
  EXPECT_EQ(model.log().back().text, "Tour done: cpu:0 187 GFLOP/s, cpu:1 187 GFLOP/s");
}

TEST(LogPage, SaysThatATrainingIsPaused) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training lenet on cpu:0", StartTraining{}}));
  Lab lab(std::move(model));
  lab.open(Page::Log);
  EXPECT_EQ(lab.backend.find("log/running")->value, "running");
  lab.view.paused_job = 1;
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("log/running")->value, "paused");
}

TEST(LogPage, AnOpenJobCanBeUnderstoodAndRepeated) {
  ui::Model model(machine_of(2));
  StartMatmul request;
  request.sizes = {64, 128};
  request.seed = 3;
  model.apply(event(1, 1, JobStarted{"Ladder", request}));
  model.apply(event(1, 2, JobFinished{}));
  Lab lab(std::move(model));
  lab.open(Page::Log);
  EXPECT_FALSE(lab.visible("log/job/1/command"));
  lab.click("log/job/1");
  EXPECT_NE(lab.backend.find("log/job/1/settings")->label.find("64,128"), std::string::npos);
  EXPECT_EQ(lab.backend.find("log/job/1/command")->label,
            "device-lab matmul --cpu-devices 2 --sizes 64,128 --seed 3");
  lab.click("log/job/1/copy");
  EXPECT_EQ(std::string(ImGui::GetClipboardText()), lab.backend.find("log/job/1/command")->label);
  EXPECT_EQ(lab.backend.find("log/job/1/copy")->label, "Copied");
  EXPECT_EQ(lab.backend.find("log/copy")->label, "Copy these lines");
  lab.frames(240);
  EXPECT_EQ(lab.backend.find("log/job/1/copy")->label, "Copy the command line");
  lab.click("log/job/1/again");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1U);
  EXPECT_EQ(lab.sent<StartMatmul>()[0].sizes, request.sizes);
  EXPECT_EQ(lab.view.page, Page::Matmul);
}

TEST(LogPage, DividesThisSessionFromEarlierOnes) {
  std::time_t now = 1'700'000'000;
  ui::Model model(machine_of(1), [&now] { return now; });
  std::vector<ui::LogEntry> earlier;
  earlier.push_back({.when = now - 90'000, .job = 1, .text = "a note"});
  earlier.push_back({.when = now - 90'000, .job = 1, .text = "Ladder done", .seconds = 2.0});
  model.restore_log(earlier);
  EXPECT_EQ(model.log().back().job, -1) << "the first job of this session has number 1";
  Lab lab(model);
  lab.open(Page::Log);
  EXPECT_TRUE(lab.visible("log/this_session"));
  EXPECT_TRUE(lab.visible("log/earlier"));
  EXPECT_EQ(lines_of(lab), std::vector<std::string>{"Ladder done"});
  EXPECT_EQ(lab.backend.find("status/job")->label, "Ready");
  EXPECT_EQ(lab.backend.find("log/beginning")->label, "No job has run in this session.");
  EXPECT_FALSE(lab.visible("log/empty")) << "the list is not";
  model.apply(event(1, 1, JobStarted{"Tour", StartTour{}}));
  model.apply(event(1, 2, JobFinished{}));
  lab.show(std::move(model));
  lab.open(Page::Log);
  EXPECT_FALSE(lab.visible("log/beginning"));
  EXPECT_LT(lab.backend.find("log/line/0")->max.y, lab.backend.find("log/earlier")->min.y);
  EXPECT_LT(lab.backend.find("log/earlier")->max.y, lab.backend.find("log/line/1")->min.y);
}

TEST(LogPage, JoinsSentencesWithTheirLoad) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Lesson", StartLesson{"log", {}, {}, {}}}));
  model.apply(event(1, 2, LessonEvent{"log", LessonDone{"It wins from N = 22 on.", {}}}));
  model.apply(event(1, 3, CoresShared{0.59}));
  model.apply(event(1, 4, JobFinished{}));
  Lab lab(std::move(model));
  lab.open(Page::Log);
  EXPECT_EQ(lines_of(lab), std::vector<std::string>{
                               "Lesson done: It wins from N = 22 on; other programs or the host "
                               "took 59 % of the cores' time"});
}

TEST(LogPage, WarnsOfResultsThatNothingFollowsFrom) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Lesson", StartLesson{"log", {}, {}, {}}}));
  LessonDone done{"Logging every norm took 0.86 times as long.", {}};
  done.why_open = "The machine was too busy to conclude from the figures.";
  model.apply(event(1, 2, LessonEvent{"log", done}));
  model.apply(event(1, 3, JobFinished{}));
  EXPECT_EQ(model.log().back().severity, Severity::Warning);
  EXPECT_EQ(model.log().back().text, "Lesson done: measured, too unsteady to conclude from");
  model.apply(event(2, 4, JobStarted{"Tour", StartTour{}}));
  TourFigure peak = tour_figure(cpu(), TourQuestion::Peak);
  model.apply(event(2, 5, peak));
  model.apply(event(2, 6, JobFinished{}));
  EXPECT_EQ(model.log().back().severity, Severity::Info);
  peak.unstable = true;
  model.apply(event(3, 7, JobStarted{"Tour", StartTour{}}));
  model.apply(event(3, 8, peak));
  model.apply(event(3, 9, JobFinished{}));
  EXPECT_EQ(model.log().back().severity, Severity::Warning);
  EXPECT_TRUE(model.log().back().text.ends_with("; unsteady: cpu:0 Peak"))
      << model.log().back().text;
}

TEST(LogPage, AnEmptyOneStartsTheTour) {
  Lab lab{ui::Model(machine_of(1))};
  lab.open(Page::Log);
  lab.click("log/empty");
  EXPECT_EQ(lab.sent<StartTour>().size(), 1U);
  EXPECT_EQ(lab.view.page, Page::Tour);
}

TEST(LogPage, ClearsAFilterThatLeavesNothing) {
  Lab lab(model_of_jobs(1));
  lab.open(Page::Log);
  EXPECT_FALSE(lab.visible("log/clear_filter"));
  lab.view.forms.log.filter = "no such line";
  lab.view.forms.log.warning = false;
  lab.frames(6);
  lab.click("log/clear_filter");
  lab.frames(2);
  EXPECT_FALSE(lines_of(lab).empty());
  EXPECT_TRUE(lab.view.forms.log.filter.empty());
  EXPECT_TRUE(lab.view.forms.log.warning);
}

TEST(LogPage, CopiesOnlyLinesThatThereAre) {
  Lab lab(model_of_jobs(1));
  lab.open(Page::Log);
  EXPECT_TRUE(lab.backend.find("log/copy")->enabled);
  lab.view.forms.log.filter = "no such line";
  lab.frames(2);
  EXPECT_FALSE(lab.backend.find("log/copy")->enabled);
}

TEST(LogPage, TheTooltipOfALineLeavesItReadable) {
  Lab lab(model_of_jobs(1));
  lab.open(Page::Log);
  const ui::WidgetRect line = *lab.backend.find("log/line/0");
  lab.backend.move_to({line.min.x + 200, (line.min.y + line.max.y) / 2});
  lab.frames(60);
  const ui::WidgetRect* tooltip = lab.backend.find("tooltip");
  ASSERT_NE(tooltip, nullptr);
  EXPECT_GE(tooltip->min.y, line.max.y);
}

TEST(LogPage, ConfirmsThatLinesWereCopied) {
  Lab lab(model_of_jobs(1));
  lab.open(Page::Log);
  lab.click("log/copy");
  EXPECT_EQ(lab.backend.find("log/copy")->label, "Copied");
  lab.frames(240);
  EXPECT_EQ(lab.backend.find("log/copy")->label, "Copy these lines");
}

TEST(LogPage, LinesOfNoJobAreNeverCounted) {
  ui::Model model(machine_of(1));
  for (int i = 0; i < 2; ++i) model.apply(event(0, 1, LogLine{Severity::Info, "saved x.csv"}));
  EXPECT_EQ(model.log().size(), 2U);
}

TEST(LogPage, TheRunningJobShowsItsProgressAndStops) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training lenet on cpu:0", StartTraining{}}));
  model.apply(event(1, 2, Progress{.done = 0.25, .what = "", .left_s = 30}));
  for (const float width : {1280.0F, 760.0F}) {
    Lab lab(model, 1, {width, 720});
    lab.open(Page::Log);
    EXPECT_EQ(lab.backend.find("log/progress_text")->label, "25 %, about 30 s left");
    EXPECT_EQ(lab.visible("log/progress"), width > 1000);
    EXPECT_TRUE(lab.sent<CancelJob>().empty());
    lab.click("log/stop");
    EXPECT_EQ(lab.sent<CancelJob>().size(), 1U);
    lab.model.apply(event(1, 3, JobFinished{Outcome::Cancelled, 1, ""}));
    lab.frames(3);
    EXPECT_FALSE(lab.visible("log/stop"));
  }
}

}  // namespace
}  // namespace lab::test
