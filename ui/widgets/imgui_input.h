#pragma once
// Keyboard and mouse input for both ImGui APIs: fields of ImGuiIO before release 1.87, events since
// then. No other file depends on the difference. Keys are GLFW key codes, GLFW_KEY_*.
#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE  // key codes only, without OpenGL
#endif
#include <GLFW/glfw3.h>
#include <imgui.h>

namespace lab::ui {

struct Modifiers {
  bool ctrl = false, shift = false, alt = false;
};

// Returns true if the key went down in this frame, or with `repeat` also while it is held.
bool key_pressed(int key, bool repeat = false);

// Leaves this frame's arrow keys to the caller: the keyboard focus stays where it is.
void claim_arrows();

// Returns true if Enter went down on the focused item and ImGui leaves the press to the caller.
// Newer releases press the item themselves.
bool enter_pressed_on(ImGuiID item);

// Prevents the wheel from scrolling the window while the previous item is hovered.
void claim_wheel();

// Input for the next frame. Call between the backend's NewFrame and ImGui's.
void send_pointer(ImGuiIO& io, ImVec2 at);
void send_button(ImGuiIO& io, int button, bool down);
void send_wheel(ImGuiIO& io, float notches);
void send_key(ImGuiIO& io, int key, bool down);
void send_modifiers(ImGuiIO& io, const Modifiers& which, bool down);

// ImGui::NewFrame(). From release 1.87 on, a frame takes one change of each key or button, and
// those after it wait. All of a frame see the modifiers as they are at its end, so those that
// change after a press or the wheel wait here: Ctrl released before the key of a chord.
void new_frame();
// Whether events wait for a later frame.
bool input_queued();

// Registers the keys that ImGui uses itself, for contexts without a backend that does so.
void map_keys(ImGuiIO& io);

}  // namespace lab::ui
