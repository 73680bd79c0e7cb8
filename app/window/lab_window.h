#pragma once
// The lab's main window and its event loop.
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/automation/script.h"
#include "app/cli/invocation.h"
#include "app/headless/interrupt.h"
#include "app/window/controller.h"
#include "app/window/frame_pacer.h"
#include "app/window/glfw_window.h"
#include "app/window/interface.h"
#include "app/window/settings.h"
#include "ui/fonts.h"
#include "ui/pages/lab_view.h"

namespace lab::app {

class LabWindow {
 public:
  // Throws Error as described for run_window.
  LabWindow(const WindowOptions& options, Interrupt& interrupt, RankSession& session);
  LabWindow(const LabWindow&) = delete;
  LabWindow& operator=(const LabWindow&) = delete;

  // Runs until the window is closed, interrupted, or has done what the options requested. Returns
  // a plan if it ended in order to restart.
  std::optional<RestartPlan> run();

 private:
  // True for runs that end by themselves: they play a script or take a screenshot.
  bool unattended() const;
  bool finished() const;
  void apply_options();
  void add_present_view(std::vector<std::string>& args) const;
  void wait_for_events();
  Commands build_frame();
  void draw_frame();
  void write_captures();
  void write_screenshot(const std::filesystem::path& file);
  void write_description(const std::filesystem::path& file);
  void store_settings();
  void print_frame_stats() const;

  const WindowOptions options_;
  Interrupt& interrupt_;
  std::string settings_problem_;
  Settings settings_;
  ui::FontSet fonts_;
  ui::ViewState view_;
  std::future<std::unique_ptr<Machine>> machine_future_;  // probed while the window opens
  std::future<FoundMachines> references_future_;          // read while the window opens
  std::future<StoredRuns> runs_future_;
  std::optional<ScriptPlayer> player_;
  GlfwSession session_;
  GlfwWindow window_;
  Interface interface_;
  std::unique_ptr<Machine> machine_;
  Controller controller_;
  FramePacer pacer_;
  std::int64_t frames_ = 0;
  double first_frame_s_ = 0;
  // CPU time of building frames, without rendering them.
  double building_s_ = 0, longest_building_s_ = 0;
  double last_attention_s_ = 0;
};

}  // namespace lab::app
