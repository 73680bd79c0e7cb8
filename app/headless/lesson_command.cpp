// `device-lab lesson`: lists the lessons, runs one, or runs all.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "app/headless/commands.h"
#include "app/headless/headless_lab.h"
#include "app/headless/json_lines.h"
#include "app/headless/lesson_json.h"
#include "app/headless/ranks/rank_jobs.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/experiments/lessons/lesson_experiment.h"
#include "compute/gpu/cuda/open_gpus.h"
#include "compute/measure/measure.h"

namespace lab::app {
namespace {

int list_lessons(const LessonOptions& options, Console& console) {
  std::optional<LessonTrack> track;
  for (const LessonInfo& lesson : lesson_list()) {
    if (options.json) {
      console.line(lesson_json(lesson).dump());
      continue;
    }
    if (track != lesson.track) console.line(tr(label_of(lesson.track)));
    track = lesson.track;
    console.line(fmt::format("  {:<12}{}", lesson.name, tr(lesson.title)));
  }
  if (options.json) {
    console.line(json_done(0));
  } else {
    console.line(tr("Run one with 'device-lab lesson NAME', or all with 'device-lab lesson all'."));
  }
  return kExitDone;
}

const LessonInfo& info_of(const std::vector<LessonInfo>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(),
                       [&](const LessonInfo& lesson) { return lesson.name == name; });
}

int cpu_devices_of(const LessonOptions& options, const StartLesson& request,
                   const LessonInfo& lesson) {
  if (options.cpu_devices) return *options.cpu_devices;
  int devices = lesson.devices;
  for (const Device d : request.devices) {
    if (d.kind == DeviceKind::Cpu) devices = std::max(devices, d.index + 1);
  }
  return devices;
}

// Asks the lesson's question on a terminal; an empty line skips it.
std::optional<std::string> ask(Console& console, Interrupt& interrupt,
                               const LessonQuestion& question) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return {};
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    console.line(fmt::format("    {}  {}", i + 1, tr(question.choices[i])));
  }
  while (true) {
    console.line(question.unit.empty() || !question.choices.empty()
                     ? fmt::format("  {}", tr("Your guess (Enter to skip):"))
                     : "  " + trf("Your guess in {} (Enter to skip):", question.unit));
    if (interrupt.wait_for_input(STDIN_FILENO)) throw Error(Errc::Cancelled, tr("cancelled"));
    std::string text;
    if (!std::getline(std::cin, text) || text.empty()) return {};
    try {
      parse_answer(question, text);
      return text;
    } catch (const Error& e) {
      console.message(e.what());
    }
  }
}

void introduce(Console& console, const LessonInfo& lesson, std::optional<double> vary) {
  console.line(fmt::format("{} ({})", tr(lesson.title), lesson.name));
  for (const std::string& sentence : lesson.text) console.line("  " + tr(sentence));
  console.line("  " + question_text(lesson, vary));
}

// Prints events as they arrive and keeps each lesson's result for the closing object.
class LessonJsonPrinter final : public Printer {
 public:
  explicit LessonJsonPrinter(Console& console) : console_(console) {}

  void show(const Payload& payload) override {
    if (const auto text = json_line(payload)) console_.line(*text);
    if (std::holds_alternative<LogLine>(payload)) show_common(console_, payload);
    if (const auto* event = std::get_if<LessonEvent>(&payload)) {
      if (const auto* done = std::get_if<LessonDone>(&event->result)) {
        add_lesson_result(results_.emplace_back(), event->lesson, *done);
        open_ = true;
      }
    }
    if (!open_) return;  // a lesson that was skipped or failed has no result
    if (const auto* cores = std::get_if<CoresShared>(&payload)) {
      results_.back()["others_share"] = cores->others;
    }
    if (const auto* end = std::get_if<JobFinished>(&payload)) {
      results_.back()["seconds"] = end->seconds;
      open_ = false;
    }
  }

