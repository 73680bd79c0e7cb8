// Text and number fields.
#include <fmt/format.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

#include "compute/core/language.h"
#include "compute/core/printable.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
// --- the frame and text fields --------------------------------------------------------------

Field next_field(const Ui& ui) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = std::max(ui.px(40), ImGui::GetContentRegionAvail().x);
  return {pos, {pos.x + width, pos.y + ui.px(kControlHeight)}};
}

void draw_field(const Ui& ui, const Field& field, bool hovered, bool active, bool invalid) {
  const Theme& t = *ui.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 border = invalid ? t.bad : active ? t.accent : hovered ? t.plot_axis : t.border;
  const bool locked = !ui.memory.lock.empty();
  list->AddRectFilled(field.min, field.max, styled(locked ? t.card : t.raised),
                      ui.px(kControlRadius));
  list->AddRect(field.min, field.max, styled(border), ui.px(kControlRadius), 0,
                std::max(1.0F, std::floor(ui.scale)));
}

FieldText::FieldText(const Ui& ui, const Field& field, float right) : ui_(ui), field_(field) {
  const ImVec4 none(0, 0, 0, 0);
  const float pad = std::floor((field.max.y - field.min.y - ui.fonts.body->FontSize) / 2);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, none);
  ImGui::PushStyleColor(ImGuiCol_FrameBgHovered, none);
  ImGui::PushStyleColor(ImGuiCol_FrameBgActive, none);
  ImGui::PushStyleColor(ImGuiCol_NavHighlight, none);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.0F);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(10), pad});
  ImGui::PushFont(ui.fonts.body);
  ImGui::SetNextItemWidth(std::max(ui.px(24), field.width() - right));
}

FieldText::~FieldText() {
  ImGui::PopFont();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor(4);
}

namespace {

struct RecallFrom {
  std::span<const std::string> texts;
  WidgetMemory::Recall& state;
};

// With this callback ImGui keeps Up and Down in the field.
int recall(ImGuiInputTextCallbackData* data) {
  const auto& [texts, state] = *static_cast<const RecallFrom*>(data->UserData);
  if (state.entered != texts.size() || data->BufTextLen == 0) state = {.entered = texts.size()};
  if (state.back == 0) state.typed.assign(data->Buf, static_cast<std::size_t>(data->BufTextLen));
  const bool older = data->EventKey == ImGuiKey_UpArrow;
  if (state.back == (older ? texts.size() : 0)) return 0;
  state.back = older ? state.back + 1 : state.back - 1;
  const std::string& text = state.back == 0 ? state.typed : texts[texts.size() - state.back];
  data->DeleteChars(0, data->BufTextLen);
  data->InsertChars(0, text.c_str());
  return 0;
}

}  // namespace

bool input_text(Ui& ui, std::string_view path, std::string_view label, std::string& value,
                std::string_view text, std::string_view placeholder, const TextOptions& options) {
  if (ImGui::GetCurrentWindowRead()->SkipItems) return false;
  control_label(ui, label);
  const Field field = next_field(ui);
  const std::string name = "##" + std::string(path);
  const ImGuiID id = ImGui::GetID(name.c_str());
  const bool was_hovered =
      ui.memory.lock.empty() && ImGui::IsMouseHoveringRect(field.min, field.max);
  const bool wrong = options.invalid || !options.error.empty();
  draw_field(ui, field, was_hovered, GImGui->ActiveId == id, wrong);
  bool changed = false;
  {
    const FieldText inside(ui, field, 0);
    const std::string ghost(placeholder);
    note_text(ui.fonts.body, ghost);
    note_text(ui.fonts.body, value);
    RecallFrom from{options.history, ui.memory.recalls[std::string(path)]};
    changed = ImGui::InputTextWithHint(name.c_str(), ghost.c_str(), &value,
                                       ImGuiInputTextFlags_CallbackHistory, recall, &from);
  }
  focus_ring(ui, {.min = field.min, .max = field.max, .id = id, .visible = true},
             ui.px(kControlRadius));
  hint(ui, text);
  record_rect(ui, path, "input", label, value, true, field.min, field.max);
  field_error(ui, fmt::format("{}/error", path), options.error);
  return changed;
}

void put_cursor_at_end() {
  if (ImGuiInputTextState* state = ImGui::GetInputTextState(ImGui::GetItemID())) {
    state->ClearSelection();
  }
}

