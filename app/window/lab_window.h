#pragma once
// The window with everything behind it, and the loop that draws it.
#include <filesystem>
#include <future>
#include <memory>
#include <optional>

#include "app/automation/script.h"
#include "app/cli/invocation.h"
#include "app/headless/interrupt.h"
#include "app/window/controller.h"
#include "app/window/frame_pacer.h"
#include "app/window/glfw_window.h"
#include "app/window/interface.h"
#include "app/window/settings.h"
#include "ui/pages/lab_view.h"

namespace lab::app {

class LabWindow {
 public:
  // Throws Error as run_window says.
  LabWindow(const WindowOptions& options, Interrupt& interrupt, RankSession& session);
  LabWindow(const LabWindow&) = delete;
  LabWindow& operator=(const LabWindow&) = delete;

  // Until the window is closed, interrupted, or has done what the options asked for; or until a
  // restart is wanted, and then how.
  std::optional<RestartPlan> run();

 private:
  // A run that ends by itself: plays a script, takes a picture.
  bool unattended() const;
  bool finished() const;
  void apply_options();
  void wait_for_something();
  void draw_frame();
  void serve_files();
  void write_screenshot(const std::filesystem::path& file);
  void write_description(const std::filesystem::path& file);
  void remember();
  void print_frame_stats() const;

  const WindowOptions options_;
  Interrupt& interrupt_;
  std::string settings_complaint_;
  Settings settings_;
  ui::ViewState view_;
  std::future<std::unique_ptr<Machine>> machine_found_;  // looked for while the window opens
  std::future<FoundMachines> references_found_;          // likewise
  std::optional<ScriptPlayer> player_;
  GlfwSession session_;
  GlfwWindow window_;
  Interface interface_;
  std::unique_ptr<Machine> machine_;
  Controller controller_;
  FramePacer pacer_;
  std::int64_t frames_ = 0;
  double first_frame_s_ = 0;
  double last_attention_s_ = 0;
};

}  // namespace lab::app
