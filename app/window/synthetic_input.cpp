#include "app/window/synthetic_input.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compute/types/error.h"

namespace lab::app {
namespace {

// Before 1.87 ImGui takes the window library's key numbers and knows few names.
#if IMGUI_VERSION_NUM >= 18700
#define LAB_IMGUI_KEY(name) ImGuiKey_##name
#else
#define LAB_IMGUI_KEY(name) ImGuiKey_COUNT
#endif

struct NamedKey {
  std::string_view name;
  int key;
  ImGuiKey imgui;
};
constexpr NamedKey kNamedKeys[] = {
    {"esc", GLFW_KEY_ESCAPE, LAB_IMGUI_KEY(Escape)},
    {"enter", GLFW_KEY_ENTER, LAB_IMGUI_KEY(Enter)},
    {"tab", GLFW_KEY_TAB, LAB_IMGUI_KEY(Tab)},
    {"space", GLFW_KEY_SPACE, LAB_IMGUI_KEY(Space)},
    {"backspace", GLFW_KEY_BACKSPACE, LAB_IMGUI_KEY(Backspace)},
    {"delete", GLFW_KEY_DELETE, LAB_IMGUI_KEY(Delete)},
    {"left", GLFW_KEY_LEFT, LAB_IMGUI_KEY(LeftArrow)},
    {"right", GLFW_KEY_RIGHT, LAB_IMGUI_KEY(RightArrow)},
    {"up", GLFW_KEY_UP, LAB_IMGUI_KEY(UpArrow)},
    {"down", GLFW_KEY_DOWN, LAB_IMGUI_KEY(DownArrow)},
    {"home", GLFW_KEY_HOME, LAB_IMGUI_KEY(Home)},
    {"end", GLFW_KEY_END, LAB_IMGUI_KEY(End)},
    {"pageup", GLFW_KEY_PAGE_UP, LAB_IMGUI_KEY(PageUp)},
    {"pagedown", GLFW_KEY_PAGE_DOWN, LAB_IMGUI_KEY(PageDown)},
    {"equal", GLFW_KEY_EQUAL, LAB_IMGUI_KEY(Equal)},
    {"minus", GLFW_KEY_MINUS, LAB_IMGUI_KEY(Minus)},
    {"f1", GLFW_KEY_F1, LAB_IMGUI_KEY(F1)},
};

ImGuiKey letter_or_digit(char c) {
#if IMGUI_VERSION_NUM >= 18700
  const int first =
      std::isdigit(static_cast<unsigned char>(c)) != 0 ? ImGuiKey_0 - '0' : ImGuiKey_A - 'A';
  return static_cast<ImGuiKey>(first + c);
#else
  static_cast<void>(c);
  return ImGuiKey_COUNT;
#endif
}

bool find_key(std::string_view name, KeyChord& chord) {
  if (name.size() == 1 && std::isalnum(static_cast<unsigned char>(name[0])) != 0) {
    const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    chord.key = static_cast<unsigned char>(upper);  // GLFW numbers letters and digits as ASCII does
    chord.imgui = letter_or_digit(upper);
    return true;
  }
  for (const NamedKey& k : kNamedKeys) {
    if (k.name != name) continue;
    chord.key = k.key;
    chord.imgui = k.imgui;
    return true;
  }
  return false;
}

}  // namespace

KeyChord parse_chord(std::string_view text) {
  KeyChord chord;
  std::string_view rest = text;
  for (auto plus = rest.find('+'); plus != std::string_view::npos; plus = rest.find('+')) {
    const std::string_view held = rest.substr(0, plus);
    if (held == "ctrl")
      chord.ctrl = true;
    else if (held == "shift")
      chord.shift = true;
    else if (held == "alt")
      chord.alt = true;
    else
      break;
    rest.remove_prefix(plus + 1);
  }
  if (find_key(rest, chord)) return chord;
  throw Error(Errc::Usage,
              fmt::format("'{}' is no key; write it as ctrl+2, esc, shift+tab, f1", text));
}

void SyntheticInput::move(ImVec2 to) {
  InputChange change;
  change.mouse = to;
  queue_.push_back(change);
  settle(1);
}

void SyntheticInput::click(ImVec2 at, int button, int times) {
  move(at);
  for (int i = 0; i < 2 * times; ++i) {
    InputChange change;
    change.button = button;
    change.button_down = i % 2 == 0;
    queue_.push_back(change);
  }
}

void SyntheticInput::press(const KeyChord& chord) {
  InputChange change;
  change.chord = chord;
  change.chord_down = true;
  queue_.push_back(change);
  change.chord_down = false;
  queue_.push_back(change);
}

void SyntheticInput::type(std::string_view text) {
  InputChange change;
  change.text = text;
  queue_.push_back(change);
}

void SyntheticInput::scroll(float wheel) {
  InputChange change;
  change.wheel = wheel;
  queue_.push_back(change);
}

void SyntheticInput::settle(int frames) {
  queue_.insert(queue_.end(), static_cast<std::size_t>(frames), InputChange{});
}

bool SyntheticInput::advance() {
  const bool any = !queue_.empty();
  now_ = any ? std::move(queue_.front()) : InputChange{};
  if (any) queue_.pop_front();
  if (now_.mouse) mouse_ = *now_.mouse;
  if (now_.button_down) buttons_[static_cast<std::size_t>(now_.button)] = *now_.button_down;
  return any;
}

#if IMGUI_VERSION_NUM >= 18700

void SyntheticInput::apply(ImGuiIO& io) const {
  io.AddMousePosEvent(mouse_.x, mouse_.y);
  if (now_.button_down) io.AddMouseButtonEvent(now_.button, *now_.button_down);
  if (now_.wheel != 0) io.AddMouseWheelEvent(0, now_.wheel);
  if (now_.chord) {
    const KeyChord& chord = *now_.chord;
    if (chord.ctrl) io.AddKeyEvent(ImGuiMod_Ctrl, now_.chord_down);
    if (chord.shift) io.AddKeyEvent(ImGuiMod_Shift, now_.chord_down);
    if (chord.alt) io.AddKeyEvent(ImGuiMod_Alt, now_.chord_down);
    io.AddKeyEvent(chord.imgui, now_.chord_down);
  }
  io.AddInputCharactersUTF8(now_.text.c_str());
}

#else

void SyntheticInput::apply(ImGuiIO& io) const {
  io.MousePos = mouse_;
  for (std::size_t i = 0; i < buttons_.size(); ++i) io.MouseDown[i] = buttons_[i];
  io.MouseWheel = now_.wheel;
  if (now_.chord) {
    const KeyChord& chord = *now_.chord;
    io.KeysDown[chord.key] = now_.chord_down;
    io.KeyCtrl = chord.ctrl && now_.chord_down;
    io.KeyShift = chord.shift && now_.chord_down;
    io.KeyAlt = chord.alt && now_.chord_down;
  }
  io.AddInputCharactersUTF8(now_.text.c_str());
}

#endif

}  // namespace lab::app
