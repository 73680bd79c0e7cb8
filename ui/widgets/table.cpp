#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

constexpr float kRowHeight = 28;  // units

// Draws one line of text in the current column, right-aligned for numbers; returns true if it was
// cut. `mark`: side of a warning before the text, in pixels; 0: none.
bool column_text(WidgetMemory::Table& table, ImFont* font, ImU32 color, std::string_view text,
                 float row_height, float mark = 0, ImU32 warning = 0) {
  const auto column = static_cast<std::size_t>(ImGui::TableGetColumnIndex());
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float room = std::max(1.0F, ImGui::GetContentRegionAvail().x);
  const float before = mark > 0 ? mark * 1.3F : 0;  // and the space after it
  const float wanted = text_size(font, text).x + before, shown = std::min(room, wanted);
  table.wanted[column] = std::max(table.wanted[column], std::ceil(wanted));
  const float x = table.number[column] ? pos.x + room - shown : pos.x;
  const float height = row_height - 2 * ImGui::GetStyle().CellPadding.y;
  const ImRect box(pos, {pos.x + room, pos.y + height});
  ImGui::ItemSize(box.GetSize());
  if (!ImGui::ItemAdd(box, 0)) return false;
  if (mark > 0) {
    draw_icon(ImGui::GetWindowDrawList(), kIconWarning, {x, pos.y + (height - mark) / 2}, mark,
              warning);
  }
  return draw_text_fitted(ImGui::GetWindowDrawList(), font,
                          {x + before, pos.y + (height - font->FontSize) / 2}, room - before, color,
                          text);
}

// Columns share the width by weight, but number columns are widened at the expense of text columns
// so that numbers are not cut.
std::vector<float> column_widths(std::span<const Column> columns, const std::vector<float>& wanted,
                                 float width) {
  float weights = 0, texts = 0;
  for (const Column& c : columns) weights += c.weight;
  std::vector<float> out;
  float left = width;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const float share = width * columns[i].weight / weights;
    out.push_back(columns[i].number && i < wanted.size() ? std::max(share, wanted[i]) : share);
    if (columns[i].number) left -= out.back();
    if (!columns[i].number) texts += columns[i].weight;
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].number) out[i] = std::max(24.0F, left * columns[i].weight / texts);
    out[i] = std::max(1.0F, std::floor(out[i]));
  }
  return out;
}

// Returns the width that ImGui leaves for the columns themselves.
float inner_width(std::size_t columns) {
  const ImGuiTable* t = ImGui::GetCurrentTable();
  const auto n = static_cast<float>(columns);
  return t->WorkRect.GetWidth() - 2 * t->OuterPaddingX -
         (t->CellSpacingX1 + t->CellSpacingX2) * (n - 1) - 2 * t->CellPaddingX * n;
}

// Points down when the values are sorted in descending order.
void sort_arrow(const Ui& ui, ImVec2 middle, bool descending) {
  const float w = ui.px(3.5F), h = ui.px(descending ? 2.5F : -2.5F);
  ImGui::GetWindowDrawList()->AddTriangleFilled({middle.x - w, middle.y - h},
                                                {middle.x + w, middle.y - h},
                                                {middle.x, middle.y + h}, styled(ui.theme->text));
}

// A header label that sorts the rows when pressed.
void sort_label(Ui& ui, WidgetMemory::Table& table, const Column& column, int index,
                TableSort& sort) {
  ImFont* font = ui.fonts.caption;
  const float arrow = ui.px(12), room = std::max(1.0F, ImGui::GetContentRegionAvail().x);
  const std::string label = tr(std::string(column.label));
  const float wanted = text_size(font, label).x;
  float& widest = table.wanted[static_cast<std::size_t>(index)];
  widest = std::max(widest, std::ceil(wanted + arrow));
  const std::string path = fmt::format("{}/sort/{}", table.path, column.label);
  const float height = ui.px(kRowHeight) - 2 * ImGui::GetStyle().CellPadding.y;
  const Item item = control(path, {room, height});
  const bool sorted = sort.column == index;
  if (item.pressed) sort = {index, sorted ? !sort.descending : column.number};
  if (!item.visible) return;
  const float shown = std::min(room - arrow, wanted), middle = (item.min.y + item.max.y) / 2;
  const float x = column.number ? item.max.x - shown : item.min.x;
  draw_control_text(ImGui::GetWindowDrawList(), font, {x, middle - font->FontSize / 2}, shown,
                    sorted || item.hovered ? ui.theme->text : ui.theme->muted, label);
  if (sorted) {
    const float at = column.number ? x - arrow / 2 - ui.px(1) : x + shown + arrow / 2 + ui.px(1);
    sort_arrow(ui, {at, middle}, sort.descending);
  }
  focus_ring(ui, item, ui.px(4));
  hint(ui, tr(std::string(column.hint)));
  record(ui, item, path, "header", label,
         !sorted           ? ""
         : sort.descending ? "descending"
                           : "ascending");
}

