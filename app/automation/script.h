#pragma once
// A script: JSON lines, one step each, for demos, documentation and tests.
//   {"click": PATH}  {"right_click": PATH}  {"double_click": PATH}  {"hover": PATH or ""}
//   {"type": TEXT}  {"key": "ctrl+2"}  {"scroll": -3, "at": PATH}  {"set": PATH, "value": TEXT}
//   {"wait": SECONDS or "idle"}  {"wait_for": PATH}  {"expect": PATH, "value": TEXT}
//   {"screenshot": FILE}  {"describe": FILE}
// A step that looks for a widget, and {"wait": "idle"}, may say "timeout": SECONDS.
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
  std::string value;   // of set and expect
  bool has_value = false;
  double amount = 0;  // seconds or wheel notches
  double timeout_s = 10;
};

// Blank lines and lines that begin with '#' are skipped. Throws Error(InvalidArgument) naming
// `name` and the line.
std::vector<ScriptStep> parse_script(std::string_view text, std::string_view name);

// --- player ---------------------------------------------------------------------------------
class ScriptPlayer {
 public:
  // `name` is how errors call the script.
  ScriptPlayer(std::vector<ScriptStep> steps, std::string name);

  // What the frame just drawn showed.
  struct World {
    const ui::WidgetMap& widgets;
    double now_s = 0;
    bool idle = false;  // no job runs or waits, and all results are shown
  };
  struct FileWish {
    Act act = Act::Screenshot;  // or Describe
    std::filesystem::path file;
  };

  // Looks at the frame just drawn and prepares the next one's input. What it returns is to be
  // written from this frame. Throws Error(NotFound) naming line and path when a widget does not
  // show up in time.
  std::optional<FileWish> after_frame(const World& world);

  const SyntheticInput& input() const { return input_; }
  bool finished() const { return next_ >= steps_.size() && !input_.pending(); }
  // Whether a frame is to be drawn although nothing else asks for one.
  bool wants_frame(double now_s) const;

 private:
  enum class Progress { Waiting, Done };
  Progress play(const ScriptStep& step, const World& world, std::optional<FileWish>& wish);
  Progress play_click(const ScriptStep& step, const World& world);
  Progress play_pointer(const ScriptStep& step, const World& world);
  Progress play_set(const ScriptStep& step, const World& world);
  // Null until the widget shows up; throws when it takes too long.
  const ui::WidgetRect* look_for(const std::string& path, const ScriptStep& step,
                                 const World& world);
  [[noreturn]] void fail(const ScriptStep& step, const std::string& why) const;

  const std::vector<ScriptStep> steps_;
  const std::string name_;
  SyntheticInput input_;
  std::size_t next_ = 0;
  std::optional<double> step_start_s_;
  double last_frame_s_ = 0;
  int phase_ = 0;  // of a step with several clicks
};

}  // namespace lab::app
