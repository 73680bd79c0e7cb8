// Grid, axes, reference lines, and all text in the data area.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compute/core/language.h"
#include "ui/plot/frame.h"
#include "ui/widgets/item.h"

namespace lab::ui::plot {
namespace {

// The pixel's centre, so that a one-pixel line covers one pixel.
float crisp(float at) {
  return std::floor(at) + 0.5F;
}

float hairline(const Ui& ui) {
  return std::max(1.0F, std::floor(ui.scale));
}

std::string axis_title(const Axis& axis, Scale scale, const std::string& unit) {
  std::string text(axis.label);
  if (!unit.empty()) text = text.empty() ? tr(unit) : text + " (" + tr(unit) + ")";
  return scale == Scale::Linear || text.empty() ? text : trf("{}, log scale", text);
}

void x_labels(const Frame& f, ImDrawList* list) {
  const Ui& ui = f.ui;
  const float y = f.area_max.y + ui.px(5);
  float taken = -1e9F;
  for (const Tick& t : f.x_ticks.ticks) {
    if (t.label.empty()) continue;
    const float width = text_size(f.small_font(), t.label).x;
    const float left =
        std::clamp(f.x.pixel(t.value) - width / 2, f.min.x, std::max(f.min.x, f.max.x - width));
    if (left < taken + ui.px(6)) continue;
    draw_text(list, f.small_font(), {left, y}, ui.theme->muted, t.label);
    taken = left + width;
  }
}

void y_labels(const Frame& f, ImDrawList* list) {
  const Ui& ui = f.ui;
  const float line = f.small_font()->FontSize;
  float taken = 1e9F;
  for (const Tick& t : f.y_ticks.ticks) {
    if (t.label.empty()) continue;
    const float width = text_size(f.small_font(), t.label).x;
    const float top =
        std::clamp(f.y.pixel(t.value) - line / 2, f.area_min.y - line / 2, f.area_max.y - line / 2);
    if (top + line > taken - ui.px(2)) continue;
    draw_text(list, f.small_font(), {f.area_min.x - ui.px(8) - width, top}, ui.theme->muted,
              t.label);
    taken = top;
  }
}

}  // namespace

void draw_grid(const Frame& f) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& t = *f.ui.theme;
  const float width = hairline(f.ui);
  const float base = crisp(f.area_max.y);
  list->AddLine({f.area_min.x, base}, {f.area_max.x, base}, styled(t.plot_axis), width);
  if (f.empty()) return;
  for (const Tick& tick : f.x_ticks.ticks) {
    const float x = crisp(f.x.pixel(tick.value));
    if (tick.major) {
      list->AddLine({x, f.area_min.y}, {x, f.area_max.y}, styled(t.plot_grid), width);
    }
    list->AddLine({x, f.area_max.y}, {x, f.area_max.y + f.ui.px(tick.major ? 4 : 2)},
                  styled(t.plot_axis), width);
  }
  for (const Tick& tick : f.y_ticks.ticks) {
    const float y = crisp(f.y.pixel(tick.value));
    const bool log = f.y.scale != Scale::Linear;
    if (tick.major || log) {
      list->AddLine({f.area_min.x, y}, {f.area_max.x, y},
                    styled(with_alpha(t.plot_grid, tick.major ? 1.0F : 0.45F)), width);
    }
  }
}

void draw_axis_text(const Frame& f) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Ui& ui = f.ui;
  if (!f.empty()) {  // without data there are no numbers to label
    x_labels(f, list);
    y_labels(f, list);
  }
  const std::string x = axis_title(f.axes.x, f.x.scale, f.x_ticks.unit);
  if (!x.empty()) {
    const float room = f.max.x - f.min.x;
    const float width = std::min(room, text_size(f.small_font(), x).x);
    const float middle = (f.area_min.x + f.area_max.x) / 2;
    const float left = std::clamp(middle - width / 2, f.min.x, f.max.x - width);
    draw_text_fitted(list, f.small_font(), {left, f.max.y - f.small_font()->FontSize}, room,
                     ui.theme->muted, x);
  }
  const std::string y = axis_title(f.axes.y, f.y.scale, f.y_ticks.unit);
  if (!y.empty()) {
    draw_text_fitted(list, f.small_font(), {f.min.x, f.min.y + ui.px(2)}, f.max.x - f.min.x,
                     ui.theme->muted, y);
  }
}

