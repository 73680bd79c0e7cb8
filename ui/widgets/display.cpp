// Text, boxes, badges, meters, and the empty state of a page.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/core/language.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
// --- text -----------------------------------------------------------------------------------

namespace {

void wrapped(ImFont* font, ImU32 color, std::string_view text) {
  if (text.empty()) return;
  note_text(font, text);
  ImGui::PushFont(font);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::PushTextWrapPos(0);
  const std::string lines = break_lines(font, text, ImGui::GetContentRegionAvail().x);
  ImGui::TextUnformatted(lines.data(), lines.data() + lines.size());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

// A non-interactive item that hint() can attach to.
bool text_item(ImVec2 size) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  ImGui::ItemSize(size);
  return ImGui::ItemAdd(ImRect(pos, {pos.x + size.x, pos.y + size.y}), 0);
}

// The value starts `value_at` pixels right of the label; both are wrapped.
void aligned_fact(Ui& ui, std::string_view label, std::string_view value, ImU32 color,
                  std::string_view text, float value_at) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  ImFont* font = ui.fonts.body;
  const float line = ui.px(18), width = ImGui::GetContentRegionAvail().x;
  const float name_room = std::max(1.0F, value_at - ui.px(8));
  const float room = std::max(1.0F, width - value_at);
  note_text(font, label);
  const std::string name = break_lines(font, label, name_room);
  const std::string lines = break_lines(font, value, room);
  const auto height = [&](const std::string& words, float wrap) {
    return font
        ->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, words.data(), words.data() + words.size())
        .y;
  };
  if (!text_item({width, std::max({line, height(name, name_room), height(lines, room)})})) return;
  const float y = std::round(pos.y + (line - font->FontSize) / 2);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddText(font, font->FontSize, {std::round(pos.x), y}, styled(ui.theme->muted), name.data(),
                name.data() + name.size(), name_room);
  list->AddText(font, font->FontSize, {std::round(pos.x + value_at), y}, styled(color),
                lines.data(), lines.data() + lines.size(), room);
  hint(ui, text);
}

// A value that does not fit beside its label is placed below it, wrapped.
void fact_line(Ui& ui, std::string_view label, std::string_view value, ImU32 color,
               std::string_view text) {
  constexpr float kWidest = 600;  // units between which the eye still connects label and value
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  ImFont* font = ui.fonts.body;
  const float line = ui.px(18), room = ImGui::GetContentRegionAvail().x;
  const float label_width = std::min(text_size(font, label).x, room);
  const float wanted = text_size(font, value).x;
  const float needed = label_width + ui.px(12) + wanted;
  const bool beside = needed <= room;
  const float width = beside ? std::min(room, std::max(needed, ui.px(kWidest))) : room;
  const std::string lines = break_lines(font, value, width);
  const ImVec2 below = font->CalcTextSizeA(font->FontSize, FLT_MAX, width, lines.data(),
                                           lines.data() + lines.size());
  if (!text_item({width, beside ? line : line + below.y})) return;
  const float y = pos.y + (line - font->FontSize) / 2;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text_fitted(list, font, {pos.x, y}, width, ui.theme->muted, label);
  if (beside) {
    draw_text(list, font, {pos.x + width - wanted, y}, color, value);
  } else {
    list->AddText(font, font->FontSize, {std::round(pos.x), std::round(pos.y + line)},
                  styled(color), lines.data(), lines.data() + lines.size(), width);
  }
  hint(ui, text);
}

}  // namespace

void title(Ui& ui, std::string_view text) {
  wrapped(ui.fonts.title, ui.theme->text, text);
}

void heading(Ui& ui, std::string_view text) {
  wrapped(ui.fonts.strong, ui.theme->text, text);
}

void body(Ui& ui, std::string_view text) {
  wrapped(ui.fonts.body, ui.theme->text, text);
}

void muted(Ui& ui, std::string_view text) {
  wrapped(ui.fonts.body, ui.theme->muted, text);
}

void footnote(Ui& ui, std::string_view text) {
  wrapped(ui.fonts.caption, ui.theme->muted, text);
}

