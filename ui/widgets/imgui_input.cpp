#include "ui/widgets/imgui_input.h"

#include <imgui_internal.h>

#include <utility>

namespace lab::ui {

void claim_arrows() {
  ImGui::NavMoveRequestCancel();
}

#if IMGUI_VERSION_NUM >= 18700

namespace {

constexpr std::pair<int, ImGuiKey> kNamedKeys[] = {
    {GLFW_KEY_ESCAPE, ImGuiKey_Escape},
    {GLFW_KEY_ENTER, ImGuiKey_Enter},
    {GLFW_KEY_KP_ENTER, ImGuiKey_KeypadEnter},
    {GLFW_KEY_TAB, ImGuiKey_Tab},
    {GLFW_KEY_SPACE, ImGuiKey_Space},
    {GLFW_KEY_BACKSPACE, ImGuiKey_Backspace},
    {GLFW_KEY_DELETE, ImGuiKey_Delete},
    {GLFW_KEY_LEFT, ImGuiKey_LeftArrow},
    {GLFW_KEY_RIGHT, ImGuiKey_RightArrow},
    {GLFW_KEY_UP, ImGuiKey_UpArrow},
    {GLFW_KEY_DOWN, ImGuiKey_DownArrow},
    {GLFW_KEY_HOME, ImGuiKey_Home},
    {GLFW_KEY_END, ImGuiKey_End},
    {GLFW_KEY_PAGE_UP, ImGuiKey_PageUp},
    {GLFW_KEY_PAGE_DOWN, ImGuiKey_PageDown},
    {GLFW_KEY_EQUAL, ImGuiKey_Equal},
    {GLFW_KEY_MINUS, ImGuiKey_Minus},
    {GLFW_KEY_KP_ADD, ImGuiKey_KeypadAdd},
    {GLFW_KEY_KP_SUBTRACT, ImGuiKey_KeypadSubtract},
    {GLFW_KEY_F1, ImGuiKey_F1},
};

// Converts a GLFW key code to ImGui's; ImGuiKey_None for keys that the lab does not use.
ImGuiKey imgui_key(int key) {
  if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) {
    return static_cast<ImGuiKey>(ImGuiKey_0 + (key - GLFW_KEY_0));
  }
  if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) {
    return static_cast<ImGuiKey>(ImGuiKey_A + (key - GLFW_KEY_A));
  }
  for (const auto& [number, name] : kNamedKeys) {
    if (number == key) return name;
  }
  return ImGuiKey_None;
}

bool is_modifier(ImGuiKey key) {
  return (static_cast<int>(key) & ImGuiMod_Mask_) != 0 ||
         (key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper);
}

// Takes all events from a change of a modifier on, if it follows a press or the wheel.
ImVector<ImGuiInputEvent> take_later_events(ImVector<ImGuiInputEvent>& queue) {
  ImVector<ImGuiInputEvent> later;
  bool pressed = false;
  for (const ImGuiInputEvent& event : queue) {
    const bool key = event.Type == ImGuiInputEventType_Key;
    const bool modifier = key && is_modifier(event.Key.Key);
    if (!later.empty() || (modifier && pressed)) later.push_back(event);
    pressed = pressed || (key && !modifier && event.Key.Down) ||
              (event.Type == ImGuiInputEventType_MouseButton && event.MouseButton.Down) ||
              event.Type == ImGuiInputEventType_MouseWheel;
  }
  queue.resize(queue.Size - later.Size);
  return later;
}

}  // namespace

bool key_pressed(int key, bool repeat) {
  return ImGui::IsKeyPressed(imgui_key(key), repeat);
}

bool enter_pressed_on([[maybe_unused]] ImGuiID item) {
  return false;
}

void claim_wheel() {
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
}

void send_pointer(ImGuiIO& io, ImVec2 at) {
  io.AddMousePosEvent(at.x, at.y);
}

void send_button(ImGuiIO& io, int button, bool down) {
  io.AddMouseButtonEvent(button, down);
}

