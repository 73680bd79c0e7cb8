#include "app/automation/synthetic_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

struct NamedKey {
  std::string_view name;
  int key;
};
constexpr NamedKey kNamedKeys[] = {
    {"esc", GLFW_KEY_ESCAPE},
    {"enter", GLFW_KEY_ENTER},
    {"tab", GLFW_KEY_TAB},
    {"space", GLFW_KEY_SPACE},
    {"backspace", GLFW_KEY_BACKSPACE},
    {"delete", GLFW_KEY_DELETE},
    {"left", GLFW_KEY_LEFT},
    {"right", GLFW_KEY_RIGHT},
    {"up", GLFW_KEY_UP},
    {"down", GLFW_KEY_DOWN},
    {"home", GLFW_KEY_HOME},
    {"end", GLFW_KEY_END},
    {"pageup", GLFW_KEY_PAGE_UP},
    {"pagedown", GLFW_KEY_PAGE_DOWN},
    {"equal", GLFW_KEY_EQUAL},
    {"minus", GLFW_KEY_MINUS},
    {"f1", GLFW_KEY_F1},
};

bool find_key(std::string_view name, KeyChord& chord) {
  if (name.size() == 1 && std::isalnum(static_cast<unsigned char>(name[0])) != 0) {
    const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    chord.key = static_cast<unsigned char>(upper);  // GLFW's codes for letters and digits are ASCII
    return true;
  }
  for (const NamedKey& k : kNamedKeys) {
    if (k.name != name) continue;
    chord.key = k.key;
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
      chord.held.ctrl = true;
    else if (held == "shift")
      chord.held.shift = true;
    else if (held == "alt")
      chord.held.alt = true;
    else
      break;
    rest.remove_prefix(plus + 1);
  }
  if (find_key(rest, chord)) return chord;
  throw Error(Errc::Usage,
              trf("'{}' is not a key; write it like ctrl+2, esc, shift+tab or f1", text));
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

void SyntheticInput::apply(ImGuiIO& io) const {
  ui::send_pointer(io, mouse_);
  for (std::size_t i = 0; i < buttons_.size(); ++i) {
    ui::send_button(io, static_cast<int>(i), buttons_[i]);
  }
  ui::send_wheel(io, now_.wheel);
  if (now_.chord) {
    ui::send_modifiers(io, now_.chord->held, now_.chord_down);
    ui::send_key(io, now_.chord->key, now_.chord_down);
  }
  io.AddInputCharactersUTF8(now_.text.c_str());
}

}  // namespace lab::app
