// Figures of a lesson besides plots: lanes, heat maps, gaps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/pages/step_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {

void draw_lanes(const Panel& p, std::string_view path, const std::vector<LessonSpan>& spans) {
  Ui& ui = p.ui;
  std::vector<std::string> lanes, kinds;
  double end_s = 0;
  float label = 0;
  for (const LessonSpan& span : spans) {
    if (std::find(lanes.begin(), lanes.end(), span.lane) == lanes.end()) {
      lanes.push_back(span.lane);
      label = std::max(label, text_size(ui.fonts.caption, span.lane).x + ui.px(12));
    }
    if (std::find(kinds.begin(), kinds.end(), span.what) == kinds.end()) kinds.push_back(span.what);
    end_s = std::max(end_s, span.end_s);
  }
  // What a lane waits for is told apart by the shade of one colour.
  std::vector<std::string> stalls;
  for (const LessonSpan& span : spans) {
    const bool known = std::find(stalls.begin(), stalls.end(), span.what) != stalls.end();
    if (span.stall && !known) stalls.push_back(span.what);
  }
  const auto color_of = [&](const LessonSpan& span) {
    const std::vector<std::string>& among = span.stall ? stalls : kinds;
    const auto kind = std::find(among.begin(), among.end(), span.what) - among.begin();
    if (!span.stall) return series_color(*ui.theme, static_cast<int>(kind));
    return mix(ui.theme->bad, ui.theme->text, std::min(0.9F, 0.55F * static_cast<float>(kind)));
  };
  const float height = ui.px(26);
  const float width = std::max(ui.px(80), ImGui::GetContentRegionAvail().x - label);
  const Item item = control(path, {label + width, height * static_cast<float>(lanes.size())});
  record(ui, item, path, "lanes", fmt::format("{} spans", spans.size()));
  if (item.visible && end_s > 0) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    for (std::size_t row = 0; row < lanes.size(); ++row) {
      const float y = item.min.y + height * static_cast<float>(row);
      draw_text(list, ui.fonts.caption, {item.min.x, y + ui.px(6)}, ui.theme->muted, lanes[row]);
      for (const LessonSpan& span : spans) {
        if (span.lane != lanes[row]) continue;
        const auto at = [&](double t_s) {
          return item.min.x + label + width * static_cast<float>(t_s / end_s);
        };
        const ImVec2 min{at(span.begin_s), y + ui.px(3)};
        const ImVec2 max{std::max(at(span.end_s) - 1, min.x + 1), y + height - ui.px(3)};
        list->AddRectFilled(min, max, styled(color_of(span)), ui.px(2));
        hint_at(ui, min, max, span_text(span.what, span.begin_s, span.end_s));
      }
    }
  }
  std::vector<Swatch> swatches;
  for (const std::string& kind : kinds) {
    for (const LessonSpan& span : spans) {
      if (span.what != kind) continue;
      swatches.push_back({span.stall ? trf("{} (waiting)", kind) : kind, color_of(span)});
      break;
    }
  }
  swatch_legend(p, swatches);
  caption(ui, trf("Time from 0 to {}", quantity_text(end_s, "s")));
}

// Causes of a smaller share are not visible in the bar.
constexpr double kLeastShare = 5e-3;

// "copy, 12 % above the prediction; largest cause: waiting"; only its name if nothing was
// predicted, or for shares, whose difference is not a percentage of one.
static std::string gap_text(const LessonGap& gap) {
  const bool is_share = gap.unit.empty() || gap.unit == "%";
  if (!(gap.predicted > 0) || is_share) return gap.what;
  if (gap.as_predicted()) return trf("{}, as predicted within 1 %", gap.what);
  const double ratio = gap.measured / gap.predicted;
  std::string size = ratio >= 2  ? trf("{}, {:.3g} times the prediction", gap.what, ratio)
                     : ratio > 1 ? trf("{}, {} above the prediction", gap.what, percent(ratio - 1))
                                 : trf("{}, {} below the prediction", gap.what, percent(1 - ratio));
  if (gap.parts.size() < 2) return size;
  const auto largest = std::ranges::max_element(
      gap.parts, {}, [&](const GapPart& part) { return ratio > 1 ? part.value : -part.value; });
  if (largest == gap.parts.end() - 1) return size;  // the unexplained rest
  return trf("{}; largest cause: {}", size, largest->cause);
}

