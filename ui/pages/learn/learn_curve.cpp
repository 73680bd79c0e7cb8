// A guess as a curve, drawn with the mouse or set with the arrow keys.
#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr double kKeySteps = 40;  // from the axis's low end to its high end

// Positions of a curve's columns and values, on a logarithmic axis.
struct CurveArea {
  // `left` and `below`: pixels of the labels beside it.
  CurveArea(const Item& item, float left, float below, const LessonQuestion& question)
      : min(item.min.x + left, item.min.y),
        max(item.max.x, item.max.y - below),
        columns(question.at.size()),
        low(std::log(question.low)),
        high(std::log(question.high)) {}

  float x(std::size_t i) const {
    return min.x + (max.x - min.x) * (static_cast<float>(i) + 0.5F) / static_cast<float>(columns);
  }
  float y(double value) const {
    const double share = (std::log(value) - low) / (high - low);
    return max.y - (max.y - min.y) * static_cast<float>(std::clamp(share, 0.0, 1.0));
  }
  std::size_t column_at(float px) const {
    const float at = (px - min.x) / (max.x - min.x) * static_cast<float>(columns);
    return static_cast<std::size_t>(std::clamp(at, 0.0F, static_cast<float>(columns - 1)));
  }
  double value_at(float py) const {
    const double share = std::clamp((max.y - py) / (max.y - min.y), 0.0F, 1.0F);
    return std::exp(low + share * (high - low));
  }
  // The value one key step above or below; from the middle if none is drawn yet.
  double stepped(double value, int by) const {
    const double from = value > 0 ? std::log(value) : (low + high) / 2;
    return std::exp(std::clamp(from + by * (high - low) / kKeySteps, low, high));
  }

  ImVec2 min, max;
  std::size_t columns;
  double low, high;
};

// Left and right choose a column and leave the curve at its ends; up and down change the value.
bool take_keys(const CurveArea& area, int& column, std::vector<double>& values) {
  const int last = static_cast<int>(values.size()) - 1;
  const int across =
      (key_pressed(GLFW_KEY_RIGHT, true) ? 1 : 0) - (key_pressed(GLFW_KEY_LEFT, true) ? 1 : 0);
  if (across != 0 && column + across >= 0 && column + across <= last) {
    column += across;
    claim_arrows();
  }
  const int up =
      (key_pressed(GLFW_KEY_UP, true) ? 1 : 0) - (key_pressed(GLFW_KEY_DOWN, true) ? 1 : 0);
  if (up == 0) return false;
  claim_arrows();
  double& value = values[static_cast<std::size_t>(column)];
  value = area.stepped(value, up);
  return true;
}

// The width of draw_ends() and its distance from the area, pixels.
float ends_width(const Ui& ui, const LessonQuestion& question) {
  const auto width = [&](double end) {
    return text_size(ui.fonts.caption, quantity_text(end, question.unit)).x;
  };
  return std::max(width(question.low), width(question.high)) + ui.px(8);
}

// The values at both ends of the axis, left of the area, and a line for each decade between them.
void draw_ends(const Ui& ui, const CurveArea& area, const LessonQuestion& question) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* const font = ui.fonts.caption;
  const auto label = [&](double end, float y) {
    const std::string text = quantity_text(end, question.unit);
    draw_text(list, font, {area.min.x - ui.px(8) - text_size(font, text).x, y}, ui.theme->muted,
              text);
  };
  label(question.high, area.min.y);
  label(question.low, area.max.y - font->FontSize);
  const int decades = static_cast<int>(std::ceil(std::log10(question.high / question.low) - 0.005));
  for (int i = 1; i < decades; ++i) {
    const float y = area.y(question.low * std::pow(10.0, i));
    list->AddLine({area.min.x, y}, {area.max.x, y}, styled(ui.theme->plot_grid));
  }
}

void draw_curve(const Panel& p, const CurveArea& area, const LessonQuestion& question,
                const std::vector<double>& values) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string text = position_text(question, i);
    const float width = text_size(ui.fonts.caption, text).x;
    draw_text(list, ui.fonts.caption, {area.x(i) - width / 2, area.max.y + ui.px(3)},
              ui.theme->muted, text);
    list->AddLine({area.x(i), area.min.y}, {area.x(i), area.max.y}, styled(ui.theme->plot_grid));
    if (values[i] <= 0) continue;
    const ImVec2 point(area.x(i), area.y(values[i]));
    if (i > 0 && values[i - 1] > 0) {
      list->AddLine({area.x(i - 1), area.y(values[i - 1])}, point, styled(ui.theme->accent),
                    ui.px(2));
    }
    list->AddCircleFilled(point, ui.px(4), styled(ui.theme->accent));
  }
  if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; })) {
    draw_text_centred(list, ui.fonts.caption,
                      {(area.min.x + area.max.x) / 2, (area.min.y + area.max.y) / 2 - ui.px(8)},
                      area.max.x - area.min.x - ui.px(16), ui.theme->muted,
                      tr("Draw your guess here, or press the arrow keys"));
  }
  draw_ends(ui, area, question);
}

// "64.0 MiB: 3.00 ms" above the column that the mouse or the keys are at.
void draw_reading(const Panel& p, const CurveArea& area, const LessonQuestion& question,
                  double value, std::size_t column) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float half = (area.max.x - area.min.x) / static_cast<float>(2 * area.columns);
  list->AddRectFilled({area.x(column) - half, area.min.y}, {area.x(column) + half, area.max.y},
                      styled(with_alpha(ui.theme->accent, 0.10F)));
  const std::string at = position_text(question, column);
  const std::string text =
      at + ": " + (value > 0 ? quantity_text(value, question.unit) : tr("no guess yet"));
  const float width = text_size(ui.fonts.caption, text).x;
  const ImVec2 pos(area.max.x - width - ui.px(8), area.min.y + ui.px(2));
  list->AddRectFilled({pos.x - ui.px(4), pos.y}, {pos.x + width + ui.px(4), pos.y + ui.px(18)},
                      styled(ui.theme->raised), ui.px(3));
  draw_text(list, ui.fonts.caption, pos, ui.theme->text, text);
  record_rect(ui, "learn/curve_value", "text", text, {}, true, pos,
              {pos.x + width, pos.y + ui.px(16)});
}

}  // namespace

bool guess_curve(const Panel& p, std::string_view path, const LessonQuestion& question,
                 std::vector<double>& values, float height) {
  Ui& ui = p.ui;
  int& column = p.view.forms.learn.curve_column;
  column = std::clamp(column, 0, static_cast<int>(values.size()) - 1);
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(height)});
  const CurveArea area(item, ends_width(ui, question), ui.px(18), question);
  bool changed = false;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (item.held && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    column = static_cast<int>(area.column_at(mouse.x));
    double& value = values[static_cast<std::size_t>(column)];
    changed = value != area.value_at(mouse.y);
    value = area.value_at(mouse.y);
  } else if (has_keys(item)) {
    changed = take_keys(area, column, values);
  }
  if (item.visible) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.min, area.max, styled(ui.theme->raised),
                                              ui.px(6));
    draw_curve(p, area, question, values);
    if (item.hovered || has_keys(item)) {
      const std::size_t at =
          item.hovered ? area.column_at(mouse.x) : static_cast<std::size_t>(column);
      draw_reading(p, area, question, values[at], at);
    }
    focus_ring(ui, item, ui.px(6));
  }
  record(ui, item, path, "curve", {}, answer_text(question, {values}));
  return changed;
}

}  // namespace lab::ui
