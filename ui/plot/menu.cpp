// The context menu, the data table that it opens, and the CSV text that it copies and saves.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "compute/core/language.h"
#include "ui/plot/frame.h"
#include "ui/plot/plot.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui::plot {
// --- CSV ------------------------------------------------------------------------------------

namespace {

// RFC 4180: a field is quoted if it contains a comma, a quote or a line break.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out.append("\"");
}

std::string named(const Axis& axis, std::string_view fallback) {
  std::string name(axis.label.empty() ? fallback : axis.label);
  const std::string_view unit = axis.unit.empty() && axis.binary ? "B" : axis.unit;
  if (!unit.empty()) name.append(" (").append(unit).append(")");
  return field(name);
}

}  // namespace

// Shortest digits that parse to the same double; NaN becomes an empty field, as in spreadsheets.
std::string to_csv(const Axes& axes, std::span<const Series> series) {
  std::string out = fmt::format("{},series,{},low,high\n", named(axes.x, "x"), named(axes.y, "y"));
  const auto number = [](double v) { return v == v ? fmt::format("{}", v) : std::string(); };
  for (const Series& s : series) {
    const std::string label = field(s.label);
    const std::size_t n = std::min(s.x.size(), s.y.size());
    for (std::size_t i = 0; i < n; ++i) {
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{}\n", number(s.x[i]), label,
                     number(s.y[i]), i < s.low.size() ? number(s.low[i]) : "",
                     i < s.high.size() ? number(s.high[i]) : "");
    }
  }
  return out;
}

// --- menu and table -------------------------------------------------------------------------

namespace {

bool entry(Frame& f, std::string_view name, std::string_view text, bool ticked = false) {
  Ui& ui = f.ui;
  const std::string path = fmt::format("{}/menu/{}", f.path, name);
  const Item item = control(path, {ui.px(188), ui.px(28)});
  if (!item.visible) return false;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool focused = GImGui->NavId == item.id && !GImGui->NavDisableHighlight;
  if (item.hovered || focused) {
    list->AddRectFilled(item.min, item.max, ui.theme->active, ui.px(4));
  }
  if (ticked) {
    draw_icon(list, kIconCheck, {item.min.x + ui.px(6), item.min.y + ui.px(6)}, ui.px(16),
              ui.theme->accent);
  }
  ImFont* font = ui.fonts.body;
  draw_text(list, font, {item.min.x + ui.px(28), (item.min.y + item.max.y - font->FontSize) / 2},
            ui.theme->text, text);
  record(ui, item, path, "option", text, ticked ? "on" : "");
  if (item.pressed) {
    ImGui::CloseCurrentPopup();
    ui.wants_animation = true;
  }
  return item.pressed;
}

void separator(const Ui& ui) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ui.px(188), y = std::floor(pos.y + ui.px(4)) + 0.5F;
  ImGui::GetWindowDrawList()->AddLine({pos.x, y}, {pos.x + width, y}, ui.theme->border);
  ImGui::Dummy({width, ui.px(9)});
}

// Hint on the mouse controls for new users.
void draw_usage_hint(const Ui& ui) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float line = std::ceil(ui.fonts.caption->FontSize) + ui.px(2);
  const std::array<const char*, 4> lines = {tr("Ctrl+wheel zooms"), tr("Drag pans"),
                                            tr("Right drag zooms to a box"),
                                            tr("Double click resets the view")};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    draw_text_fitted(ImGui::GetWindowDrawList(), ui.fonts.caption,
                     {pos.x + ui.px(6), pos.y + line * static_cast<float>(i)}, ui.px(180),
                     ui.theme->muted, lines.at(i));
  }
  ImGui::Dummy({ui.px(188), line * static_cast<float>(lines.size()) + ui.px(4)});
}

// Switches to linear, or back to the page's log scale; a linear page gets base 2 for binary sizes,
// otherwise base 10.
void toggle_log(std::optional<Scale>& chosen, std::optional<Range>& view, const Axis& axis) {
  const Scale now = chosen.value_or(axis.scale);
  if (now != Scale::Linear) {
    chosen = Scale::Linear;
  } else {
    chosen = axis.scale != Scale::Linear ? axis.scale : axis.binary ? Scale::Log2 : Scale::Log10;
  }
  view.reset();
}

