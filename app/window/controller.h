#pragma once
// Between the window and the work: events go into the model, commands go to the worker, files are
// written. Main thread only.
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "app/automation/capture.h"
#include "app/window/frame_pacer.h"
#include "app/window/reference_machines.h"
#include "app/window/restart.h"
#include "compute/machine/machine.h"
#include "compute/machine/telemetry.h"
#include "compute/run/channel.h"
#include "compute/run/worker.h"
#include "compute/tensor/tensor_store.h"
#include "compute/train/ranks/rank_session.h"
#include "ui/model/model.h"
#include "ui/ui.h"

namespace lab::app {

class Controller {
 public:
  // `machine` and `session` must outlive the controller, and GLFW too: events wake its event loop.
  // A window that a script plays (`scripted`) does not start anew: it would play it again.
  Controller(Machine& machine, RankSession& session, bool scripted);

  struct News {
    bool results = false;  // of jobs and the log
    bool gauges = false;   // telemetry
  };
  // Brings what waits in the channel into the model.
  News drain();

  void execute(const Commands& commands);

  // Saves the plots that were asked for from the frame just drawn, before it is swapped.
  void save_plots(const ui::WidgetMap& widgets, int frame_width, int frame_height,
                  float pixels_per_unit);
  // A plot waits to be saved: the pointer must stay out of the next frame.
  bool saving() const { return !pictures_.empty(); }

  // Machines to draw beside the present results, and what was wrong with others, for the log.
  void offer_references(FoundMachines found);

  // A line of the window's own for the Log page.
  void log(Severity severity, std::string text);

  // How the program is to be started anew, once a person asked for it.
  const std::optional<RestartPlan>& restart_wanted() const { return restart_; }

  Activity activity() const;
  // No job runs or waits, and the model knows.
  bool idle() const { return unfinished_jobs_ == 0; }
  // Whether events wake the event loop; off while a job runs, because the loop then looks by itself
  // and a fast job would wake it thousands of times a second.
  void wake_on_events(bool on) { wake_wanted_ = on; }
  void set_telemetry_interval(double seconds);

  const ui::Model& model() const { return model_; }

 private:
  struct PendingPicture {
    SavePlotPng wish;
    int frames_left;  // until the menu that asked for it is gone from the screen
  };
  void perform(const SaveText& wish);
  void perform(const RestartLab& wish);

  const bool one_process_, scripted_;
  std::optional<RestartPlan> restart_;
  ui::Model model_;
  std::atomic<bool> wake_wanted_ = true;
  std::vector<PendingPicture> pictures_;
  double telemetry_interval_s_;
  int unfinished_jobs_ = 0;  // submitted, their end not seen by the model yet
  TensorStore tensors_;
  Channel channel_;
  Worker worker_;             // uses what stands above
  TelemetrySampler sampler_;  // likewise
};

}  // namespace lab::app