  // One lesson: its result; all: a list of results.
  void close(bool all, double seconds) {
    nlohmann::ordered_json json{{"type", "done"}, {"seconds", seconds}};
    if (all) {
      json["lessons"] = results_;
    } else if (!results_.empty()) {
      json.update(results_.front());
    }
    console_.line(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }

 private:
  Console& console_;
  std::vector<nlohmann::ordered_json> results_;
  bool open_ = false;  // the last result is that of the lesson in progress
};

// What the lessons of a command share. Ranks other than 0 print only warnings.
struct LessonRun {
  const LessonOptions& options;
  Console& console;
  Interrupt& interrupt;
  RankSession& session;
  LessonJsonPrinter json;
  bool leads() const { return session.ranks().rank() == 0; }
};

void run_lesson(LessonRun& run, StartLesson request, const LessonInfo& lesson) {
  const LessonOptions& options = run.options;
  if (request.guess) parse_answer(lesson.question, *request.guess);
  if (options.all && !lesson.chooses_devices) request.devices.clear();
  if (!options.json && run.leads()) {
    introduce(run.console, lesson, request.vary);
    if (!request.guess && !options.all)
      request.guess = ask(run.console, run.interrupt, lesson.question);
  }
  const JobCommand command = request;
  HeadlessLab lab({.cpu_devices = cpu_devices_of(options, request, lesson),
                   .emulated_gpus = options.emulated_gpus,
                   .check_emulation = false,
                   .processes = static_cast<int>(run.session.host_ranks().size()),
                   .open_gpus = open_gpus,
                   .wake_gpus = names_gpu(command)},
                  run.interrupt, run.session.ranks());
  if (!run.leads()) {
    lab.run(command, *make_rank_printer(run.console, run.session.ranks()));
  } else if (options.json) {
    lab.run(command, run.json);
  } else {
    lab.run(command, *make_table_printer(run.console, command));
  }
}

// Lists what a class guessed and measured.
int compare_class(const LessonOptions& options, Console& console, Interrupt& interrupt) {
  const JobCommand command = *options.compare;
  const double begin_s = monotonic_s();
  HeadlessLab lab(MachineOptions{}, interrupt);
  if (!options.json) {
    lab.run(command, *make_table_printer(console, command));
    return kExitDone;
  }
  LessonJsonPrinter json(console);
  lab.run(command, json);
  json.close(/*all=*/false, monotonic_s() - begin_s);
  return kExitDone;
}

}  // namespace

bool runs_on_ranks(const LessonOptions& options) {
  const std::vector<LessonInfo> infos = lesson_list();
  return !options.compare && options.lessons.size() == 1 &&
         info_of(infos, options.lessons.front().lesson).over_ranks;
}

int run_lessons(const LessonOptions& options, Console& console, Interrupt& interrupt,
                RankSession& session) {
  if (options.compare) return compare_class(options, console, interrupt);
  if (options.lessons.empty()) return list_lessons(options, console);
  const std::vector<LessonInfo> infos = lesson_list();
  const double begin_s = monotonic_s();
  std::vector<std::string> failed;
  LessonRun run{options, console, interrupt, session, LessonJsonPrinter(console)};
  for (const StartLesson& request : options.lessons) {
    try {
      run_lesson(run, request, info_of(infos, request.lesson));
    } catch (const Error& e) {
      if (!options.all || e.code() == Errc::Cancelled) throw;
      if (e.code() == Errc::Unsupported) {
        console.line(options.json ? json_skip("lesson " + request.lesson, e.what())
                                  : fmt::format("  {:<10} {}", tr("skipped"), e.what()));
      } else {
        console.message(e.what());
        failed.push_back(request.lesson);
      }
    }
    if (options.all && !options.json) console.line("");
  }
  if (!failed.empty()) {
    throw Error(
        Errc::Internal,
        trf("{} of {} lessons failed: {}; run 'device-lab lesson {}' to see why", failed.size(),
            options.lessons.size(), fmt::join(failed, ", "), failed.front()));
  }
  if (options.json && run.leads()) run.json.close(options.all, monotonic_s() - begin_s);
  return kExitDone;
}

}  // namespace lab::app
