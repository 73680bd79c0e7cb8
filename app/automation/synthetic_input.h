#pragma once
// Mouse and keyboard of a script: given to ImGui in place of the person's, so that a scripted
// click goes the way of a real one.
#include <imgui.h>

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "ui/widgets/imgui_input.h"

namespace lab::app {

// A key with what is held beside it.
struct KeyChord {
  int key = 0;  // GLFW's number
  ui::Modifiers held = {};
};

// "ctrl+2", "esc", "shift+tab", "f1"; throws Error(Usage) naming the text.
KeyChord parse_chord(std::string_view text);

// What changes in one frame.
struct InputChange {
  std::optional<ImVec2> mouse;
  int button = 0;
  std::optional<bool> button_down;
  std::optional<KeyChord> chord;
  bool chord_down = false;
  float wheel = 0;
  std::string text;
};

class SyntheticInput {
 public:
  // Each becomes one frame or more, in order.
  void move(ImVec2 to);
  void click(ImVec2 at, int button, int times);
  void press(const KeyChord& chord);
  void type(std::string_view text);
  void scroll(float wheel);
  // Frames in which nothing changes, so that the interface settles.
  void settle(int frames);

  // Steps to the next frame's input; false when nothing was queued.
  bool advance();
  bool pending() const { return !queue_.empty(); }

  // Writes this frame's input. Between the backend's and ImGui's NewFrame.
  void apply(ImGuiIO& io) const;

 private:
  std::deque<InputChange> queue_;
  InputChange now_;
  ImVec2 mouse_{-1e6F, -1e6F};
  std::array<bool, 3> buttons_{};
};

}  // namespace lab::app