// The labels are above the area, where no curve passes.
void draw_bands(const Frame& f) {
  if (f.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Ui& ui = f.ui;
  const float height = std::ceil(f.small_font()->FontSize), gap = ui.px(3);
  const float top = f.area_min.y - height - gap;
  const std::span<const Band> bands = f.options.bands;
  const auto end_of = [&](const Band& band) {
    if (!can_show(f.x.scale, band.to)) return f.area_max.x;
    return std::clamp(f.x.pixel(band.to), f.area_min.x, f.area_max.x);
  };
  for (const Band& band : bands) {
    const float right = end_of(band);
    if (right <= f.area_min.x || right >= f.area_max.x) continue;
    const std::vector<ImVec2> line{{crisp(right), top}, {crisp(right), f.area_max.y}};
    draw_path(list, line, styled(ui.theme->muted), Line::Dotted, hairline(ui), ui.scale);
  }
  float left = f.area_min.x, before = left, free_from = left;  // `before`: of the band before
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const float right = end_of(bands[i]);
    const bool begins = i > 0 && bands[i - 1].label.empty();
    const bool ends = i + 1 < bands.size() && bands[i + 1].label.empty();
    const float from = begins ? std::max(before, free_from) : left;
    const float to = ends ? end_of(bands[i + 1]) : right;
    const bool in_sight = right > f.area_min.x && left < f.area_max.x && from <= right;
    const bool labelled = in_sight && !bands[i].label.empty();
    const float width = labelled ? text_size(f.small_font(), bands[i].label).x : 0;
    // The last band may be too narrow for its label, which then begins over the band before.
    const bool last = i + 1 == bands.size() && right > left;
    const float needed = last ? right - std::max(free_from, f.area_min.x) : to - from;
    if (labelled && needed > width + 2 * gap) {
      const float x = std::max(last ? free_from + gap : from + gap,
                               std::min((left + right - width) / 2, to - width - gap));
      const ImVec2 at(x, top), end(x + width, top + height);
      list->AddRectFilled({at.x - gap, at.y}, {end.x + gap, end.y}, styled(ui.theme->card));
      draw_text(list, f.small_font(), at, ui.theme->muted, bands[i].label);
      record_rect(f.ui, f.path + "/band/" + bands[i].label, "text", bands[i].label, {}, true, at,
                  end);
      if (!bands[i].hint.empty()) hint_at(f.ui, at, end, bands[i].hint);
      free_from = end.x + gap;
    }
    before = left;
    left = right;
  }
}

// Right-aligned with the last point, below the lowest point of the line over the note's width.
void draw_notes(const Frame& f) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Ui& ui = f.ui;
  const float height = std::ceil(f.small_font()->FontSize);
  for (const Curve& c : f.curves) {
    if (c.series->note.empty()) continue;
    for (auto p = c.line->points.rbegin(); p != c.line->points.rend(); ++p) {
      if (!can_show(f.x.scale, p->x) || !can_show(f.y.scale, p->y)) continue;
      const ImVec2 at(f.x.pixel(p->x), f.y.pixel(p->y));
      if (at.x < f.area_min.x || at.x > f.area_max.x + 1) continue;
      const float width = text_size(f.small_font(), c.series->note).x;
      const float left = std::clamp(at.x - width, f.area_min.x,
                                    std::max(f.area_min.x, f.area_max.x - width - ui.px(4)));
      float low = at.y;
      for (const Point& before : c.line->points) {
        if (!can_show(f.x.scale, before.x) || !can_show(f.y.scale, before.y)) continue;
        const float x = f.x.pixel(before.x), y = f.y.pixel(before.y);
        if (x >= at.x) continue;
        const float share = (at.x - std::max(x, left)) / (at.x - x);
        low = std::max(low, at.y + (y - at.y) * share);
      }
      const float top = std::clamp(low + ui.px(8), f.area_min.y,
                                   std::max(f.area_min.y, f.area_max.y - height - ui.px(2)));
      draw_text(list, f.small_font(), {left, top}, styled(c.series->color), c.series->note);
      break;
    }
  }
}

