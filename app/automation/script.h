#pragma once
// A script: JSON lines, one step each, for demos, documentation and tests.
//   {"click": PATH}  {"right_click": PATH}  {"double_click": PATH}  {"hover": PATH or ""}
//   {"type": TEXT}  {"key": "ctrl+2"}  {"scroll": -3, "at": PATH}  {"set": PATH, "value": TEXT}
//   {"wait": SECONDS or "idle"}  {"wait_for": PATH}  {"expect": PATH, "value": TEXT}
//   {"screenshot": FILE}  {"describe": FILE}
// A step that looks for a widget, and {"wait": "idle"}, may say "timeout": SECONDS.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace lab::app
