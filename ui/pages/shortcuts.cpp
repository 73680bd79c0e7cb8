#include "ui/pages/shortcuts.h"

#include <algorithm>

#include "ui/widgets/imgui_input.h"

namespace lab::ui {
namespace {

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
    if (key_pressed(GLFW_KEY_1 + page)) p.view.page = static_cast<Page>(page);
  }
  if (key_pressed(GLFW_KEY_T)) {
    p.view.mode = p.view.mode == ThemeMode::Dark ? ThemeMode::Light : ThemeMode::Dark;
  }
  if (key_pressed(GLFW_KEY_EQUAL) || key_pressed(GLFW_KEY_KP_ADD)) {
    p.view.scale = std::min(p.view.scale + kScaleStep, kScaleMax);
  }
  if (key_pressed(GLFW_KEY_MINUS) || key_pressed(GLFW_KEY_KP_SUBTRACT)) {
    p.view.scale = std::max(p.view.scale - kScaleStep, kScaleMin);
  }
  return key_pressed(GLFW_KEY_ENTER) || key_pressed(GLFW_KEY_KP_ENTER);
}

}  // namespace

bool handle_shortcuts(const Panel& p) {
  const ImGuiIO& io = ImGui::GetIO();
  if (key_pressed(GLFW_KEY_ESCAPE)) escape(p);
  if (key_pressed(GLFW_KEY_F1) || question_mark_typed()) p.view.help_open = !p.view.help_open;
  if (p.view.help_open || p.view.confirm_cancel || p.view.confirm_restart) return false;
  if (io.KeyCtrl) return control_shortcuts(p);
  // A control that shows keyboard focus takes Space for itself.
  if (p.view.page == Page::Training && !io.WantTextInput && !io.NavVisible &&
      key_pressed(GLFW_KEY_SPACE)) {
    toggle_pause(p);
  }
  return false;
}

}  // namespace lab::ui