// --- labels on curves -----------------------------------------------------------------------

namespace {

constexpr int kPointCounts = 8;  // in lines: a point is hidden entirely, a line only in part

bool inside(const Box& box, const Box& area) {
  return box.min.x >= area.min.x && box.min.y >= area.min.y && box.max.x <= area.max.x &&
         box.max.y <= area.max.y;
}

bool overlap(const Box& a, const Box& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

bool covers(const Box& box, std::span<const ImVec2> line) {
  if (line.size() == 1) return crosses(box, line.front(), line.front());
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (crosses(box, line[i - 1], line[i])) return true;
  }
  return false;
}

std::vector<ImVec2> pixels_of(const Frame& f, const Curve& c) {
  std::vector<ImVec2> path;
  for (const Point& p : c.line->points) {
    if (can_show(f.x.scale, p.x) && can_show(f.y.scale, p.y)) {
      path.emplace_back(f.x.pixel(p.x), f.y.pixel(p.y));
    }
  }
  return path;
}

}  // namespace

// Clips the segment against each side (Liang and Barsky).
bool crosses(const Box& box, ImVec2 a, ImVec2 b) {
  float enters = 0, leaves = 1;
  const auto cut = [&](float from, float step, float low, float high) {
    if (step == 0) return from >= low && from <= high;
    const float t0 = (low - from) / step, t1 = (high - from) / step;
    enters = std::max(enters, std::min(t0, t1));
    leaves = std::min(leaves, std::max(t0, t1));
    return enters <= leaves;
  };
  return cut(a.x, b.x - a.x, box.min.x, box.max.x) && cut(a.y, b.y - a.y, box.min.y, box.max.y);
}

std::vector<std::optional<Box>> place_line_labels(std::span<const LineLabel> labels,
                                                  std::span<const std::span<const ImVec2>> lines,
                                                  const Box& area) {
  std::vector<std::optional<Box>> placed;
  for (const LineLabel& label : labels) {
    std::optional<Box> best;
    int fewest = std::numeric_limits<int>::max();
    for (const ImVec2 at : label.path) {
      const ImVec2 half(label.size.x / 2, label.size.y / 2);
      const Box box{{at.x - half.x, at.y - half.y}, {at.x + half.x, at.y + half.y}};
      const bool taken = std::any_of(placed.begin(), placed.end(), [&](const auto& other) {
        return other && overlap(*other, box);
      });
      if (taken || !inside(box, area)) continue;
      int covered = 0;
      for (const std::span<const ImVec2> line : lines) {
        if (line.data() == label.path.data() || !covers(box, line)) continue;
        covered += line.size() == 1 ? kPointCounts : 1;
      }
      if (covered >= fewest) continue;
      fewest = covered;
      best = box;
    }
    placed.push_back(best);
  }
  return placed;
}

// --- labels of reference lines --------------------------------------------------------------

namespace {

// Reads the columns of the box only, of which a line of any length has one stroke each.
bool covers(const Box& box, std::span<const Stroke> line) {
  auto stroke = std::ranges::lower_bound(line, std::floor(box.min.x), {}, &Stroke::column);
  for (; stroke != line.end() && stroke->column <= box.max.x; ++stroke) {
    if (stroke->low <= box.max.y && stroke->high >= box.min.y) return true;
  }
  return false;
}

std::vector<Stroke> strokes_of(const Frame& f, const Curve& c) {
  if (!c.pixels) return envelope(pixels_of(f, c), f.area_min.x, f.area_max.x);
  if (!c.pixels->strokes.empty()) return c.pixels->strokes;
  std::vector<Stroke> strokes;
  const std::span<const ImVec2> points = c.pixels->points;
  std::size_t begin = 0;
  for (const std::size_t end : c.pixels->run_ends) {
    const auto run = envelope(points.subspan(begin, end - begin), f.area_min.x, f.area_max.x);
    strokes.insert(strokes.end(), run.begin(), run.end());
    begin = end;
  }
  return strokes;
}

// Finds the offered place that is not taken and covers the fewest lines.
class FreestPlace {
 public:
  FreestPlace(std::span<const std::vector<Stroke>> lines, std::span<const Box> taken)
      : lines_(lines), taken_(taken) {}

