#include "app/window/controller.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "app/headless/console.h"
#include "app/headless/ranks/rank_jobs.h"
#include "app/window/open_folder.h"
#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/data/dataset.h"
#include "compute/experiments/lessons/lesson_experiment.h"
#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/experiments/registry.h"
#include "compute/experiments/scaling/published_scaling.h"
#include "compute/run/lab_clock.h"

namespace lab::app {
namespace {

constexpr double kTelemetryIntervalS = 1;
// Until the second reading there are no loads to show, so both are drawn without delay.
constexpr int kPromptReadings = 2;
// The frame of the click on a menu entry and the next one still show the menu.
constexpr int kFramesUntilMenuIsGone = 3;

template <typename T>
constexpr bool kIsJob = std::is_constructible_v<JobCommand, T>;

}  // namespace

Controller::Controller(Machine& machine, RankSession& session, bool scripted)
    : one_process_(session.ranks().single()),
      scripted_(scripted),
      model_(machine.info()),
      telemetry_interval_s_(kTelemetryIntervalS),
      channel_([this] {
        if (wake_wanted_.exchange(false)) glfwPostEmptyEvent();
      }),
      worker_(machine, tensors_, channel_, leading_factory(session), job_title, session.ranks()),
      sampler_(machine, channel_, telemetry_interval_s_) {
  for (LessonInfo& lesson : lesson_list()) model_.apply({0, lab_time_s(), std::move(lesson)});
  model_.apply({0, lab_time_s(), compare_with_published()});
  model_.set_fashion_found(has_fashion_mnist());
  for (const Device device : machine.devices()) {
    for (RungInfo& rung : matmul_rungs(machine.at(device))) {
      model_.apply({0, lab_time_s(), std::move(rung)});
    }
  }
}

Controller::News Controller::drain() {
  News news;
  for (const Event& event : channel_.drain()) {
    const bool reading = std::holds_alternative<Telemetry>(event.payload);
    if (reading) ++readings_;
    const bool gauge = event.job == 0 && readings_ > kPromptReadings &&
                       (reading || std::holds_alternative<TensorList>(event.payload));
    (gauge ? news.gauges : news.results) = true;
    model_.apply(event);
    if (!std::holds_alternative<JobFinished>(event.payload)) continue;
    --unfinished_jobs_;
    sampler_.read_now();  // the job has freed its memory
    keep_training(event.job);
    keep_tour();
    keep_page(event.job, ui::Page::Transfers, model_.transfer_runs());
    keep_page(event.job, ui::Page::Matmul, model_.matmul_runs());
    keep_page(event.job, ui::Page::Scaling, model_.scaling_runs());
    log_changed_ = true;
    look_again_at_s_ = 0;  // a download may have been the job
  }
  keep_up();
  return news;
}

void Controller::execute(const Commands& commands) {
  for (const Command& command : commands) {
    std::visit(
        [this](const auto& c) {
          using T = std::decay_t<decltype(c)>;
          if constexpr (std::is_same_v<T, CancelJob>)
            worker_.cancel();
          else if constexpr (std::is_same_v<T, PauseJob>)
            worker_.pause();
          else if constexpr (std::is_same_v<T, ResumeJob>)
            worker_.resume();
          else if constexpr (std::is_same_v<T, StopAfterEpoch>)
            worker_.stop_after_epoch();
          else if constexpr (std::is_same_v<T, ChangeTraining>)
            worker_.change(c);
          else if constexpr (std::is_same_v<T, SavePlotPng>)
            pictures_.push_back({c, kFramesUntilMenuIsGone});
          else if constexpr (std::is_same_v<T, SaveText> || std::is_same_v<T, OpenFolderOf> ||
                             std::is_same_v<T, RestartLab>)
            perform(c);
          else if constexpr (std::is_same_v<T, NoteUnreadable>)
            model_.note_unreadable(c.statement, c.error);
          else if constexpr (kIsJob<T>) {
            worker_.submit(c);
            ++unfinished_jobs_;
          }
        },
        command);
  }
}

void Controller::stop_jobs(double longest_s) {
  constexpr std::chrono::milliseconds kPause(5);
  worker_.cancel_all();
  const double begin_s = lab_time_s();
  while (true) {
    const bool idle = worker_.idle();  // a job's last event may come just after
    drain();
    if ((idle && !model_.job()) || lab_time_s() - begin_s >= longest_s) return;
    std::this_thread::sleep_for(kPause);
  }
}

void Controller::perform(const SaveText& request) {
  try {
    files::write_file(request.file, request.text);
    model_.file_saved(request.file);
  } catch (const Error& e) {
    log(Severity::Error, e.what());
  }
}

void Controller::perform(const OpenFolderOf& request) {
  try {
    open_folder_of(request.file);
  } catch (const Error& e) {
    log(Severity::Error, e.what());
  }
}

void Controller::perform(const RestartLab& request) {
  try {
    if (!one_process_) {
      throw Error(Errc::Unsupported,
                  tr("restart: mpirun started several processes; close the window and run mpirun "
                     "again"));
    }
    if (scripted_) {
      throw Error(Errc::Unsupported,
                  tr("restart: a script is playing and would start over; start without --script"));
    }
    restart_ = plan_restart(request);
  } catch (const Error& e) {
    model_.refuse_restart(e.what());
    log(Severity::Error, e.what());
  }
}

void Controller::save_plots(const ui::WidgetMap& widgets, int frame_width, int frame_height,
                            float pixels_per_unit) {
  for (PendingPicture& pending : pictures_) {
    if (--pending.frames_left > 0) continue;
    try {
      const ui::WidgetRect* plot = widgets.find(pending.request.plot);
      if (plot == nullptr) {
        throw Error(Errc::NotFound, trf("export: the plot {} is no longer visible; open "
                                        "its page and save again",
                                        pending.request.plot));
      }
      const auto pixel = [&](float v) {
        return static_cast<int>(std::lround(v * pixels_per_unit));
      };
      const Region region{pixel(plot->min.x), pixel(plot->min.y), pixel(plot->max.x - plot->min.x),
                          pixel(plot->max.y - plot->min.y)};
      write_png(read_frame(frame_width, frame_height, region), pending.request.file);
      model_.file_saved(pending.request.file);
    } catch (const Error& e) {
      log(Severity::Error, e.what());
    }
  }
  std::erase_if(pictures_, [](const PendingPicture& p) { return p.frames_left <= 0; });
}

void Controller::log(Severity severity, std::string text) {
  model_.apply({0, lab_time_s(), LogLine{severity, std::move(text)}});
}

void Controller::offer_references(FoundMachines found) {
  model_.set_references(std::move(found.machines));
  for (std::string& problem : found.problems) log(Severity::Warning, std::move(problem));
}

void Controller::offer_runs(StoredRuns kept, std::filesystem::path folder, ui::TrainingForm& form) {
  run_folder_ = std::move(folder);
  std::vector<ui::TrainingRun> runs;
  for (StoredRun& one : kept.runs) {
    run_files_[one.run.id()] = {one.file, one.name};
    if (!one.name.empty()) form.runs[one.run.id()].name = one.name;
    runs.push_back(std::move(one.run));
  }
  model_.restore_runs(std::move(runs));
  for (std::string& problem : kept.problems) log(Severity::Warning, std::move(problem));
}

void Controller::offer_log(StoredLog kept, std::filesystem::path file) {
  log_file_ = std::move(file);
  model_.restore_log(std::move(kept.lines));
  if (!kept.problem.empty()) log(Severity::Warning, std::move(kept.problem));
}

// Looks for data that another program may have brought, and keeps the log, both now and then only:
// tensor statements are jobs too.
void Controller::keep_up() {
  constexpr double kLookEvery_s = 5, kLogEvery_s = 10;
  const double now_s = lab_time_s();
  if (!model_.fashion_found() && now_s >= look_again_at_s_) {
    look_again_at_s_ = now_s + kLookEvery_s;
    model_.set_fashion_found(has_fashion_mnist());
  }
  if (log_changed_ && now_s >= store_log_at_s_ && unfinished_jobs_ == 0) {
    store_log_at_s_ = now_s + kLogEvery_s;
    log_changed_ = false;
    store_log();
  }
}

void Controller::store_log() {
  if (log_file_.empty()) return;
  try {
    write_log(log_file_, model_.log());
  } catch (const Error& e) {
    log_file_.clear();  // one warning is enough
    log(Severity::Warning, trf("the log is not kept: {}", e.what()));
  }
}

void Controller::offer_tour(StoredTour kept, std::filesystem::path file) {
  tour_file_ = std::move(file);
  tour_kept_ = kept.results.measured;
  model_.restore_tour(std::move(kept.results));
  if (!kept.problem.empty()) log(Severity::Warning, std::move(kept.problem));
}

// Writes the figures of a tour that ended since.
void Controller::keep_tour() {
  const ui::TourResults& tour = model_.tour().current;
  if (tour_file_.empty() || tour.earlier || tour.empty() || tour.measured == tour_kept_) return;
  tour_kept_ = tour.measured;
  try {
    write_tour(tour_file_, tour, model_.machine());
  } catch (const Error& e) {
    tour_file_.clear();
    log(Severity::Warning, trf("the tour is not kept: {}", e.what()));
  }
}

template <typename Results>
void Controller::offer_page(ui::Page page) {
  StoredResults<Results> kept = read_results<Results>(result_files_[page], model_.machine());
  results_kept_[page] = kept.runs.of(kept.runs.last()).current.measured_at;
  model_.restore_results(std::move(kept.runs), std::move(kept.state));
  if (!kept.problem.empty()) log(Severity::Warning, std::move(kept.problem));
  if (kept.other_devices) {
    log(Severity::Info,
        trf("The last results of the page {} are of other devices than those of this session, "
            "and are not shown. The page's next run replaces them.",
            tr(ui::name_of(page))));
  }
}

void Controller::offer_results(std::filesystem::path folder) {
  for (const ui::Page page : {ui::Page::Transfers, ui::Page::Matmul, ui::Page::Scaling}) {
    result_files_[page] = folder / fmt::format("{}.json", ui::key_of(page));
  }
  offer_page<ui::TransferResults>(ui::Page::Transfers);
  offer_page<ui::MatmulResults>(ui::Page::Matmul);
  offer_page<ui::ScalingResults>(ui::Page::Scaling);
}

// Writes the results of a job that ended, unless it has none.
template <typename Results>
void Controller::keep_page(JobId job, ui::Page page, const ui::KeptRuns<Results>& runs) {
  const auto file = result_files_.find(page);
  if (file == result_files_.end() || model_.state(page).job != job) return;
  const Results& results = runs.of(runs.last()).current;
  if (runs.last() == ui::RunKind::Live || results.empty()) return;
  if (!has_news(results, results_kept_[page])) return;
  results_kept_[page] = results.measured_at;
  try {
    write_results(file->second, runs, model_.state(page), model_.machine());
  } catch (const Error& e) {
    result_files_.erase(file);
    log(Severity::Warning,
        trf("the results of the page {} are not kept: {}", tr(ui::name_of(page)), e.what()));
  }
}

void Controller::keep_training(JobId job) {
  const auto& runs = model_.runs();
  if (run_folder_.empty() || runs.empty() || runs.back().id() != job) return;
  try {
    run_files_[job] = {keep_run(run_folder_, runs.back()), {}};
  } catch (const Error& e) {
    log(Severity::Warning, trf("the training run is not kept: {}", e.what()));
  }
}

void Controller::remove_runs(ui::TrainingForm& form) {
  for (const JobId id : form.removed) {
    const auto file = run_files_.find(id);
    std::error_code failed;
    if (file != run_files_.end() && !std::filesystem::remove(file->second.path, failed) && failed) {
      log(Severity::Warning, trf("cannot remove {}: {}", file->second.path.string(),
                                 std::generic_category().message(failed.value())));
    }
    run_files_.erase(id);
    form.runs.erase(id);
    model_.forget_run(id);
  }
  form.removed.clear();
}

void Controller::store_runs(ui::TrainingForm& form) {
  remove_runs(form);
  for (const ui::TrainingRun& run : model_.runs()) {
    const auto file = run_files_.find(run.id());
    const auto choice = form.runs.find(run.id());
    if (file == run_files_.end() || choice == form.runs.end()) continue;
    try {
      if (choice->second.name != file->second.name) {
        write_run(file->second.path, run, choice->second.name);
      }
    } catch (const std::exception& e) {
      write_message(trf("device-lab: {}", e.what()));
    }
  }
}

Activity Controller::activity() const {
  if (!model_.job()) return Activity::Idle;
  return ui::entry_of(model_.job()->page).timed ? Activity::Timing : Activity::Busy;
}

void Controller::set_telemetry_interval(double seconds) {
  if (seconds == telemetry_interval_s_) return;
  telemetry_interval_s_ = seconds;
  sampler_.set_interval(seconds);
}

void Controller::watch_programs(bool on) {
  if (on == programs_watched_) return;
  programs_watched_ = on;
  sampler_.watch_programs(on);
}

}  // namespace lab::app