bool has_causes(const LessonGap& gap) {
  double full = gap.predicted;
  for (const GapPart& part : gap.parts) full += std::max(0.0, part.value);
  return std::ranges::any_of(gap.parts, [full](const GapPart& part) {
    return std::abs(part.value) >= kLeastShare * full && part.value != 0;
  });
}

void draw_gap(const Panel& p, std::string_view path, const LessonGap& gap, bool unsteady) {
  Ui& ui = p.ui;
  unsteady = unsteady && !gap.as_predicted();
  const std::string text = unsteady ? gap.what : gap_text(gap);
  body(ui, text);
  record_item(ui, fmt::format("{}/text", path), "text", text);
  const std::string predicted = quantity_text(gap.predicted, gap.unit);
  const std::string measured = quantity_text(gap.measured, gap.unit);
  const std::string values = gap.modelled ? trf("{} predicted, {} modelled", predicted, measured)
                                          : trf("{} predicted, {} measured", predicted, measured);
  muted(ui, values);
  record_item(ui, fmt::format("{}/values", path), "text", values);
  const std::string note =
      unsteady ? tr("Too unsteady to name a cause. Measure again when other programs are idle.")
               : gap.note;
  if (!note.empty()) {
    muted(ui, note);
    return record_item(ui, fmt::format("{}/note", path), "text", note);
  }
  if (!has_causes(gap)) return;
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(22)});
  record(ui, item, path, "gap", gap.what, fmt::format("{}..{}", gap.predicted, gap.measured));
  // What causes remove lies hollow below the prediction, what they add lies beyond it.
  double added = 0, removed = 0;
  for (const GapPart& part : gap.parts) (part.value > 0 ? added : removed) += std::abs(part.value);
  const double full = std::max(gap.predicted + added, 1e-300);
  std::vector<Swatch> swatches = {{tr("as predicted"), ui.theme->muted}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto at = [&](double v) {
    return item.min.x + (item.max.x - item.min.x) * static_cast<float>(std::max(0.0, v) / full);
  };
  const double kept = gap.predicted - removed;
  list->AddRectFilled(item.min, item.max, styled(ui.theme->raised), ui.px(4));
  list->AddRectFilled(item.min, {at(kept), item.max.y}, styled(ui.theme->muted), ui.px(4));
  double lower = kept, upper = gap.predicted;  // where the next cause begins
  for (std::size_t i = 0; i < gap.parts.size(); ++i) {
    const double value = gap.parts[i].value;
    if (std::abs(value) < kLeastShare * full) continue;
    const Swatch swatch{part_text(gap.parts[i], gap.unit),
                        series_color(*ui.theme, static_cast<int>(i) + 1), nullptr, value < 0};
    double& from = value < 0 ? lower : upper;
    const ImVec2 min(at(from), item.min.y), max(at(from + std::abs(value)), item.max.y);
    draw_swatch(ui, min, max, swatch);
    hint_at(ui, min, max, swatch.text);
    from += std::abs(value);
    swatches.push_back(swatch);
  }
  list->AddLine({at(gap.predicted), item.min.y - ui.px(2)},
                {at(gap.predicted), item.max.y + ui.px(2)}, styled(ui.theme->text), ui.px(2));
  swatch_legend(p, swatches);
}

// From the theme's raised surface at 1 over its warning to its bad colour, per decade.
static ImU32 heat_color(const Theme& theme, double value) {
  if (!(value > 1)) return theme.raised;
  const auto share = static_cast<float>(std::clamp(std::log10(value) / 6, 0.0, 1.0));
  return share < 0.5F ? mix(theme.raised, theme.warning, 2 * share)
                      : mix(theme.warning, theme.bad, 2 * share - 1);
}

