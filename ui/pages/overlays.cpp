// What lies over the page: the list of shortcuts, and the questions before a job is stopped or the
// program starts anew.
#include <algorithm>

#include "ui/pages/frame.h"
#include "ui/pages/shortcuts.h"

namespace lab::ui {
namespace {

// A centred modal that is open as long as `open` says so; true when its content must be drawn.
bool begin_modal(const Panel& p, const char* id, bool open, float width_units) {
  if (open && !ImGui::IsPopupOpen(id)) ImGui::OpenPopup(id);
  if (!ImGui::IsPopupOpen(id)) return false;
  const Ui& ui = p.ui;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui.px(width_units), screen.x - ui.px(32));
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, screen.y - ui.px(32)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(20), ui.px(16)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
  ImGui::PushStyleColor(ImGuiCol_PopupBg, ui.theme->card);
  const bool shown = ImGui::BeginPopupModal(
      id, nullptr,
      ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
          ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  if (shown && !open) {
    ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    return false;
  }
  return shown;
}

}  // namespace

void draw_help_overlay(const Panel& p) {
  if (!begin_modal(p, "##help", p.view.help_open, 520)) return;
  Ui& ui = p.ui;
  title(ui, "Keyboard and mouse");
  ImGui::Dummy({1, ui.px(4)});
  for (const auto& [keys, meaning] : kShortcuts) fact(ui, meaning, std::string_view(keys));
  ImGui::Dummy({1, ui.px(4)});
  muted(ui, "Point at any figure to read what was measured, how often, and how it spread.");
  if (button(ui, "help/close", "Close", {.kind = ButtonKind::Primary, .hint = "Esc"})) {
    p.view.help_open = false;
  }
  ImGui::EndPopup();
}

void draw_cancel_question(const Panel& p) {
  if (p.view.confirm_cancel && !p.model.job()) p.view.confirm_cancel = false;  // it ended meanwhile
  if (!begin_modal(p, "##cancel", p.view.confirm_cancel, 420)) return;
  Ui& ui = p.ui;
  title(ui, "Stop this job?");
  body(ui, p.model.job()->title + " is running. What it measured so far stays.");
  ImGui::Dummy({1, ui.px(4)});
  if (button(ui, "confirm/stop", "Stop the job", {.kind = ButtonKind::Danger})) {
    cancel(p);
    p.view.confirm_cancel = false;
  }
  ImGui::SameLine(0, ui.px(8));
  if (button(ui, "confirm/keep", "Keep it running", {.hint = "Esc"})) p.view.confirm_cancel = false;
  ImGui::EndPopup();
}

void draw_restart_question(const Panel& p) {
  if (!begin_modal(p, "##restart", p.view.confirm_restart.has_value(), 420)) return;
  Ui& ui = p.ui;
  const RestartLab wish = *p.view.confirm_restart;
  title(ui, "Restart Device Lab?");
  if (wish.wake_gpus) body(ui, "CUDA is started with the lab, and wakes the GPUs.");
  body(ui, "Settings stay. Results and tensors on screen are gone.");
  if (p.model.job()) body(ui, p.model.job()->title + " is running and will be stopped.");
  ImGui::Dummy({1, ui.px(4)});
  if (button(ui, "restart/yes", "Restart", {.kind = ButtonKind::Primary})) {
    p.out.push_back(wish);
    p.view.confirm_restart.reset();
  }
  ImGui::SameLine(0, ui.px(8));
  if (button(ui, "restart/no", "Not now", {.hint = "Esc"})) p.view.confirm_restart.reset();
  ImGui::EndPopup();
}

}  // namespace lab::ui