  // Returns whether the place covers no line, so that no other is better.
  bool offer(const Box& box) {
    const auto overlaps = [&](const Box& other) { return overlap(box, other); };
    if (std::ranges::any_of(taken_, overlaps)) return false;
    const auto covered = std::ranges::count_if(
        lines_, [&](const std::vector<Stroke>& strokes) { return covers(box, strokes); });
    if (covered >= fewest_) return false;
    fewest_ = covered;
    best_ = box;
    return covered == 0;
  }
  std::optional<Box> best() const { return fewest_ == kNone ? std::nullopt : std::optional(best_); }

 private:
  static constexpr std::ptrdiff_t kNone = std::numeric_limits<std::ptrdiff_t>::max();

  std::span<const std::vector<Stroke>> lines_;
  std::span<const Box> taken_;
  Box best_{};  // valid with fewest_; GCC 14 warns of an optional
  std::ptrdiff_t fewest_ = kNone;
};

}  // namespace

Box place_reference_label(const Box& preferred, float line, float step, const Box& area,
                          std::span<const std::vector<Stroke>> lines, std::span<const Box> taken) {
  const float width = preferred.max.x - preferred.min.x;
  const float height = preferred.max.y - preferred.min.y;
  const float near =
      std::max(1.0F, std::min(std::abs(preferred.min.y - line), std::abs(preferred.max.y - line)));
  const float tops[] = {preferred.min.y, line - height - near, line + near, line - 2 * height,
                        line + height};
  FreestPlace place(lines, taken);
  for (float left = preferred.min.x; left + width <= area.max.x; left += step) {
    for (const float top : tops) {
      const Box box{{left, top}, {left + width, top + height}};
      if (inside(box, area) && place.offer(box)) return box;
    }
  }
  return place.best().value_or(preferred);
}

std::optional<Box> place_mark_label(ImVec2 size, float line, float gap, const Box& area,
                                    std::span<const std::vector<Stroke>> lines,
                                    std::span<const Box> taken) {
  const bool fits = line + gap + size.x <= area.max.x;
  const float left = std::max(area.min.x, line - gap - size.x);
  const float lefts[] = {fits ? line + gap : left, left};
  FreestPlace place(lines, taken);
  for (float top = area.min.y; top + size.y <= area.max.y; top += size.y) {
    for (const float x : lefts) {
      const Box box{{x, top}, {x + size.x, top + size.y}};
      if (place.offer(box)) return box;
    }
  }
  return place.best();
}

