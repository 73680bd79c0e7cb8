#pragma once
// Scripted mouse and keyboard input. It replaces the user's input in ImGui, so a scripted click
// takes the same path as a real one.
#include <imgui.h>

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "ui/widgets/imgui_input.h"

namespace lab::app {

// A key with its modifiers.
struct KeyChord {
  int key = 0;  // GLFW key code
  ui::Modifiers held = {};
};

// Parses "ctrl+2", "esc", "shift+tab" or "f1"; throws Error(Usage) naming the text.
KeyChord parse_chord(std::string_view text);

// The input changes of one frame.
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
  // Each queues one or more frames, in order.
  void move(ImVec2 to);
  void click(ImVec2 at, int button, int times);
  void press(const KeyChord& chord);
  void type(std::string_view text);
  void scroll(float wheel);
  // Queues frames without changes so that the interface settles.
  void settle(int frames);

  // Advances to the next frame's input; returns false if nothing was queued.
  bool advance();
  bool pending() const { return !queue_.empty(); }

  // Writes this frame's input. Call between the backend's and ImGui's NewFrame.
  void apply(ImGuiIO& io) const;

 private:
  std::deque<InputChange> queue_;
  InputChange now_;
  ImVec2 mouse_{-1e6F, -1e6F};
  std::array<bool, 3> buttons_{};
};

}  // namespace lab::app