void entries(Frame& f, Commands& out) {
  PlotState& s = f.state;
  if (entry(f, "reset", tr("Reset view"))) {
    s.x.reset();
    s.y.reset();
    s.x_scale.reset();
    s.y_scale.reset();
  }
  const bool negative = std::ranges::any_of(
      f.series, [](const Series& one) { return !one.x.empty() && one.x.front() < 0; });
  if (!negative && entry(f, "log-x", tr("Logarithmic x"), f.x.scale != Scale::Linear)) {
    toggle_log(s.x_scale, s.x, f.axes.x);
  }
  if (entry(f, "log-y", tr("Logarithmic y"), f.y.scale != Scale::Linear)) {
    toggle_log(s.y_scale, s.y, f.axes.y);
  }
  separator(f.ui);
  if (entry(f, "show-data", tr("Show data"))) s.show_data = true;
  if (entry(f, "copy-csv", tr("Copy as CSV"))) {
    ImGui::SetClipboardText(to_csv(f.axes, f.series).c_str());
  }
  if (entry(f, "save-csv", tr("Save as CSV"))) {
    out.emplace_back(SaveText{save_file(f.path, "csv"), to_csv(f.axes, f.series)});
  }
  if (entry(f, "save-png", tr("Save as PNG"))) {
    out.emplace_back(SavePlotPng{f.path, save_file(f.path, "png")});
  }
}

struct Row {
  const Series* series;
  std::size_t point;
};

// Row `index` of all series concatenated.
Row row_at(std::span<const Series> series, std::size_t index) {
  for (const Series& s : series) {
    const std::size_t n = std::min(s.x.size(), s.y.size());
    if (index < n) return {&s, index};
    index -= n;
  }
  return {nullptr, 0};
}

void rows(Frame& f) {
  std::size_t count = 0;
  for (const Series& s : f.series) count += std::min(s.x.size(), s.y.size());
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(count), f.ui.px(28));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const Row row = row_at(f.series, static_cast<std::size_t>(i));
      table_row(f.ui);
      cell(f.ui, row.series->label);
      cell(f.ui, fmt::format("{:.7g}", row.series->x[row.point]));
      const double y = row.series->y[row.point];
      cell(f.ui, f.axes.y.percent ? fmt::format("{:.7g} %", 100 * y) : fmt::format("{:.7g}", y));
    }
  }
}

}  // namespace

std::string save_file(std::string_view path, std::string_view extension) {
  std::string name(path);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '_' && c != '.') c = '-';
  }
  name.append(".").append(extension);
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): never modified
  std::error_code none;
  const std::filesystem::path folder = home != nullptr && *home != '\0'
                                           ? std::filesystem::path(home)
                                           : std::filesystem::current_path(none);
  return (folder / name).string();
}

void menu(Frame& f, Commands& out) {
  const std::string name = f.path + "/menu";
  if (!ImGui::IsPopupOpen(name.c_str())) return;
  const Ui& ui = f.ui;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(4), ui.px(4)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, 0.0F});
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1.0F);
  if (ImGui::BeginPopup(name.c_str(), ImGuiWindowFlags_NoMove)) {
    entries(f, out);
    separator(f.ui);
    draw_usage_hint(f.ui);
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(3);
}

void data_table(Frame& f) {
  const std::string name = f.path + "/data";
  if (f.state.show_data && !ImGui::IsPopupOpen(name.c_str())) ImGui::OpenPopup(name.c_str());
  if (!f.state.show_data) return;
  Ui& ui = f.ui;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Appearing, {0.5F, 0.5F});
  ImGui::SetNextWindowSize(
      {std::min(ui.px(520), screen.x * 0.9F), std::min(ui.px(420), screen.y * 0.9F)});
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1.0F);
  bool open = false;
  if (ImGui::BeginPopup(name.c_str(), ImGuiWindowFlags_NoResize)) {
    open = true;
    title(ui, tr("Data"));
    const std::string x(f.axes.x.label.empty() ? "x" : f.axes.x.label);
    const std::string y(f.axes.y.label.empty() ? "y" : f.axes.y.label);
    const std::array<Column, 3> columns{Column{.label = LAB_TEXT("series"), .weight = 1.4F},
                                        Column{.label = x, .number = true},
                                        Column{.label = y, .number = true}};
    if (begin_table(ui, name + "/rows", columns, -41)) {
      rows(f);
      end_table(ui);
    }
    if (button(ui, name + "/close", tr("Close"))) {
      ImGui::CloseCurrentPopup();
      open = false;
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
  f.state.show_data = open;
}

}  // namespace lab::ui::plot
