#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "ui/plot/frame.h"
#include "ui/widgets/item.h"

namespace lab::ui::plot {
namespace {

Range with_ends(Range range, const Axis& axis, Scale scale) {
  if (axis.min && can_show(scale, *axis.min)) range.min = *axis.min;
  if (axis.max && can_show(scale, *axis.max)) range.max = *axis.max;
  return sane(scale, range);
}

// Bars and markers need room at the ends; a bare line may touch them.
double x_margin(const Frame& f) {
  double margin = 0;
  for (const Series& s : f.series) {
    if (!f.shown(s) || s.x.empty()) continue;
    if (s.bars) margin = std::max(margin, 0.5 / static_cast<double>(s.x.size()) + 0.02);
    if (s.marker != Marker::None) margin = std::max(margin, 0.02);
  }
  return margin;
}

Range follow_x(const Frame& f) {
  Extent extent(f.x.scale);
  for (const Series& s : f.series) {
    if (!f.shown(s) || std::min(s.x.size(), s.y.size()) == 0) continue;
    const auto x = s.x.first(std::min(s.x.size(), s.y.size()));
    // x ascends: on a log axis the first value that can be shown follows the ones that cannot.
    const auto first =
        f.x.scale == Scale::Linear ? x.begin() : std::upper_bound(x.begin(), x.end(), 0.0);
    if (first != x.end()) extent.add(*first);
    extent.add(x.back());
  }
  return with_ends(extent.padded(x_margin(f), false), f.axes.x, f.x.scale);
}

Range follow_y(const Frame& f) {
  Extent extent(f.y.scale);
  bool bars = false;
  for (const Curve& c : f.curves) {
    for (const Point& p : c.line.points) extent.add(p.y);
    for (const BandPoint& p : c.band) {
      extent.add(p.low);
      extent.add(p.high);
    }
    bars = bars || c.series->bars;
  }
  if (!extent.empty()) {
    for (const Reference& r : f.options.references) extent.add(r.y);
    if (bars && f.y.scale == Scale::Linear) extent.add(0);
  }
  const double margin = f.y.scale == Scale::Linear ? 0.06 : 0.04;
  return with_ends(extent.padded(margin, true), f.axes.y, f.y.scale);
}

// What is known of a long series that only grows; null where reading it is quick or needed.
const Extremes* extremes_of(Frame& f, const Series& s, std::map<std::string, Extremes>& used) {
  constexpr std::size_t kLong = 8192;
  if (s.append_key.empty() || s.y.size() < kLong) return nullptr;
  auto known = f.state.extremes.extract(s.append_key);
  Extremes& e = known ? used.insert(std::move(known)).position->second : used[s.append_key];
  e.follow(s.y);
  return &e;
}

void thin_all(Frame& f) {
  std::map<std::string, Extremes> used;
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    const Series& s = f.series[i];
    if (!f.shown(s)) continue;
    Curve c{.series = &s, .index = i, .line = {}, .band = {}};
    c.line = thin(s.x, s.y, f.x, f.y.scale, extremes_of(f, s, used));
    if (!s.low.empty() && !s.high.empty()) c.band = thin_band(s.x, s.low, s.high, f.x);
    const bool any = std::any_of(c.line.points.begin(), c.line.points.end(),
                                 [](const Point& p) { return std::isfinite(p.y); });
    if (any) f.curves.push_back(std::move(c));
  }
  f.state.extremes = std::move(used);  // those of series that went are dropped
}

TickRequest request(const Axis& axis, const AxisMap& map, double labels) {
  return {.scale = map.scale,
          .range = map.range,
          .max_labels = labels,
          .unit = axis.unit,
          .binary = axis.binary,
          .whole = axis.whole};
}

// Wide labels mean fewer of them: asks again with the width of the widest.
Ticks x_ticks(const Frame& f) {
  const float width = f.area_max.x - f.area_min.x;
  Ticks ticks;
  float each = f.ui.px(44);
  for (int round = 0; round < 3; ++round) {
    ticks = make_ticks(request(f.axes.x, f.x, std::max(1.0F, width / each)));
    float widest = 0;
    for (const Tick& t : ticks.ticks) {
      widest = std::max(widest, text_size(f.small_font(), t.label).x);
    }
    if (widest + f.ui.px(20) <= each) break;
    each = widest + f.ui.px(24);
  }
  return ticks;
}

}  // namespace

void arrange(Frame& f, float legend_bottom) {
  const Ui& ui = f.ui;
  f.x.scale = f.state.x_scale.value_or(f.axes.x.scale);
  f.y.scale = f.state.y_scale.value_or(f.axes.y.scale);
  f.x.range = sane(f.x.scale, f.state.x.value_or(follow_x(f)));

  const float line = std::ceil(f.small_font()->FontSize);
  const bool x_title = !f.axes.x.label.empty() || !f.axes.x.unit.empty();
  f.area_min.y = std::round(legend_bottom + ui.px(6));
  f.area_max.y = std::round(f.max.y - line - ui.px(6) - (x_title ? line + ui.px(2) : 0));
  f.area_max.y = std::max(f.area_max.y, f.area_min.y + ui.px(24));
  f.area_max.x = std::round(f.max.x - ui.px(8));

  // Thinned for the widest the area can be; the width of the y labels is not known yet.
  f.x.from = f.min.x;
  f.x.to = f.area_max.x;
  thin_all(f);
  f.y.range = sane(f.y.scale, f.state.y.value_or(follow_y(f)));
  f.y.from = f.area_max.y;
  f.y.to = f.area_min.y;
  const float height = f.area_max.y - f.area_min.y;
  f.y_ticks = make_ticks(request(f.axes.y, f.y, std::max(1.0F, height / ui.px(40))));
  float widest = ui.px(16);
  for (const Tick& t : f.y_ticks.ticks) {
    widest = std::max(widest, text_size(ui.fonts.caption, t.label).x);
  }
  f.area_min.x = std::round(std::min(f.min.x + widest + ui.px(8), f.area_max.x - ui.px(24)));
  f.x.from = f.area_min.x;
  f.x_ticks = x_ticks(f);
}

}  // namespace lab::ui::plot