void draw_marks(const Frame& f, std::vector<Box> taken) {
  if (f.options.marks.empty() || f.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Ui& ui = f.ui;
  const float height = std::ceil(f.small_font()->FontSize) + ui.px(2);
  std::vector<std::vector<Stroke>> lines;
  for (const Curve& c : f.curves) lines.push_back(strokes_of(f, c));
  for (std::size_t i = 0; i < f.options.marks.size(); ++i) {
    const Mark& mark = f.options.marks[i];
    if (!can_show(f.x.scale, mark.x)) continue;
    const float x = crisp(f.x.pixel(mark.x));
    if (x < f.area_min.x - 1 || x > f.area_max.x + 1) continue;
    const std::vector<ImVec2> ends{{x, f.area_min.y}, {x, f.area_max.y}};
    draw_path(list, ends, styled(ui.theme->muted), Line::Dashed, hairline(ui), ui.scale * 0.6F);
    const float width = text_size(f.small_font(), mark.label).x;
    const std::optional<Box> box =
        place_mark_label({width, height}, x, ui.px(5), {f.area_min, f.area_max}, lines, taken);
    if (!box) continue;
    taken.push_back({{box->min.x - ui.px(8), box->min.y}, {box->max.x + ui.px(8), box->max.y}});
    list->AddRectFilled({box->min.x - ui.px(3), box->min.y}, {box->max.x + ui.px(3), box->max.y},
                        styled(with_alpha(ui.theme->card, 0.8F)), ui.px(3));
    draw_text(list, f.small_font(), box->min, ui.theme->muted, mark.label);
    record_rect(f.ui, f.path + "/mark/" + std::to_string(i), "mark", mark.label, {}, true, box->min,
                box->max);
  }
}

std::vector<Box> draw_references(const Frame& f) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Ui& ui = f.ui;
  struct Label {
    const Reference* reference;
    float line, top;
  };
  std::vector<Label> labels;
  const float height = std::ceil(f.small_font()->FontSize);
  for (const Reference& r : f.options.references) {
    if (!can_show(f.y.scale, r.y)) continue;
    const float y = f.y.pixel(r.y);
    if (y < f.area_min.y - 1 || y > f.area_max.y + 1) continue;
    const std::vector<ImVec2> ends{{f.area_min.x, crisp(y)}, {f.area_max.x, crisp(y)}};
    draw_path(list, ends, styled(r.color), r.line, std::max(1.0F, ui.px(1.2F)), ui.scale);
    const float below = std::min(y + ui.px(2), f.area_max.y - height);
    labels.push_back({&r, y, r.label_below ? below : y - height - ui.px(1)});
  }
  // From top to bottom: each label is above its line if there is space, otherwise it moves down. It
  // leaves that place if a curve passes there.
  std::sort(labels.begin(), labels.end(),
            [](const auto& a, const auto& b) { return a.line < b.line; });
  std::vector<std::vector<Stroke>> lines;
  if (!labels.empty()) {
    for (const Curve& c : f.curves) lines.push_back(strokes_of(f, c));
    for (const Mark& mark : f.options.marks) {
      if (!can_show(f.x.scale, mark.x)) continue;
      lines.push_back({{std::floor(f.x.pixel(mark.x)), f.area_min.y, f.area_max.y}});
    }
  }
  std::vector<Box> taken;
  float free_from = f.area_min.y;
  for (Label& l : labels) {
    l.top = l.top >= free_from ? l.top : std::max(free_from, l.line + ui.px(2));
    free_from = l.top + height;
    // On the left, because measured curves mostly end near their reference on the right.
    const float left = f.area_min.x + ui.px(3);
    const std::string label =
        fitted_text(f.small_font(), f.area_max.x - left - ui.px(6), l.reference->label);
    const float width = text_size(f.small_font(), label).x + ui.px(6);
    const Box box = place_reference_label({{left, l.top}, {left + width, l.top + height}}, l.line,
                                          ui.px(24), {f.area_min, f.area_max}, lines, taken);
    taken.push_back(box);
    list->AddRectFilled(box.min, box.max, styled(with_alpha(ui.theme->card, 0.8F)), ui.px(3));
    draw_text(list, f.small_font(), {box.min.x + ui.px(3), box.min.y}, ui.theme->muted, label);
    record_rect(f.ui,
                fmt::format("{}/reference/{}", f.path, l.reference - f.options.references.data()),
                "text", l.reference->label, {}, true, box.min, box.max);
  }
  return taken;
}

void draw_line_labels(const Frame& f) {
  const Ui& ui = f.ui;
  const auto labelled = [](const Curve& c) { return !c.series->line_label.empty(); };
  if (std::none_of(f.curves.begin(), f.curves.end(), labelled)) return;
  std::vector<std::vector<ImVec2>> paths;
  std::vector<const Series*> series;
  std::vector<LineLabel> labels;
  for (const Curve& c : f.curves) paths.push_back(pixels_of(f, c));
  const ImVec2 around(ui.px(4), ui.px(1));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Series& s = *f.curves[i].series;
    if (s.line_label.empty()) continue;
    const ImVec2 text = text_size(f.small_font(), s.line_label);
    series.push_back(&s);
    labels.push_back({paths[i], {text.x + 2 * around.x, text.y + 2 * around.y}});
  }
  const std::vector<std::span<const ImVec2>> lines(paths.begin(), paths.end());
  const auto placed = place_line_labels(labels, lines, {f.area_min, f.area_max});
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (!placed[i]) continue;
    const ImVec2 at(std::round(placed[i]->min.x), std::round(placed[i]->min.y));
    list->AddRectFilled(at, {at.x + labels[i].size.x, at.y + labels[i].size.y},
                        styled(ui.theme->card), ui.px(3));
    draw_text(list, f.small_font(), {at.x + around.x, at.y + around.y}, styled(series[i]->color),
              series[i]->line_label);
  }
}

}  // namespace lab::ui::plot