void caption(Ui& ui, std::string_view text) {
  ImFont* font = ui.fonts.caption;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float wide = std::min(width, text_size(font, text).x);
  if (!text_item({wide, font->FontSize})) return;
  if (draw_text_fitted(ImGui::GetWindowDrawList(), font, pos, width, ui.theme->muted, text)) {
    hint(ui, text);
  }
}

void number(Ui& ui, std::string_view text, ImFont* font) {
  if (font == nullptr) font = ui.fonts.body;
  const std::size_t space = text.rfind(' ');
  const std::string_view digits = text.substr(0, space);
  const std::string_view unit =
      space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
  ImFont* unit_font = font == ui.fonts.figure ? ui.fonts.body : font;
  const float gap = unit.empty() ? 0 : ui.px(font == ui.fonts.figure ? 6 : 4);
  const float wide = text_size(font, digits).x;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  if (!text_item({wide + gap + text_size(unit_font, unit).x, font->FontSize})) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, font, pos, ui.theme->text, digits);
  // Aligns both on one baseline.
  const float rise = font->Ascent - unit_font->Ascent;
  draw_text(list, unit_font, {pos.x + wide + gap, pos.y + rise}, ui.theme->muted, unit);
}

void fact(Ui& ui, std::string_view label, std::string_view value, std::string_view text) {
  fact_line(ui, label, value, ui.theme->text, text);
}

void fact(Ui& ui, std::string_view label, const std::string& value, std::string_view text) {
  fact_line(ui, label, value, ui.theme->text, text);
}

void fact(Ui& ui, std::string_view label, const Maybe<std::string>& value, std::string_view text,
          float value_at) {
  const auto line = [&](std::string_view words, ImU32 color, std::string_view why) {
    if (value_at > 0) {
      aligned_fact(ui, label, words, color, why, value_at);
    } else {
      fact_line(ui, label, words, color, why);
    }
  };
  if (value) {
    line(*value, ui.theme->text, text);
    return;
  }
  std::string why = trf("Not available: {}", tr(value.reason()));
  if (!text.empty()) why.append("\n").append(text);
  line("N/A", ui.theme->muted, why);
}

// --- boxes and badges -----------------------------------------------------------------------

namespace {

void box(Ui& ui, std::string_view path, std::string_view kind, std::string_view sentence, Icon icon,
         ImU32 color) {
  if (sentence.empty()) return;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float pad = ui.px(12), icon_side = ui.px(20), gap = ui.px(10);
  ImFont* font = ui.fonts.body;
  const float wrap = std::max(ui.px(40), width - 2 * pad - icon_side - gap);
  note_text(font, sentence);
  const std::string lines = break_lines(font, sentence, wrap);
  const ImVec2 text =
      font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, lines.data(), lines.data() + lines.size());
  const float height = std::ceil(std::max(text.y, icon_side) + 2 * ui.px(10));
  const ImVec2 end(pos.x + width, pos.y + height);
  ImGui::ItemSize(ImVec2(width, height));
  if (!ImGui::ItemAdd(ImRect(pos, end), 0)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(pos, end, styled(with_alpha(color, 0.08F)), ui.px(kControlRadius));
  list->AddRect(pos, end, styled(with_alpha(color, 0.30F)), ui.px(kControlRadius), 0,
                std::max(1.0F, std::floor(ui.scale)));
  draw_icon(list, icon, {pos.x + pad, pos.y + ui.px(10)}, icon_side, styled(color));
  list->AddText(font, font->FontSize,
                {std::round(pos.x + pad + icon_side + gap), std::round(pos.y + ui.px(10))},
                styled(ui.theme->text), lines.data(), lines.data() + lines.size(), wrap);
  record_rect(ui, path, kind, sentence, {}, true, pos, end);
}

ImU32 tone_color(const Theme& t, Tone tone) {
  switch (tone) {
    case Tone::Accent: return t.accent;
    case Tone::Good: return t.good;
    case Tone::Warning: return t.warning;
    case Tone::Bad: return t.bad;
    case Tone::Neutral: break;
  }
  return t.muted;
}

}  // namespace