void header(Ui& ui, WidgetMemory::Table& table, std::span<const Column> columns, TableSort* sort) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, ui.px(kRowHeight));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!ImGui::TableNextColumn()) continue;
    if (sort != nullptr) {
      sort_label(ui, table, columns[i], static_cast<int>(i), *sort);
      continue;
    }
    column_text(table, ui.fonts.caption, ui.theme->muted, tr(std::string(columns[i].label)),
                ui.px(kRowHeight));
    hint(ui, tr(std::string(columns[i].hint)));
  }
}

// Records a row when the next one starts, because it is complete only then.
void finish_row(Ui& ui, WidgetMemory::Table& table) {
  if (table.row >= 0 && table.row_max.x > table.row_min.x) {
    record_rect(ui, fmt::format("{}/{}", table.path, table.row), "row", {}, table.row_text, true,
                table.row_min, table.row_max);
  }
  table.row_text.clear();
  table.row_min = table.row_max = {0, 0};
  table.column = -1;
}

}  // namespace

bool begin_table(Ui& ui, std::string_view path, std::span<const Column> columns, float height,
                 TableSort* sort) {
  ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit |
                          ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_PadOuterX;
  if (height != 0) flags |= ImGuiTableFlags_ScrollY;
  float outer = ui.px(height);
  if (height < 0) outer = std::min(0.0F, ui.px(height + 1));
  const std::string name(path);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ui.px(8), ui.px(4)});
  const ImVec2 size(0, height < 0 ? (outer == 0 ? -FLT_MIN : outer) : outer);
  if (!ImGui::BeginTable(name.c_str(), static_cast<int>(columns.size()), flags, size)) {
    ImGui::PopStyleVar();
    return false;
  }
  WidgetMemory::Table table{
      .path = name, .number = {}, .wanted = std::vector<float>(columns.size()), .row_text = {}};
  const std::vector<float> widths =
      column_widths(columns, ui.memory.column_widths[name], inner_width(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ImGui::TableSetupColumn(fmt::format("{}##{}", columns[i].label, i).c_str(),
                            ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_NoResize,
                            widths[i]);
    table.number.push_back(columns[i].number);
  }
  if (height != 0) ImGui::TableSetupScrollFreeze(0, 1);
  header(ui, table, columns, sort);
  ui.memory.tables.push_back(std::move(table));
  return true;
}

void table_row(Ui& ui, float height) {
  WidgetMemory::Table& table = ui.memory.tables.back();
  finish_row(ui, table);
  ++table.row;
  table.row_height = ui.px(height);
  ImGui::TableNextRow(ImGuiTableRowFlags_None, table.row_height);
}

void cell(Ui& ui, std::string_view text, std::string_view explanation, bool warns) {
  WidgetMemory::Table& table = ui.memory.tables.back();
  ++table.column;
  if (table.column > 0) table.row_text.push_back('\t');
  table.row_text.append(text);
  const bool visible = ImGui::TableNextColumn();
  const auto column = static_cast<std::size_t>(ImGui::TableGetColumnIndex());
  const bool number = column < table.number.size() && table.number[column];
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  if (table.column == 0) table.row_min = pos;
  table.row_max = {pos.x + ImGui::GetContentRegionAvail().x, pos.y + table.row_height - ui.px(8)};
  if (!visible) return;
  const bool missing = text == "N/A";
  const bool cut = column_text(table, number ? ui.fonts.mono : ui.fonts.body,
                               missing ? ui.theme->muted : ui.theme->text, text, table.row_height,
                               warns ? ui.px(14) : 0, styled(ui.theme->warning));
  std::string all;
  if (cut) all = text;
  if (!explanation.empty()) all.append(all.empty() ? "" : "\n").append(explanation);
  hint(ui, all);
}

void end_table(Ui& ui) {
  WidgetMemory::Table table = std::move(ui.memory.tables.back());
  ui.memory.tables.pop_back();
  finish_row(ui, table);
  std::vector<float>& wanted = ui.memory.column_widths[table.path];
  if (wanted != table.wanted) ui.wants_layout = true;
  wanted = std::move(table.wanted);
  ImGui::EndTable();
  ImGui::PopStyleVar();
  record_item(ui, table.path, "table", {}, fmt::format("{} rows", table.row + 1));
}

}  // namespace lab::ui