// The scale of heat_color: a bar with its powers of ten.
static void heat_legend(const Panel& p, const std::string& unit) {
  Ui& ui = p.ui;
  constexpr int kDecades = 6;
  constexpr const char* kTicks[] = {"1", "100", "10,000", "1,000,000"};
  const std::string name = trf("Difference in {}:", unit);
  const float label = text_size(ui.fonts.caption, name).x + ui.px(12);
  const float width = std::min(ui.px(360), ImGui::GetContentRegionAvail().x - label - ui.px(30));
  const Item item = control("learn/heat_legend", {label + width + ui.px(30), ui.px(28)});
  record(ui, item, "learn/heat_legend", "legend", name);
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, ui.fonts.caption, item.min, ui.theme->muted, name);
  const float left = item.min.x + label, part = width / kDecades;
  for (int i = 0; i < kDecades; ++i) {
    const ImU32 from = styled(heat_color(*ui.theme, std::pow(10.0, i)));
    const ImU32 to = styled(heat_color(*ui.theme, std::pow(10.0, i + 1)));
    const float x = left + part * static_cast<float>(i);
    list->AddRectFilledMultiColor({x, item.min.y + ui.px(2)}, {x + part, item.min.y + ui.px(11)},
                                  from, to, to, from);
  }
  for (int i = 0; i <= kDecades; i += 2) {
    const char* text = kTicks[i / 2];
    draw_text(list, ui.fonts.caption,
              {left + part * static_cast<float>(i) - text_size(ui.fonts.caption, text).x / 2,
               item.min.y + ui.px(13)},
              ui.theme->muted, text);
  }
}

static void draw_heat(const Panel& p, std::string_view path, const LessonInfo& lesson,
                      const std::vector<LessonSeries>& rows, float label) {
  Ui& ui = p.ui;
  const float height = ui.px(24);
  const float width = std::max(ui.px(80), ImGui::GetContentRegionAvail().x - label);
  const Item item = control(path, {label + width, height * static_cast<float>(rows.size() + 1)});
  record(ui, item, path, "heat", lesson.y_label, fmt::format("{} rows", rows.size()));
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float cell = width / static_cast<float>(std::max<std::size_t>(1, rows.front().x.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const LessonSeries& row = rows[r];
    const float y = item.min.y + height * static_cast<float>(r);
    draw_text(list, ui.fonts.caption, {item.min.x, y + ui.px(5)}, ui.theme->muted, row.name);
    for (std::size_t i = 0; i < row.x.size(); ++i) {
      const ImVec2 min(item.min.x + label + cell * static_cast<float>(i), y + 1);
      const ImVec2 max(min.x + cell - 2, y + height - 1);
      const ImU32 fill = heat_color(*ui.theme, row.y[i]);
      const bool dark = contrast(fill, ui.theme->accent_text) > contrast(fill, ui.theme->text);
      list->AddRectFilled(min, max, styled(fill), ui.px(3));
      const std::string text = row.y[i] < 100
                                   ? quantity_text(row.y[i], row.unit)
                                   : group_digits(std::to_string(std::llround(row.y[i])));
      draw_text_fitted(list, ui.fonts.caption, {min.x + ui.px(6), y + ui.px(5)}, cell - ui.px(8),
                       dark ? ui.theme->accent_text : ui.theme->text, text);
      std::string tip = row.name;
      add_row(tip, tr(lesson.x_label), fmt::format("{:g}", row.x[i]));
      add_row(tip, tr(lesson.y_label), text);
      hint_at(ui, min, max, tip);
    }
  }
  const float y = item.min.y + height * static_cast<float>(rows.size());
  for (std::size_t i = 0; i < rows.front().x.size(); ++i) {
    draw_text(list, ui.fonts.caption,
              {item.min.x + label + cell * static_cast<float>(i) + ui.px(6), y + ui.px(3)},
              ui.theme->muted, fmt::format("{} {:g}", tr(lesson.x_label), rows.front().x[i]));
  }
}

void draw_heats(const Panel& p, std::string_view path, const LessonInfo& lesson,
                const std::vector<LessonSeries>& rows) {
  if (rows.empty()) return;
  heat_legend(p, tr(lesson.y_label));
  float label = 0;  // the maps are aligned
  for (const LessonSeries& row : rows) {
    label = std::max(label, text_size(p.ui.fonts.caption, row.name).x + p.ui.px(12));
  }
  int maps = 0;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(
        first, rows.end(), [&](const LessonSeries& row) { return row.group != first->group; });
    if (!first->group.empty()) body(p.ui, first->group);
    draw_heat(p, fmt::format("{}/{}", path, maps++), lesson, {first, last}, label);
    first = last;
  }
}

}  // namespace lab::ui