void error_box(Ui& ui, std::string_view path, std::string_view sentence) {
  box(ui, path, "error", sentence, kIconError, ui.theme->bad);
}

void note_box(Ui& ui, std::string_view path, std::string_view sentence) {
  box(ui, path, "note", sentence, kIconInfo, ui.theme->accent);
}

void warning_box(Ui& ui, std::string_view path, std::string_view sentence) {
  box(ui, path, "warning", sentence, kIconWarning, ui.theme->warning);
}

void badge(Ui& ui, std::string_view text, Tone tone) {
  const ImU32 color = tone_color(*ui.theme, tone);
  ImFont* font = ui.fonts.caption;
  const ImVec2 inner = text_size(font, text);
  const ImVec2 size(inner.x + ui.px(16), ui.px(20));
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const ImVec2 end(pos.x + size.x, pos.y + size.y);
  ImGui::ItemSize(size);
  if (!ImGui::ItemAdd(ImRect(pos, end), 0)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(pos, end, styled(with_alpha(color, 0.14F)), size.y / 2);
  draw_text(list, font, {pos.x + ui.px(8), pos.y + (size.y - font->FontSize) / 2}, color, text);
}

// --- meters ---------------------------------------------------------------------------------

namespace {

float unit_share(double share) {
  return std::isfinite(share) ? static_cast<float>(std::clamp(share, 0.0, 1.0)) : 0.0F;
}

// Lays out a non-interactive item; returns false if it is scrolled out of view.
bool place(ImVec2 size, ImVec2& min, ImVec2& max) {
  min = ImGui::GetCursorScreenPos();
  max = {min.x + size.x, min.y + size.y};
  ImGui::ItemSize(size);
  return ImGui::ItemAdd(ImRect(min, max), 0);
}

void draw_share(const Ui& ui, ImVec2 min, ImVec2 max, float share, ImU32 color) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float radius = (max.y - min.y) / 2;
  const Theme& t = *ui.theme;
  const ImU32 track = t.mode == ThemeMode::Dark ? t.hover : t.active;
  list->AddRectFilled(min, max, styled(track), radius);
  if (share <= 0) return;
  const float width = std::max(2 * radius, (max.x - min.x) * share);
  list->AddRectFilled(min, {min.x + width, max.y}, styled(color), radius);
}

}  // namespace

void bar(Ui& ui, std::string_view path, double share, ImU32 color, std::string_view text) {
  const float width = ImGui::GetContentRegionAvail().x;
  const float shown = ease(ui, path, unit_share(share));
  ImVec2 min, max;
  if (!place({width, ui.px(8)}, min, max)) return;
  draw_share(ui, {min.x, min.y + ui.px(1)}, {max.x, max.y - ui.px(1)}, shown, color);
  hint(ui, text);
  record_rect(ui, path, "bar", {}, fmt::format("{:.1f} %", 100 * unit_share(share)), true, min,
              max);
}

void stacked_bar(Ui& ui, std::string_view path, std::span<const BarPart> parts,
                 std::string_view text) {
  const float width = ImGui::GetContentRegionAvail().x;
  ImVec2 min, max;
  if (!place({width, ui.px(8)}, min, max)) return;
  min.y += ui.px(1);
  max.y -= ui.px(1);
  draw_share(ui, min, max, 0, 0);
  float left = min.x;
  std::string shares;
  for (const BarPart& part : parts) {
    const float right = std::min(max.x, left + width * unit_share(part.share));
    ImGui::GetWindowDrawList()->AddRectFilled({left, min.y}, {right, max.y}, styled(part.color));
    left = right;
    shares += fmt::format("{}{:.1f} %", shares.empty() ? "" : ", ", 100 * unit_share(part.share));
  }
  hint(ui, text);
  record_rect(ui, path, "bar", {}, shares, true, min, max);
}

void progress_bar(Ui& ui, std::string_view path, double share, float width, float height) {
  const float shown = ease(ui, path, unit_share(share));
  const float wide = width > 0 ? ui.px(width) : ImGui::GetContentRegionAvail().x;
  ImVec2 min, max;
  if (!place({wide, ui.px(height)}, min, max)) return;
  draw_share(ui, min, max, shown, ui.theme->accent);
  record_rect(ui, path, "progress", {}, fmt::format("{:.1f} %", 100 * unit_share(share)), true, min,
              max);
}

