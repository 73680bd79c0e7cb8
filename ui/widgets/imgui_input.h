#pragma once
// Keyboard and mouse as ImGui takes them before release 1.87, in fields of ImGuiIO, and since then,
// as events: the one place that knows both. Keys are GLFW's numbers, GLFW_KEY_*.
#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE  // its key numbers, without OpenGL
#endif
#include <GLFW/glfw3.h>
#include <imgui.h>

namespace lab::ui {

struct Modifiers {
  bool ctrl = false, shift = false, alt = false;
};

// Whether the key went down in this frame; holding it does not repeat.
bool key_pressed(int key);

// Whether Enter went down on the item that has the keyboard's focus and ImGui leaves it to the
// caller. Later releases press the item themselves.
bool enter_pressed_on(ImGuiID item);

// Keeps the wheel from scrolling the window while the last item is hovered.
void claim_wheel();

// Input of the next frame. To be called between the backend's NewFrame and ImGui's.
void send_pointer(ImGuiIO& io, ImVec2 at);
void send_button(ImGuiIO& io, int button, bool down);
void send_wheel(ImGuiIO& io, float notches);
void send_key(ImGuiIO& io, int key, bool down);
void send_modifiers(ImGuiIO& io, const Modifiers& which, bool down);

// Where no backend does so: lets ImGui know the keys that it uses itself.
void map_keys(ImGuiIO& io);

}  // namespace lab::ui
