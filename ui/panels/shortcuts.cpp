#include "ui/panels/shortcuts.h"

#include <algorithm>

namespace lab::ui {
namespace {

#if IMGUI_VERSION_NUM >= 18700
using Key = ImGuiKey;
constexpr Key kF1 = ImGuiKey_F1;
constexpr Key kT = ImGuiKey_T;
constexpr Key kEqual = ImGuiKey_Equal;
constexpr Key kMinus = ImGuiKey_Minus;
constexpr Key kPadAdd = ImGuiKey_KeypadAdd;
constexpr Key kPadSubtract = ImGuiKey_KeypadSubtract;
Key digit(int d) {
  return static_cast<Key>(ImGuiKey_0 + d);
}
Key named(ImGuiKey key) {
  return key;
}
Key pad_enter() {
  return ImGuiKey_KeypadEnter;
}
#else
// Before 1.87 ImGui passes the window library's own key numbers through; these are GLFW's. Keys
// that ImGui uses itself are mapped.
using Key = int;
constexpr Key kF1 = 290;
constexpr Key kT = 84;
constexpr Key kEqual = 61;
constexpr Key kMinus = 45;
constexpr Key kPadAdd = 334;
constexpr Key kPadSubtract = 333;
Key digit(int d) {
  return 48 + d;
}
Key named(ImGuiKey key) {
  return ImGui::GetKeyIndex(key);
}
Key pad_enter() {
  return ImGui::GetKeyIndex(ImGuiKey_KeyPadEnter);
}
#endif

bool pressed(Key key) {
  return ImGui::IsKeyPressed(key, false);
}

bool question_mark_typed() {
  const ImGuiIO& io = ImGui::GetIO();
  return !io.WantTextInput &&
         std::find(io.InputQueueCharacters.begin(), io.InputQueueCharacters.end(), ImWchar('?')) !=
             io.InputQueueCharacters.end();
}

void escape(const Panel& p) {
  if (p.view.help_open) {
    p.view.help_open = false;
  } else if (p.view.confirm_restart) {
    p.view.confirm_restart.reset();
  } else if (p.view.confirm_cancel) {
    p.view.confirm_cancel = false;
  } else if (!ImGui::GetIO().WantTextInput && p.model.job()) {
    p.view.confirm_cancel = true;
  }
}

bool control_shortcuts(const Panel& p) {
  for (int page = 0; page < kPages; ++page) {
    if (pressed(digit(page + 1))) p.view.page = static_cast<Page>(page);
  }
  if (pressed(kT)) {
    p.view.mode = p.view.mode == ThemeMode::Dark ? ThemeMode::Light : ThemeMode::Dark;
  }
  if (pressed(kEqual) || pressed(kPadAdd)) {
    p.view.scale = std::min(p.view.scale + kScaleStep, kScaleMax);
  }
  if (pressed(kMinus) || pressed(kPadSubtract)) {
    p.view.scale = std::max(p.view.scale - kScaleStep, kScaleMin);
  }
  return pressed(named(ImGuiKey_Enter)) || pressed(pad_enter());
}

}  // namespace

bool handle_shortcuts(const Panel& p) {
  const ImGuiIO& io = ImGui::GetIO();
  if (pressed(named(ImGuiKey_Escape))) escape(p);
  if (pressed(kF1) || question_mark_typed()) p.view.help_open = !p.view.help_open;
  if (p.view.help_open || p.view.confirm_cancel || p.view.confirm_restart) return false;
  if (io.KeyCtrl) return control_shortcuts(p);
  // A control that shows keyboard focus takes Space for itself.
  if (p.view.page == Page::Training && !io.WantTextInput && !io.NavVisible &&
      pressed(named(ImGuiKey_Space))) {
    toggle_pause(p);
  }
  return false;
}

}  // namespace lab::ui
