#include "ui/pages/lab_view.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "ui/pages/dialogs.h"
#include "ui/pages/frame.h"
#include "ui/pages/panel.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

// --- keyboard -------------------------------------------------------------------------------

constexpr float kScaleStep = 0.25F;
constexpr float kScaleMin = 1;
constexpr float kScaleMax = 2;

bool question_mark_typed() {
  const ImGuiIO& io = ImGui::GetIO();
  return !io.WantTextInput &&
         std::find(io.InputQueueCharacters.begin(), io.InputQueueCharacters.end(), ImWchar('?')) !=
             io.InputQueueCharacters.end();
}

// Esc closes the topmost thing that is open. ImGui has closed a list or a menu by now.
void escape(const Panel& p) {
  if (p.view.help_open) {
    p.view.help_open = false;
  } else if (p.view.confirm_restart) {
    dismiss_restart(p);
  } else if (p.view.confirm_cancel) {
    p.view.confirm_cancel = false;
  } else if (p.view.save) {
    p.view.save.reset();
  } else if (!ImGui::GetIO().WantTextInput && !p.ui.popup_open && p.model.job()) {
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

// Handles this frame's key presses; returns true if Ctrl+Enter was pressed to start the page's job.
bool handle_shortcuts(const Panel& p) {
  const ImGuiIO& io = ImGui::GetIO();
  if (key_pressed(GLFW_KEY_ESCAPE)) escape(p);
  const bool help = key_pressed(GLFW_KEY_F1) || question_mark_typed();
  if (help && (p.view.help_open || !dialog_open(p.view))) p.view.help_open = !p.view.help_open;
  if (dialog_open(p.view)) return false;
  if (io.KeyCtrl) return control_shortcuts(p);
  // A control with visible keyboard focus handles Space itself.
  if (p.view.page == Page::Training && !io.WantTextInput && !io.NavVisible &&
      key_pressed(GLFW_KEY_SPACE)) {
    toggle_pause(p);
  }
  return false;
}

// --- the window -----------------------------------------------------------------------------

constexpr ImGuiWindowFlags kPart = ImGuiWindowFlags_NavFlattened;
constexpr ImGuiWindowFlags kFixedPart =
    kPart | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;

// Draws one part of the window at a fixed position, on its own surface.
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

#define LAB_DRAW_PAGE(name, key, title, icon, timed) draw_##key##_page,
constexpr std::array kDrawPage = {LAB_PAGES(LAB_DRAW_PAGE)};
#undef LAB_DRAW_PAGE

// Places the scrollbar in the padding so that it does not change the page's width when it appears.
// Otherwise text would wrap differently and make the scrollbar appear and disappear endlessly.
void scrollbar_in_padding() {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  window->WorkRect.Max.x += window->ScrollbarSizes.x;
  window->ContentRegionRect.Max.x += window->ScrollbarSizes.x;
  // ImGui clips half the padding inside the scrollbar, where the cards' right edges are.
  const ImRect& clip = window->InnerClipRect;
  ImGui::PushClipRect(clip.Min, {clip.Max.x + window->ScrollbarSizes.x, clip.Max.y}, false);
}

void draw_notice(const Panel& p) {
  ViewState& view = p.view;
  if (view.notice.empty() || view.notice == view.closed_notice) return;
  Row row(p.ui, {1, -84});
  row.next();
  note_box(p.ui, "notice/text", view.notice);
  row.next();
  if (button(p.ui, "notice/close", tr("Close"), {.width = -1})) view.closed_notice = view.notice;
}

// The page scrolls if it is taller than the window; each page keeps its own scroll position.
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
    if (std::exchange(p.view.to_top, false)) ImGui::SetScrollY(0);
    draw_notice(p);
    kDrawPage[static_cast<std::size_t>(p.view.page)](p);
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
  if (const std::optional<ImVec2> size = saved_size(p)) {
    const ImVec2 corner(screen.x - size->x - ui.px(16), body - size->y - ui.px(12));
    part(p, "##saved", corner, *size, 0, draw_saved);
  }
}

}  // namespace

void draw_lab(Ui& ui, const Model& model, ViewState& view, Commands& out) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const std::size_t sent_before = out.size();
  view.cursor.begin_frame();
  view.names_programs = false;
  const std::pair now(view.page, model.job() ? model.job()->id : JobId{});
  watch_pointer(ui, now != view.drawn);
  view.drawn = now;
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
  ask_where_to_save(panel, sent_before);
  draw_dialogs(panel);
  ui.popup_open =
      ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  ImGui::End();
}

// --- settings -------------------------------------------------------------------------------

std::map<std::string, std::string> save_view(const ViewState& view) {
  std::map<std::string, std::string> out;
  out["page"] = key_of(view.page);
  out["theme"] = view.mode == ThemeMode::Dark ? "dark" : "light";
  out["scale"] = fmt::format("{}", view.scale);
  if (view.language) out["language"] = to_string(*view.language);
  if (!view.save_folder.empty()) out["save.folder"] = view.save_folder;
  save_forms(view.forms, out);
  return out;
}

void load_view(ViewState& view, const std::map<std::string, std::string>& saved) {
  if (const auto page = saved.find("page"); page != saved.end()) {
    view.page = page_named(page->second).value_or(view.page);
  }
  if (const auto theme = saved.find("theme"); theme != saved.end()) {
    if (theme->second == "dark") view.mode = ThemeMode::Dark;
    if (theme->second == "light") view.mode = ThemeMode::Light;
  }
  if (const auto language = saved.find("language"); language != saved.end()) {
    const auto i = position_of(enum_names<Language>(), language->second);
    if (i < enum_names<Language>().size()) view.language = static_cast<Language>(i);
  }
  if (const auto folder = saved.find("save.folder"); folder != saved.end()) {
    view.save_folder = folder->second;
  }
  if (const auto scale = saved.find("scale"); scale != saved.end()) {
    const char* end = scale->second.data() + scale->second.size();
    float read = 0;
    const auto parsed = std::from_chars(scale->second.data(), end, read);
    const bool fits = parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(read) &&
                      read >= kScaleMin && read <= kScaleMax;
    if (fits) view.scale = read;
  }
  load_forms(view.forms, saved);
}

}  // namespace lab::ui