void field_error(Ui& ui, std::string_view path, std::string_view sentence) {
  if (sentence.empty()) return;
  const std::string text(sentence);
  note_text(ui.fonts.caption, text);
  const std::string lines = break_lines(ui.fonts.caption, text, ImGui::GetContentRegionAvail().x);
  ImGui::PushFont(ui.fonts.caption);
  ImGui::PushStyleColor(ImGuiCol_Text, ui.theme->bad);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(lines.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  ImGui::PopFont();
  record_item(ui, path, "error", text);
}

// --- number fields --------------------------------------------------------------------------

namespace {

constexpr float kStepWidth = 24;  // units, for each of "-" and "+"

template <typename T>
std::optional<T> parse(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

std::string show(std::int64_t value, int) {
  return fmt::format("{}", value);
}

std::string show(double value, int decimals) {
  if (value != 0 && std::abs(value) < std::pow(10.0, -decimals))
    return fmt::format("{:.3g}", value);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

double lowest(const NumberOptions& o, bool whole) {
  return whole ? std::max(o.min, -9.0e18) : o.min;
}
double highest(const NumberOptions& o, bool whole) {
  return whole ? std::min(o.max, 9.0e18) : o.max;
}

std::string range_text(const NumberOptions& o, bool whole) {
  const bool low = o.min > -1e299, high = o.max < 1e299;
  if (low && high) {
    return whole         ? trf("A whole number from {:.15g} to {:.15g}", o.min, o.max)
           : o.below_max ? trf("A number from {:.15g} to below {:.15g}", o.min, o.max)
                         : trf("A number from {:.15g} to {:.15g}", o.min, o.max);
  }
  if (low && o.above_min) {
    return o.unit.empty() ? trf("A number above {:.15g}", o.min)
                          : trf("A number above {:.15g} {}", o.min, o.unit);
  }
  if (low) {
    return whole ? trf("A whole number, at least {:.15g}", o.min)
                 : trf("A number, at least {:.15g}", o.min);
  }
  if (high) {
    return whole ? trf("A whole number, at most {:.15g}", o.max)
                 : trf("A number, at most {:.15g}", o.max);
  }
  return whole ? tr("A whole number") : tr("A number");
}

// Sets `*step` to -1 or +1 while an arrow key is pressed in the field being edited.
int arrow_key(ImGuiInputTextCallbackData* data) {
  int* step = static_cast<int*>(data->UserData);
  *step = data->EventKey == ImGuiKey_UpArrow ? 1 : -1;
  return 0;
}

// Draws "-" and "+" at the right end; returns -1, 0 or 1.
int step_buttons(Ui& ui, std::string_view path, const Field& field) {
  int step = 0;
  const float width = ui.px(kStepWidth);
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (int i = 0; i < 2; ++i) {
    const float left = field.max.x - width * static_cast<float>(2 - i) - ui.px(3);
    const std::string name = std::string(path) + (i == 0 ? "/less" : "/more");
    const ImVec2 min(left, field.min.y + ui.px(3)), max(left + width, field.max.y - ui.px(3));
    const Item item = control_at(name, min, max, true, false);
    if (!item.visible) continue;
    if (item.hovered) {
      list->AddRectFilled(min, max, styled(item.held ? ui.theme->active : ui.theme->hover),
                          ui.px(4));
    }
    if (!ui.memory.lock.empty()) {  // nothing that looks as if it could be pressed
      record(ui, item, name, "button", i == 0 ? "less" : "more");
      continue;
    }
    const ImU32 color = styled(item.hovered ? ui.theme->text : ui.theme->muted);
    const float x = std::floor((min.x + max.x) / 2), y = std::floor((min.y + max.y) / 2);
    const float arm = std::round(ui.px(4)), half = std::max(0.5F, ui.px(0.7F));
    list->AddRectFilled({x - arm, y - half}, {x + arm, y + half}, color);
    if (i == 1) list->AddRectFilled({x - half, y - arm}, {x + half, y + arm}, color);
    record(ui, item, name, "button", i == 0 ? "less" : "more");
    if (item.pressed) step = i == 0 ? -1 : 1;
  }
  return step;
}

template <typename T>
bool fits(T value, const NumberOptions& o) {
  const auto number = static_cast<double>(value);
  const bool low = o.above_min ? number > o.min : number >= o.min;
  return low && (o.below_max ? number < o.max : number <= o.max);
}

// Stays where the next step would end on an end that is not accepted.
template <typename T>
T stepped(T value, int step, const NumberOptions& o) {
  constexpr bool kWhole = std::is_integral_v<T>;
  const double next = static_cast<double>(value) + step * o.step;
  const auto held = static_cast<T>(std::clamp(next, lowest(o, kWhole), highest(o, kWhole)));
  return fits(held, o) ? held : value;
}

// Typed text takes effect as soon as it is a number in range. Until then the field keeps the text
// and shows a red border. Leaving the field clamps a number to the range if its end is in it, and
// otherwise keeps the former value.
template <typename T>
bool accept(Ui& ui, std::string_view path, const std::string& text, bool editing, T& value,
            const NumberOptions& o) {
  constexpr bool kWhole = std::is_integral_v<T>;
  const std::string key(path);
  const auto typed = parse<T>(text);
  const T before = value;
  if (typed && fits(*typed, o)) {
    value = *typed;
    ui.memory.edits.erase(key);
  } else if (editing) {
    ui.memory.edits[key] = text;
  } else {
    constexpr double kShown_s = 15;
    const std::string range = range_text(o, kWhole);
    std::string said;
    if (typed) {
      const auto nearest = static_cast<T>(
          std::clamp(static_cast<double>(*typed), lowest(o, kWhole), highest(o, kWhole)));
      if (fits(nearest, o)) value = nearest;
      const std::string now = show(value, o.decimals);
      said = fits(nearest, o)
                 ? trf("{} is out of range: set to {}. {}", trimmed(text), now, range)
                 : trf("{} is out of range: {} is kept. {}", trimmed(text), now, range);
    } else {
      said = trf("'{}' is not accepted: {} is kept. {}", trimmed(text), show(value, o.decimals),
                 range);
    }
    ui.memory.notices[key] = {said, show(value, o.decimals), ui.time_s + kShown_s};
    ui.memory.edits.erase(key);
  }
  return value != before;
}

// What the field has to say about the number typed last; empty after a while or a change.
std::string_view notice_of(Ui& ui, std::string_view path, bool editing, std::string_view value) {
  const auto notice = ui.memory.notices.find(std::string(path));
  if (notice == ui.memory.notices.end()) return {};
  if (editing || ui.time_s > notice->second.until_s || notice->second.value != value) {
    ui.memory.notices.erase(notice);
    return {};
  }
  // The next reading of the devices draws a frame soon enough after the end.
  return notice->second.text;
}

struct Edit {
  bool edited = false;
  int step = 0;  // from an arrow key or button
};

// The text itself with its unit and step buttons.
Edit edit_text(Ui& ui, std::string_view path, const Field& field, std::string_view unit,
               std::string& text) {
  Edit edit;
  const std::string name = "##" + std::string(path);
  const float unit_width = unit.empty() ? 0 : text_size(ui.fonts.caption, unit).x + ui.px(8);
  const float right = 2 * ui.px(kStepWidth) + unit_width;
  {
    const FieldText inside(ui, field, right);
    edit.edited =
        ImGui::InputText(name.c_str(), &text,
                         ImGuiInputTextFlags_AutoSelectAll | ImGuiInputTextFlags_CallbackHistory,
                         arrow_key, &edit.step);
  }
  const ImGuiLastItemData field_item = GImGui->LastItemData;
  const int pressed = step_buttons(ui, path, field);
  if (pressed != 0) edit.step = pressed;
  const float y = (field.min.y + field.max.y - ui.fonts.caption->FontSize) / 2;
  draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {field.max.x - right, y}, ui.theme->muted,
            unit);
  GImGui->LastItemData = field_item;  // the item that the caller's hint() refers to
  return edit;
}

template <typename T>
bool number_field(Ui& ui, std::string_view path, std::string_view label, T& value,
                  const NumberOptions& o) {
  if (ImGui::GetCurrentWindowRead()->SkipItems) return false;
  control_label(ui, label);
  const Field field = next_field(ui);
  const ImGuiID id = ImGui::GetID(("##" + std::string(path)).c_str());
  const bool editing = GImGui->ActiveId == id;
  const auto pending = ui.memory.edits.find(std::string(path));
  const bool invalid = pending != ui.memory.edits.end();
  const std::string current = show(value, o.decimals);
  const std::string said = invalid && editing ? range_text(o, std::is_integral_v<T>)
                                              : std::string(notice_of(ui, path, editing, current));
  const std::string shown = invalid ? pending->second : current;
  std::string text = shown;
  const bool hovered = ui.memory.lock.empty() && ImGui::IsMouseHoveringRect(field.min, field.max);
  draw_field(ui, field, hovered, editing, !said.empty());

  bool changed = invalid && !editing && accept(ui, path, text, false, value, o);
  const Edit edit = edit_text(ui, path, field, o.unit, text);
  if (edit.edited && text != shown) changed = accept(ui, path, text, true, value, o) || changed;
  if (edit.step != 0) {
    const T next = stepped(value, edit.step, o);
    changed = changed || next != value;
    value = next;
    ui.memory.edits.erase(std::string(path));
    ui.memory.notices.erase(std::string(path));
    if (GImGui->ActiveId == id) ImGui::ClearActiveID();
  }
  focus_ring(ui, {.min = field.min, .max = field.max, .id = id, .visible = true},
             ui.px(kControlRadius));
  hint(ui, o.hint);
  record_rect(ui, path, "input", label, text, true, field.min, field.max);
  field_error(ui, fmt::format("{}/error", path), said);
  return changed;
}

}  // namespace

bool input_number(Ui& ui, std::string_view path, std::string_view label, std::int64_t& value,
                  const NumberOptions& options) {
  return number_field(ui, path, label, value, options);
}

bool input_number(Ui& ui, std::string_view path, std::string_view label, double& value,
                  const NumberOptions& options) {
  return number_field(ui, path, label, value, options);
}

}  // namespace lab::ui
