#pragma once
// UI scripts for demos, documentation and tests: JSON lines, one step each.
//   {"click": PATH}  {"right_click": PATH}  {"double_click": PATH}  {"hover": PATH or ""}
//   {"type": TEXT}  {"key": "ctrl+2"}  {"scroll": -3, "at": PATH}  {"set": PATH, "value": TEXT}
//   {"wait": SECONDS or "idle"}  {"wait_for": PATH}  {"expect": PATH, "value": TEXT}
//   {"screenshot": FILE}  {"describe": FILE}
// Steps that look for a widget, and {"wait": "idle"}, accept "timeout": SECONDS.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/automation/synthetic_input.h"
#include "ui/ui.h"

namespace lab::app {

enum class Act {
  Click,
  RightClick,
  DoubleClick,
  Hover,
  Type,
  Key,
  Scroll,
  Set,
  Wait,
  WaitIdle,
  WaitFor,
  Expect,
  Screenshot,
  Describe
};

struct ScriptStep {
  int line = 0;
  Act act = Act::Wait;
  std::string target;  // path, text, key or file
  std::string value;   // of Set and Expect
  bool has_value = false;
  double amount = 0;  // seconds or wheel notches
  double timeout_s = 10;
};

// Skips blank lines and lines that begin with '#'. Throws Error(InvalidArgument) naming `name` and
// the line.
std::vector<ScriptStep> parse_script(std::string_view text, std::string_view name);

// --- player ---------------------------------------------------------------------------------
class ScriptPlayer {
 public:
  // `name` identifies the script in errors.
  ScriptPlayer(std::vector<ScriptStep> steps, std::string name);

  // State of the frame just drawn.
  struct World {
    const ui::WidgetMap& widgets;
    double now_s = 0;
    bool idle = false;  // no job runs or waits, and all results are shown
  };
  struct CaptureRequest {
    Act act = Act::Screenshot;  // or Describe
    std::filesystem::path file;
  };

  // Examines the frame just drawn and prepares the next frame's input. Returns the file to be
  // written from this frame, if any. Throws Error(NotFound) naming line and path if a widget does
  // not appear in time.
  std::optional<CaptureRequest> after_frame(const World& world);

  const SyntheticInput& input() const { return input_; }
  bool finished() const { return next_ >= steps_.size() && !input_.pending(); }
  // Returns true if a frame must be drawn even though nothing else requests one.
  bool wants_frame(double now_s) const;

 private:
  enum class Progress { Waiting, Done };
  Progress play(const ScriptStep& step, const World& world, std::optional<CaptureRequest>& request);
  Progress play_click(const ScriptStep& step, const World& world);
  Progress play_pointer(const ScriptStep& step, const World& world);
  Progress play_set(const ScriptStep& step, const World& world);
  // Returns null until the widget appears; throws after the timeout.
  const ui::WidgetRect* look_for(const std::string& path, const ScriptStep& step,
                                 const World& world);
  [[noreturn]] void fail(const ScriptStep& step, const std::string& why) const;

  const std::vector<ScriptStep> steps_;
  const std::string name_;
  SyntheticInput input_;
  std::size_t next_ = 0;
  std::optional<double> step_start_s_;
  double last_frame_s_ = 0;
  int phase_ = 0;  // of steps with several clicks
};

}  // namespace lab::app
