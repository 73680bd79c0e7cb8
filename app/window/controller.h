#pragma once
// Connects the window and the workers: passes events to the model and commands to the worker, and
// writes files. Main thread only.
#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/automation/capture.h"
#include "app/window/frame_pacer.h"
#include "app/window/log_file.h"
#include "app/window/reference_machines.h"
#include "app/window/restart.h"
#include "app/window/result_files.h"
#include "app/window/run_files.h"
#include "app/window/tour_file.h"
#include "compute/machine/machine.h"
#include "compute/machine/telemetry.h"
#include "compute/run/channel.h"
#include "compute/run/worker.h"
#include "compute/tensor/tensor_store.h"
#include "compute/train/ranks/rank_session.h"
#include "ui/model/forms/forms.h"
#include "ui/model/model.h"
#include "ui/ui.h"

namespace lab::app {

class Controller {
 public:
  // `machine`, `session` and GLFW must outlive the controller: events wake GLFW's event loop. A
  // scripted window (`scripted`) does not restart, because it would play the script again.
  Controller(Machine& machine, RankSession& session, bool scripted);

  struct News {
    bool results = false;  // of jobs and the log
    bool gauges = false;   // telemetry
  };
  // Moves pending events from the channel into the model.
  News drain();

  void execute(const Commands& commands);

  // Cancels all jobs and waits up to `longest_s` for what they measured, which is then kept as
  // after any end of a job.
  void stop_jobs(double longest_s);

  // Saves the requested plots from the frame just drawn, before it is swapped.
  void save_plots(const ui::WidgetMap& widgets, int frame_width, int frame_height,
                  float pixels_per_unit);
  // True while a plot waits to be saved; the next frame must not show the pointer.
  bool saving() const { return !pictures_.empty(); }

  // Passes reference machines to the model and logs the problems of unusable files.
  void offer_references(FoundMachines found);

  // Passes the training runs of earlier sessions to the model and their names to the form; logs the
  // problems of unusable files. From then on, finished runs are kept in `folder`.
  void offer_runs(StoredRuns kept, std::filesystem::path folder, ui::TrainingForm& form);
  // Removes the runs that the user deleted, and their files. They cannot be brought back then.
  void remove_runs(ui::TrainingForm& form);
  // Carries out what the user did to kept runs: removes files, stores names.
  void store_runs(ui::TrainingForm& form);

  // Passes the log of earlier sessions to the model. From then on, the log is kept in `file`.
  void offer_log(StoredLog kept, std::filesystem::path file);
  // Writes it; called some seconds after jobs, and before the window closes.
  void store_log();

  // Passes the tour of an earlier session to the model. From then on, the last tour is kept in
  // `file`.
  void offer_tour(StoredTour kept, std::filesystem::path file);

  // Passes the results of earlier sessions to the model. From then on, the last results of the
  // Transfers, Matmul and Scaling pages are kept in `folder`.
  void offer_results(std::filesystem::path folder);

  // Adds a line from the window itself to the Log page.
  void log(Severity severity, std::string text);

  // The restart plan once the user has confirmed a restart.
  const std::optional<RestartPlan>& restart_wanted() const { return restart_; }

  Activity activity() const;
  // True if no job runs or waits and the model has received all results.
  bool idle() const { return unfinished_jobs_ == 0; }
  // Selects whether events wake the event loop. Off while a job runs: the loop polls then, and a
  // fast job would wake it thousands of times per second.
  void wake_on_events(bool on) { wake_wanted_ = on; }
  void set_telemetry_interval(double seconds);
  void watch_programs(bool on);

  const ui::Model& model() const { return model_; }

 private:
  struct PendingPicture {
    SavePlotPng request;
    int frames_left;  // until the menu that requested it has disappeared
  };
  void keep_training(JobId job);
  void keep_tour();
  template <typename Results>
  void offer_page(ui::Page page);
  template <typename Results>
  void keep_page(JobId job, ui::Page page, const ui::KeptRuns<Results>& runs);
  void keep_up();
  void perform(const SaveText& request);
  void perform(const OpenFolderOf& request);
  void perform(const RestartLab& request);

  const bool one_process_, scripted_;
  std::optional<RestartPlan> restart_;
  struct RunFile {
    std::filesystem::path path;
    std::string name;  // in the file
  };
  std::filesystem::path log_file_;   // empty: the log is not kept
  std::filesystem::path tour_file_;  // the same for the tour
  std::time_t tour_kept_ = 0;        // the tour in that file, by when it was measured
  std::map<ui::Page, std::filesystem::path> result_files_;  // of the pages whose results are kept
  std::map<ui::Page, std::time_t> results_kept_;  // the newest in that file, as tour_kept_
  bool log_changed_ = false;
  double store_log_at_s_ = 0, look_again_at_s_ = 0;  // lab time, earliest
  std::filesystem::path run_folder_;                 // empty: runs are not kept
  std::map<JobId, RunFile> run_files_;
  ui::Model model_;
  std::atomic<bool> wake_wanted_ = true;
  std::vector<PendingPicture> pictures_;
  double telemetry_interval_s_;
  bool programs_watched_ = false;
  int unfinished_jobs_ = 0;  // submitted jobs whose end the model has not seen
  int readings_ = 0;         // telemetry applied so far
  TensorStore tensors_;
  Channel channel_;
  Worker worker_;             // uses the members above
  TelemetrySampler sampler_;  // uses the members above
};

}  // namespace lab::app
