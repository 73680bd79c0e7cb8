// Shows where a step's time goes, one bar per device count.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compute/core/events/measured_cases.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/scaling/scaling_parts.h"
#include "ui/pages/step_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

std::vector<std::string> by_names() {
  return {LAB_TEXT("Time"), LAB_TEXT("Share")};
}

struct Line {
  int devices = 0;
  double step_s = 0;
  double ideal_s = 0;  // one device's step divided evenly; 0: unknown
  StepParts parts;
  double beside_s = 0;  // predicted hidden all-reduce, overlapped with computation
  bool predicted = false, pale = false;
  bool recorded = false;    // a step, for the timeline
  std::string spread = {};  // of unsteady steps, "±20 %", which mark the line
  std::string text;         // tooltip
};

// Returns each device count once, ascending; measurements take precedence over predictions, which
// are pale if they are of `other` settings.
std::vector<Line> lines_of(const ScalingResults& results, ScalingMode mode, bool other) {
  std::vector<Line> lines;
  const ScalingCurve& measured = results.measured(mode);
  const PredictedCurve& predicted = results.predicted(mode);
  const auto ideal = [mode](double one_s, int devices) {
    return mode == ScalingMode::Weak ? one_s : one_s / devices;
  };
  for (const ScalingPoint& point : measured.points) {
    const ScalingPoint* one = measured.at(1);
    const bool rough = point.step.unstable || results.others > 0;
    lines.push_back({.devices = point.devices,
                     .step_s = point.step.median_s,
                     .ideal_s = one == nullptr ? 0 : ideal(one->step.median_s, point.devices),
                     .parts = parts_of(point),
                     .beside_s = 0,
                     .predicted = false,
                     .pale = false,
                     .recorded = results.step(mode, point.devices) != nullptr,
                     .spread = rough ? half_spread(point.step) : "",
                     .text = describe(results, point)});
  }
  for (const ScalingPrediction& point : predicted.points) {
    if (measured.at(point.devices) != nullptr) continue;
    const ScalingPrediction* one = predicted.at(1);
    lines.push_back({.devices = point.devices,
                     .step_s = point.step_s,
                     .ideal_s = one == nullptr ? 0 : ideal(one->step_s, point.devices),
                     .parts = parts_of(point),
                     .beside_s = point.split.all_reduce_s - point.split.exposed_s,
                     .predicted = true,
                     .pale = other,
                     .recorded = false,
                     .spread = {},
                     .text = describe(results, point)});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.devices < b.devices; });
  return lines;
}

std::string name_text(const Line& line) {
  const std::string devices = devices_text(line.devices);
  return line.predicted ? trf("{}, predicted", devices) : devices;
}

// "7.49 ms", "7.49 ms (±20 %)"
std::string value_text(const Line& line) {
  const std::string step = format_seconds(line.step_s);
  return line.spread.empty() ? step : fmt::format("{} ({})", step, line.spread);
}

// The step time that was typed in, on which the predicted bars rest; empty if they rest on another.
std::string typed_text(const ScalingResults& results) {
  const StartScaling& request = results.request;
  if (!request.compute_s || results.basis() != nullptr) return "";
  return trf("Predicted bars: from the typed {}.", format_seconds(*request.compute_s));
}

// Below the parts, in the tooltip.
std::string record_text(const Line& line, bool chosen) {
  if (!line.recorded || chosen) return "";
  return std::string("\n") + tr("Press to see the timeline of a step.");
}

std::string part_text(const Line& line, StepPart part) {
  if (part == StepPart::Hidden && line.beside_s > 0) {
    return trf("{}, overlapped with compute", format_seconds(line.beside_s));
  }
  const double seconds = seconds_of(line.parts, part);
  const double sum = line.parts.sum();
  return fmt::format("{}, {}", seconds > 0 ? format_seconds(seconds) : "0 s",
                     percent(sum > 0 ? seconds / sum : 0));
}

// Extent of the bars, in pixels.
struct Bars {
  float left, right;
  double full_s;  // seconds represented by the full width
};

constexpr float kMark = kWarningSide + 4;  // units from the left edge of the mark to the value

