#include "ui/pages/lab_view.h"

#include <imgui_internal.h>

#include "ui/pages/frame.h"
#include "ui/pages/panel.h"
#include "ui/pages/shortcuts.h"

namespace lab::ui {
namespace {

constexpr ImGuiWindowFlags kPart = ImGuiWindowFlags_NavFlattened;
constexpr ImGuiWindowFlags kFixedPart =
    kPart | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;

// One part of the window at a fixed place, on its own surface.
template <typename Draw>
void part(const Panel& p, const char* name, ImVec2 pos, ImVec2 size, ImU32 color, Draw draw) {
  ImGui::SetCursorScreenPos(pos);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, color);
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, 0);
  const bool visible = ImGui::BeginChild(name, size, false, kFixedPart);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (visible) draw(p);
  ImGui::EndChild();
}

void draw_page(const Panel& p) {
  switch (p.view.page) {
    case Page::Devices: draw_devices_page(p); break;
    case Page::Memory: draw_memory_page(p); break;
    case Page::Transfers: draw_transfers_page(p); break;
    case Page::Matmul: draw_matmul_page(p); break;
    case Page::Training: draw_training_page(p); break;
    case Page::Scaling: draw_scaling_page(p); break;
    case Page::Log: draw_log_page(p); break;
  }
}

// The scrollbar stands in the padding, so that its coming and going leaves the width of the page
// alone: text that wraps anew would make it come and go forever.
void scrollbar_in_padding() {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  window->WorkRect.Max.x += window->ScrollbarSizes.x;
  window->ContentRegionRect.Max.x += window->ScrollbarSizes.x;
  // ImGui clips half a padding inside the scrollbar, where the cards' right edges are.
  const ImRect& clip = window->InnerClipRect;
  ImGui::PushClipRect(clip.Min, {clip.Max.x + window->ScrollbarSizes.x, clip.Max.y}, false);
}

// The page scrolls when it is higher than the window; each page keeps its own place.
void page_part(const Panel& p, ImVec2 pos, ImVec2 size) {
  const Ui& ui = p.ui;
  ImGui::SetCursorScreenPos(pos);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(16), ui.px(4)});
  const bool visible = ImGui::BeginChild(name_of(p.view.page), size, false,
                                         kPart | ImGuiWindowFlags_AlwaysUseWindowPadding);
  ImGui::PopStyleVar();
  if (visible) {
    scrollbar_in_padding();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(8), ui.px(12)});
    draw_page(p);
    ImGui::Dummy({1, ui.px(4)});
    ImGui::PopStyleVar();
    ImGui::PopClipRect();
  }
  ImGui::EndChild();
}

void draw_parts(const Panel& p) {
  const Ui& ui = p.ui;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float rail = ui.px(rail_width(p));
  const float head = ui.px(kTitleHeight);
  const float foot = ui.px(kStatusHeight);
  const float body = screen.y - foot;
  part(p, "##rail", {0, 0}, {rail, body}, ui.theme->card, draw_rail);
  part(p, "##title", {rail, 0}, {screen.x - rail, head}, ui.theme->page, draw_title_bar);
  page_part(p, {rail, head}, {screen.x - rail, body - head});
  part(p, "##status", {0, body}, {screen.x, foot}, ui.theme->card, draw_status_bar);
}

}  // namespace

void draw_lab(Ui& ui, const Model& model, ViewState& view, Commands& out) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  view.cursor.begin_frame();
  Panel panel{ui, model, view, out, screen.x / ui.scale, false};
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(screen);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ui.theme->page);
  ImGui::Begin("##lab", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  panel.start_pressed = handle_shortcuts(panel);
  draw_parts(panel);
  draw_help_overlay(panel);
  draw_cancel_question(panel);
  draw_restart_question(panel);
  ImGui::End();
}

}  // namespace lab::ui