void send_wheel(ImGuiIO& io, float notches) {
  if (notches != 0) io.AddMouseWheelEvent(0, notches);
}

void send_key(ImGuiIO& io, int key, bool down) {
  io.AddKeyEvent(imgui_key(key), down);
}

void send_modifiers(ImGuiIO& io, const Modifiers& which, bool down) {
  if (which.ctrl) io.AddKeyEvent(ImGuiMod_Ctrl, down);
  if (which.shift) io.AddKeyEvent(ImGuiMod_Shift, down);
  if (which.alt) io.AddKeyEvent(ImGuiMod_Alt, down);
}

void new_frame() {
  const ImVector<ImGuiInputEvent> later = take_later_events(GImGui->InputEventsQueue);
  ImGui::NewFrame();
  for (const ImGuiInputEvent& event : later) GImGui->InputEventsQueue.push_back(event);
}

bool input_queued() {
  return !GImGui->InputEventsQueue.empty();
}

void map_keys([[maybe_unused]] ImGuiIO& io) {}

#else

bool key_pressed(int key, bool repeat) {
  return ImGui::IsKeyPressed(key, repeat);
}

bool enter_pressed_on(ImGuiID item) {
  return GImGui->NavActivateInputId == item;
}

void claim_wheel() {
  ImGui::SetItemUsingMouseWheel();
}

void send_pointer(ImGuiIO& io, ImVec2 at) {
  io.MousePos = at;
}

void send_button(ImGuiIO& io, int button, bool down) {
  io.MouseDown[button] = down;
}

void send_wheel(ImGuiIO& io, float notches) {
  io.MouseWheel = notches;
}

void send_key(ImGuiIO& io, int key, bool down) {
  io.KeysDown[key] = down;
}

void send_modifiers(ImGuiIO& io, const Modifiers& which, bool down) {
  io.KeyCtrl = which.ctrl && down;
  io.KeyShift = which.shift && down;
  io.KeyAlt = which.alt && down;
}

void new_frame() {
  ImGui::NewFrame();
}

bool input_queued() {
  return false;
}

void map_keys(ImGuiIO& io) {
  constexpr std::pair<ImGuiKey, int> kUsed[] = {
      {ImGuiKey_Tab, GLFW_KEY_TAB},
      {ImGuiKey_LeftArrow, GLFW_KEY_LEFT},
      {ImGuiKey_RightArrow, GLFW_KEY_RIGHT},
      {ImGuiKey_UpArrow, GLFW_KEY_UP},
      {ImGuiKey_DownArrow, GLFW_KEY_DOWN},
      {ImGuiKey_PageUp, GLFW_KEY_PAGE_UP},
      {ImGuiKey_PageDown, GLFW_KEY_PAGE_DOWN},
      {ImGuiKey_Home, GLFW_KEY_HOME},
      {ImGuiKey_End, GLFW_KEY_END},
      {ImGuiKey_Insert, GLFW_KEY_INSERT},
      {ImGuiKey_Delete, GLFW_KEY_DELETE},
      {ImGuiKey_Backspace, GLFW_KEY_BACKSPACE},
      {ImGuiKey_Space, GLFW_KEY_SPACE},
      {ImGuiKey_Enter, GLFW_KEY_ENTER},
      {ImGuiKey_Escape, GLFW_KEY_ESCAPE},
      {ImGuiKey_KeyPadEnter, GLFW_KEY_KP_ENTER},
      {ImGuiKey_A, GLFW_KEY_A},
      {ImGuiKey_C, GLFW_KEY_C},
      {ImGuiKey_V, GLFW_KEY_V},
      {ImGuiKey_X, GLFW_KEY_X},
      {ImGuiKey_Y, GLFW_KEY_Y},
      {ImGuiKey_Z, GLFW_KEY_Z},
  };
  for (const auto& [name, number] : kUsed) io.KeyMap[name] = number;
}

#endif

}  // namespace lab::ui