void draw_line(const Panel& p, const Item& item, const Line& line, const Bars& bars, bool chosen) {
  const Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  row_background(ui, item, chosen);
  focus_ring(ui, item, ui.px(4));
  ImFont* font = ui.fonts.caption;
  const float middle = (item.min.y + item.max.y) / 2;
  const float text = middle - font->FontSize / 2;
  draw_text_fitted(list, font, {item.min.x + ui.px(4), text}, bars.left - item.min.x - ui.px(12),
                   ui.theme->text, name_text(line));
  const std::string value = value_text(line);
  const float value_left = item.max.x - ui.px(4) - text_size(font, value).x;
  draw_text(list, font, {value_left, text}, ui.theme->text, value);
  if (!line.spread.empty()) draw_warning(ui, {value_left - ui.px(kMark), middle});
  const float half = std::round((item.max.y - item.min.y) * 0.29F);
  draw_step_parts(ui,
                  {.left = bars.left,
                   .right = bars.right,
                   .top = std::round(middle - half),
                   .bottom = std::round(middle + half),
                   .full_s = bars.full_s,
                   .hatched = line.predicted},
                  line.parts);
  if (line.ideal_s > 0 && line.devices > 1 && bars.full_s > 0) {
    const auto share = static_cast<float>(std::min(1.0, line.ideal_s / bars.full_s));
    const float x = std::round(bars.left + (bars.right - bars.left) * share) + 0.5F;
    list->AddLine({x, middle - half - ui.px(3)}, {x, middle + half + ui.px(3)},
                  styled(ui.theme->text), ui.px(1.5F));
  }
}

void by_choice(const Panel& p) {
  int by = p.view.forms.scaling.bars_by_share ? 1 : 0;
  if (segmented(p.ui, "scaling/bars_by", "", by_names(), by,
                tr("Bar length: the step time, or equal for all."))) {
    p.view.forms.scaling.bars_by_share = by == 1;
  }
}

void legend(const Panel& p, bool predicted, bool copies) {
  step_part_legend(p, predicted, copies);
  record_item(p.ui, "scaling/steps_legend", "legend", {}, predicted ? "with predictions" : "");
}

// Draws legend and choice, side by side if they fit.
void head(const Panel& p, bool predicted, bool copies) {
  if (width_left(p) < 420) {
    by_choice(p);
    legend(p, predicted, copies);
    return;
  }
  Row row(p.ui, {1, -150});
  row.next();
  legend(p, predicted, copies);
  row.next();
  by_choice(p);
}

constexpr float kLine = 28, kMaxLine = 48;  // units per line

// The device counts of all bars: those that the running job still adds have their place, and those
// of a withheld prediction keep it.
std::set<int> counts_of_bars(const Panel& p, const Kept<ScalingResults>& kept, bool withheld,
                             const std::vector<Line>& lines) {
  std::set<int> counts;
  for (const Line& line : lines) counts.insert(line.devices);
  if (is_old(kept) || (!is_filling(p, kept) && !withheld)) return counts;
  const StartScaling& request = kept.current.request;
  const auto add = [&](const std::vector<int>& more) { counts.insert(more.begin(), more.end()); };
  add(doubling_counts(request.predict_devices));
  if (!request.measure) return counts;
  const auto most = static_cast<int>(request.training.devices.size());
  add(request.counts.empty() ? doubling_counts(most) : request.counts);
  counts.insert(1);
  return counts;
}

// Lines are taller if their card has spare height.
float line_height(const Panel& p, std::size_t lines) {
  const float foot = 22;
  const float room = ImGui::GetContentRegionAvail().y / p.ui.scale - foot;
  const float each = std::floor(room / static_cast<float>(std::max<std::size_t>(1, lines))) - 2;
  return std::clamp(each, kLine, kMaxLine);
}

// Its timeline is shown whole.
void choose_timeline(const Panel& p, int devices) {
  ScalingForm& form = p.view.forms.scaling;
  form.timeline_devices = devices;
  form.timeline = {};
}