void sparkline(Ui& ui, std::string_view path, std::span<const float> values, float top, ImU32 color,
               float height, std::string_view text) {
  const float width = ImGui::GetContentRegionAvail().x;
  ImVec2 min, max;
  if (!place({width, ui.px(height)}, min, max)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float base = std::floor(max.y) - 0.5F;
  list->AddLine({min.x, base}, {max.x, base}, styled(ui.theme->plot_grid));
  std::vector<ImVec2> line;
  line.reserve(values.size());
  const float step = width / std::max(1.0F, static_cast<float>(values.size()) - 1);
  const float full = max.y - min.y - ui.px(2);
  const auto flush = [&] {
    for (std::size_t i = 1; i < line.size(); ++i) {
      const ImVec2 a = line[i - 1], b = line[i];
      list->AddQuadFilled(a, b, {b.x, max.y}, {a.x, max.y}, styled(with_alpha(color, 0.14F)));
    }
    list->AddPolyline(line.data(), static_cast<int>(line.size()), styled(color), 0,
                      std::max(1.0F, ui.px(1.5F)));
    line.clear();
  };
  // Adjacent fills join without seams only if their edges are not antialiased.
  const ImDrawListFlags flags = list->Flags;
  list->Flags &= ~ImDrawListFlags_AntiAliasedFill;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      flush();
      continue;
    }
    const float share = top > 0 ? std::clamp(values[i] / top, 0.0F, 1.0F) : 0.0F;
    line.push_back({min.x + step * static_cast<float>(i), max.y - ui.px(1) - full * share});
  }
  flush();
  list->Flags = flags;
  hint(ui, text);
  record_rect(ui, path, "sparkline", {}, fmt::format("{} values", values.size()), true, min, max);
}

// --- empty pages ----------------------------------------------------------------------------

bool empty_state(Ui& ui, std::string_view path, std::string_view sentence,
                 std::string_view button_label, std::string_view why, float beside) {
  if (sentence.empty()) sentence = tr("Nothing here yet.");
  ImFont* font = ui.fonts.body;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const ImVec2 avail = ImGui::GetContentRegionAvail();
  const float wrap = std::max(ui.px(120), std::min(avail.x - ui.px(32), ui.px(420)));
  note_text(font, sentence);
  const std::string lines = break_lines(font, sentence, wrap);
  const ImVec2 text =
      font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, lines.data(), lines.data() + lines.size());
  const bool with_button = !button_label.empty();
  const float content = text.y + (with_button ? ui.px(16 + kControlHeight) : 0);
  // Placed a little above the middle of the available height; only `min_top` is reserved.
  const float min_top = ui.px(24);
  const float top = std::max(min_top, std::round((avail.y - content) * 0.42F));
  grown_in_card(ui, top - min_top);
  const float x = pos.x + std::max(0.0F, (avail.x - text.x) / 2);
  ImGui::SetCursorScreenPos({x, pos.y + top});
  draw_text_centred(ImGui::GetWindowDrawList(), font, {pos.x + avail.x / 2, pos.y + top}, wrap,
                    ui.theme->muted, sentence);
  ImGui::Dummy(text);
  bool clicked = false;
  const std::string name(path);
  record_rect(ui, with_button ? name + "/sentence" : name, with_button ? "text" : "empty", sentence,
              {}, true, {x, pos.y + top}, {x + text.x, pos.y + top + text.y});
  if (with_button) {
    const float width = ui.px(button_width(ui, button_label) + beside);
    ImGui::SetCursorScreenPos(
        {pos.x + std::max(0.0F, (avail.x - width) / 2), pos.y + top + text.y + ui.px(16)});
    clicked = button(ui, path, button_label,
                     {.kind = ButtonKind::Primary, .enabled = why.empty(), .hint = why});
  }
  ImGui::Dummy({1, ui.px(16)});
  return clicked;
}

}  // namespace lab::ui