// Leaves the place of the lines up to `count`, so that nothing moves when they arrive. `instead` is
// written there.
void draw_lines(const Panel& p, const std::vector<Line>& lines, std::size_t count, int chosen,
                std::string_view instead) {
  Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  const bool by_share = p.view.forms.scaling.bars_by_share;
  float name = 0, value = 0;
  double longest_s = 0;
  for (const Line& line : lines) {
    name = std::max(name, text_size(font, name_text(line)).x + ui.px(20));
    const float mark = line.spread.empty() ? 0 : kMark;
    value = std::max(value, text_size(font, value_text(line)).x + ui.px(16 + mark));
    longest_s = std::max({longest_s, line.parts.sum(), line.ideal_s});
  }
  const float width = ImGui::GetContentRegionAvail().x, alpha = ImGui::GetStyle().Alpha;
  name = std::min(name, width * 0.4F);
  const float height = line_height(p, count);
  grown_in_card(ui, ui.px((height - kLine) * static_cast<float>(count)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, ui.px(2)});
  for (Line line : lines) {
    const std::string path =
        fmt::format("scaling/steps/{}{}", line.devices, line.predicted ? "/prediction" : "");
    const Item item = control(path, {width, ui.px(height)});
    if (!item.visible) continue;
    if (by_share) line.ideal_s = 0;
    const Bars bars{item.min.x + name, item.max.x - value, by_share ? line.parts.sum() : longest_s};
    const bool shown = line.recorded && line.devices == chosen;
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, line.pale ? alpha * kOtherSettingsAlpha : alpha);
    draw_line(p, item, line, bars, shown);
    ImGui::PopStyleVar();
    if (line.recorded && item.pressed) choose_timeline(p, line.devices);
    std::string text = line.text;
    for (const StepPart part : kStepParts) add_row(text, name_of(part), part_text(line, part));
    hint(ui, text + record_text(line, shown));
    record(ui, item, path, "bar", name_text(line), value_text(line));
  }
  const ImVec2 place = ImGui::GetCursorScreenPos();
  for (std::size_t i = lines.size(); i < count; ++i) ImGui::Dummy({width, ui.px(height)});
  ImGui::PopStyleVar();
  if (instead.empty() || lines.size() == count) return;
  const ImVec2 end(place.x + width, place.y + ui.px(height));
  draw_text_fitted(ImGui::GetWindowDrawList(), font,
                   {place.x + ui.px(4), (place.y + end.y - font->FontSize) / 2}, width - ui.px(4),
                   ui.theme->muted, instead);
  record_rect(ui, "scaling/steps_withheld", "text", instead, {}, true, place, end);
}

}  // namespace

void draw_scaling_steps(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode,
                        float extra) {
  const ScalingResults& results = shown(kept);
  Card card(
      p, "scaling/steps_card", tr("Step time breakdown"),
      {.extra = extra,
       .hint = tr("The median step for each device count, divided by the mean shares of compute, "
                  "all-reduce and waiting for the slowest device or the process. Hatched: "
                  "predicted."),
       .dimmed = is_old(kept)});
  if (!card) return;
  const std::vector<Line> lines = lines_of(results, mode, is_of_other_settings(p, results, mode));
  if (lines.empty()) {
    muted(p.ui, tr("Measuring the first device count."));
    return;
  }
  const bool withheld = !results.withheld(mode).empty();
  const std::set<int> counts = counts_of_bars(p, kept, withheld, lines);
  const bool more = counts.size() > lines.size() && kept.current.request.predict_devices > 0;
  const bool copies =
      results.request.style == ParallelStyle::DataParallel && results.measured(mode).points.empty();
  const bool predicts = more || std::ranges::any_of(lines, &Line::predicted);
  head(p, predicts, copies);
  draw_lines(p, lines, counts.size(), timeline_devices(p.view.forms.scaling, results, mode),
             withheld ? tr("No predicted bars: the prediction is withheld.") : "");
  if (const std::string typed = typed_text(results); predicts && !withheld && !typed.empty()) {
    caption(p.ui, typed);
    record_item(p.ui, "scaling/steps_typed", "text", typed);
  }
  if (p.view.forms.scaling.bars_by_share) return;
  if (lines.back().devices > 1) {
    caption(p.ui, mode == ScalingMode::Strong
                      ? tr("The vertical line marks one device's step divided evenly.")
                      : tr("The vertical line marks one device's step."));
  } else if (*counts.rbegin() > 1) {
    ImGui::Dummy({1, p.ui.fonts.caption->FontSize});
  }
}

}  // namespace lab::ui
