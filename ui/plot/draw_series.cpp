// Lines, bands, bars and markers.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ui/plot/frame.h"
#include "ui/widgets/item.h"

namespace lab::ui::plot {
// --- markers: the shapes that distinguish series where colours do not -----------------------

namespace {

void fill(ImDrawList* list, Marker marker, ImVec2 at, float r, ImU32 color) {
  switch (marker) {
    case Marker::None:
    case Marker::Cross: break;
    case Marker::Circle: list->AddCircleFilled(at, r, color); break;
    case Marker::Square: {
      const float h = r * 0.9F;
      list->AddRectFilled({at.x - h, at.y - h}, {at.x + h, at.y + h}, color);
      break;
    }
    case Marker::Triangle: {
      const float h = r * 1.2F;
      list->AddTriangleFilled({at.x, at.y - h}, {at.x + h, at.y + h * 0.75F},
                              {at.x - h, at.y + h * 0.75F}, color);
      break;
    }
    case Marker::Wedge: {
      const float h = r * 1.2F;
      list->AddTriangleFilled({at.x, at.y + h}, {at.x - h, at.y - h * 0.75F},
                              {at.x + h, at.y - h * 0.75F}, color);
      break;
    }
    case Marker::Diamond: {
      const float h = r * 1.3F;
      list->AddQuadFilled({at.x, at.y - h}, {at.x + h, at.y}, {at.x, at.y + h}, {at.x - h, at.y},
                          color);
      break;
    }
  }
}

void draw_cross(ImDrawList* list, ImVec2 at, float r, ImU32 color, bool upright) {
  const float h = r * 0.95F, w = std::max(1.0F, r * 0.55F);
  if (upright) {
    list->AddLine({at.x - h, at.y}, {at.x + h, at.y}, color, w);
    list->AddLine({at.x, at.y - h}, {at.x, at.y + h}, color, w);
  } else {
    list->AddLine({at.x - h, at.y - h}, {at.x + h, at.y + h}, color, w);
    list->AddLine({at.x - h, at.y + h}, {at.x + h, at.y - h}, color, w);
  }
}

}  // namespace

void draw_marker(ImDrawList* list, Marker marker, ImVec2 at, float r, ImU32 color, ImU32 back,
                 bool hollow) {
  if (marker == Marker::None) return;
  const float rim = std::max(1.0F, r * 0.4F);
  if (marker == Marker::Cross) {
    list->AddCircleFilled(at, r + rim, back);
    draw_cross(list, at, r, color, hollow);
    return;
  }
  // Corners need a wider rim than sides.
  const bool pointed = marker != Marker::Circle && marker != Marker::Square;
  fill(list, marker, at, r + rim * (pointed ? 1.2F : 1.0F), back);
  fill(list, marker, at, r, color);
  if (hollow) fill(list, marker, at, r * 0.5F, back);
}

// --- lines, bands and bars ------------------------------------------------------------------

namespace {

// Alternating lengths of strokes and gaps, in units.
using Pattern = std::array<float, 4>;

Pattern pattern_of(Line line) {
  if (line == Line::Dotted) return {2, 4, 2, 4};
  if (line == Line::DashDot) return {8, 4, 2, 4};
  return {7, 5, 7, 5};
}

ImVec2 between(ImVec2 a, ImVec2 b, float share) {
  return {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
}

// ImGui moves the vertices of a corner along its bisector, where the sides of an acute corner would
// taper off; such a corner therefore ends one polyline and begins the next.
void solid_path(ImDrawList* list, std::span<const ImVec2> points, ImU32 color, float width) {
  std::size_t begin = 0;
  const auto draw_to = [&](std::size_t end) {
    list->AddPolyline(points.data() + begin, static_cast<int>(end - begin), color, 0, width);
  };
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const ImVec2 a = points[i - 1], b = points[i], c = points[i + 1];
    if ((b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) >= 0) continue;
    draw_to(i + 1);
    begin = i;
  }
  draw_to(points.size());
}

void broken_path(ImDrawList* list, std::span<const ImVec2> points, ImU32 color, Line line,
                 float width, float unit) {
  const Pattern pattern = pattern_of(line);
  std::size_t phase = 0;
  float left = pattern[0] * unit;
  std::vector<ImVec2> stroke{points.front()};
  const auto flush = [&] {
    if (stroke.size() > 1) solid_path(list, stroke, color, width);
    stroke.clear();
  };
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ImVec2 a = points[i - 1], b = points[i];
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    float done = 0;
    while (length - done > left) {
      done += left;
      const ImVec2 at = between(a, b, done / length);
      if (phase % 2 == 0) {
        stroke.push_back(at);
        flush();
      } else {
        stroke.assign(1, at);
      }
      phase = (phase + 1) % pattern.size();
      left = pattern[phase] * unit;
    }
    left -= length - done;
    if (phase % 2 == 0) stroke.push_back(b);
  }
  if (phase % 2 == 0) flush();
}

float series_alpha(const Frame& f, const Curve& c) {
  float alpha = c.series->alpha;
  // A dimmed card already dims its plot.
  if (f.options.dimmed && ImGui::GetStyle().Alpha > 0.9F) alpha *= 0.4F;
  if (f.lit && !Frame::belongs(*c.series, *f.lit)) alpha *= 0.25F;
  return alpha;
}

ImU32 series_paint(const Frame& f, const Curve& c, float share = 1) {
  return styled(with_alpha(c.series->color, series_alpha(f, c) * share));
}

bool shows_band(const Frame& f, const BandPoint& p) {
  return can_show(f.x.scale, p.x) && std::isfinite(p.low) && std::isfinite(p.high) &&
         can_show(f.y.scale, p.high);
}

float band_bottom(const Frame& f, const BandPoint& p) {
  return can_show(f.y.scale, p.low) ? f.y.pixel(p.low) : f.area_max.y;
}

void draw_whisker(const Frame& f, const Curve& c, const BandPoint& p, ImDrawList* list) {
  if (!shows_band(f, p)) return;
  const ImU32 color = series_paint(f, c, 0.7F);
  const float cap = f.ui.px(4), width = std::max(1.0F, f.ui.px(1.3F));
  const float x = f.x.pixel(p.x), high = f.y.pixel(p.high), low = band_bottom(f, p);
  list->AddLine({x, high}, {x, low}, color, width);
  for (const float end : {high, low}) list->AddLine({x - cap, end}, {x + cap, end}, color, width);
}

void draw_whiskers(const Frame& f, const Curve& c, ImDrawList* list) {
  for (const BandPoint& p : c.band) draw_whisker(f, c, p, list);
}

void draw_unsteady(const Frame& f, const Curve& c, ImDrawList* list) {
  const Series& s = *c.series;
  const ImU32 color = styled(with_alpha(f.ui.theme->warning, series_alpha(f, c)));
  for (std::size_t i = 0; i < std::min(s.unsteady.size(), s.x.size()); ++i) {
    if (s.unsteady[i] == 0 || !std::isfinite(s.y[i])) continue;
    if (!can_show(f.x.scale, s.x[i]) || !can_show(f.y.scale, s.y[i])) continue;
    if (s.band && i < s.low.size()) draw_whisker(f, c, {s.x[i], s.low[i], s.high[i]}, list);
    list->AddCircle({f.x.pixel(s.x[i]), f.y.pixel(s.y[i])}, f.ui.px(5.5F), color, 0, f.ui.px(1.6F));
  }
}

void draw_band(const Frame& f, const Curve& c, ImDrawList* list) {
  if (!c.series->band) return;
  if (c.series->whiskers) return draw_whiskers(f, c, list);
  const ImU32 color = series_paint(f, c, 0.16F);
  const ImDrawListFlags flags = list->Flags;
  list->Flags &= ~ImDrawListFlags_AntiAliasedFill;  // no seams between neighbours
  for (std::size_t i = 1; i < c.band.size(); ++i) {
    const BandPoint &a = c.band[i - 1], &b = c.band[i];
    if (!shows_band(f, a) || !shows_band(f, b)) continue;
    const float ax = f.x.pixel(a.x), bx = f.x.pixel(b.x);
    list->AddQuadFilled({ax, f.y.pixel(a.high)}, {bx, f.y.pixel(b.high)}, {bx, band_bottom(f, b)},
                        {ax, band_bottom(f, a)}, color);
  }
  list->Flags = flags;
}

// Width of a bar in pixels and its offset from x: bars of several series are placed side by side.
struct BarPlace {
  float width = 0, shift = 0;
};

BarPlace bar_place(const Frame& f, const Curve& curve) {
  float gap = f.area_max.x - f.area_min.x, count = 0, rank = 0;
  for (const Curve& c : f.curves) {
    if (!c.series->bars) continue;
    if (&c == &curve) rank = count;
    ++count;
    for (std::size_t i = 1; i < c.line->points.size(); ++i) {
      const float step = f.x.pixel(c.line->points[i].x) - f.x.pixel(c.line->points[i - 1].x);
      if (step > 0.5F) gap = std::min(gap, step);
    }
  }
  const float group = std::min(gap * 0.72F, f.ui.px(64) * count);
  const float width = std::max(1.0F, group / std::max(1.0F, count));
  return {width, (rank + 0.5F) * width - group / 2};
}

void draw_bars(const Frame& f, const Curve& c, ImDrawList* list) {
  const BarPlace place = bar_place(f, c);
  const float base = f.y.scale == Scale::Linear
                         ? std::clamp(f.y.pixel(0), f.area_min.y, f.area_max.y)
                         : f.area_max.y;
  const float radius = place.width > f.ui.px(8) ? f.ui.px(2) : 0;
  for (const Point& p : c.line->points) {
    if (!std::isfinite(p.y) || !can_show(f.x.scale, p.x)) continue;
    const float x = f.x.pixel(p.x) + place.shift, y = f.y.pixel(p.y);
    const float half = std::max(0.5F, place.width / 2 - f.ui.px(0.5F));
    const bool up = y <= base;
    list->AddRectFilled({std::round(x - half), std::min(y, base)},
                        {std::round(x + half), std::max(y, base)}, series_paint(f, c, 0.85F),
                        radius, up ? ImDrawFlags_RoundCornersTop : ImDrawFlags_RoundCornersBottom);
  }
}

bool markers_fit(const Frame& f, const Curve& c) {
  if (c.line->dense || c.series->marker == Marker::None) return false;
  const float width = f.area_max.x - f.area_min.x;
  return static_cast<float>(c.line->points.size()) * f.ui.px(7) <= width;
}

// Strokes do not overlap, so translucent colours stay even.
void draw_strokes(const Frame& f, const Curve& c, std::span<const Stroke> strokes,
                  ImDrawList* list) {
  constexpr std::size_t kAtOnce = 4096;  // an index of a vertex may have 16 bits
  const ImU32 color = series_paint(f, c);
  const float half = std::max(0.5F, f.ui.px(c.series->width) / 2);
  for (; !strokes.empty(); strokes = strokes.subspan(std::min(strokes.size(), kAtOnce))) {
    const auto some = strokes.first(std::min(strokes.size(), kAtOnce));
    list->PrimReserve(static_cast<int>(some.size() * 6), static_cast<int>(some.size() * 4));
    for (const Stroke& s : some) {
      list->PrimRect({s.column, s.low - half}, {s.column + 1, s.high + half}, color);
    }
  }
}

void draw_line(const Frame& f, const Curve& c, ImDrawList* list) {
  const LinePixels& pixels = *c.pixels;
  // ImGui draws lines of a whole width with half as many vertices.
  const float wanted = std::max(1.0F, f.ui.px(c.series->width));
  const float width = c.line->dense ? std::round(wanted) : wanted;
  const ImU32 color = series_paint(f, c);
  const bool markers = markers_fit(f, c);
  // Dashes between points closer than a dash would only cut the line into pieces.
  const Line pattern = c.line->dense ? Line::Solid : c.series->line;
  draw_strokes(f, c, pixels.strokes, list);
  std::size_t begin = 0;
  for (const std::size_t end : pixels.run_ends) {
    const std::span<const ImVec2> run(pixels.points.data() + begin, end - begin);
    begin = end;
    if (run.size() == 1 && !markers) {
      list->AddCircleFilled(run.front(), std::max(width, f.ui.px(2.5F)), color);
    } else if (pixels.strokes.empty()) {
      draw_path(list, run, color, pattern, width, f.ui.scale);
    }
  }
  if (!markers) return;
  for (const Point& p : c.line->points) {
    if (!std::isfinite(p.y) || !can_show(f.x.scale, p.x)) continue;
    draw_marker(list, c.series->marker, {f.x.pixel(p.x), f.y.pixel(p.y)}, f.ui.px(3.5F), color,
                styled(f.ui.theme->card), c.series->hollow);
  }
}

}  // namespace

void draw_path(ImDrawList* list, std::span<const ImVec2> points, ImU32 color, Line line,
               float width, float unit) {
  if (points.size() < 2) return;
  if (line == Line::Solid) {
    solid_path(list, points, color, width);
  } else {
    broken_path(list, points, color, line, width, unit);
  }
}

void draw_swatch(const Frame& f, const Series& s, ImVec2 at, float width, ImU32 color) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Ui& ui = f.ui;
  if (s.bars) {
    const float half = ui.px(5), x = at.x + width / 2;
    list->AddRectFilled({x - half, at.y - half}, {x + half, at.y + half}, color, ui.px(2));
    return;
  }
  const float y = std::floor(at.y) + 0.5F;
  const std::array<ImVec2, 2> ends{ImVec2(at.x, y), ImVec2(at.x + width, y)};
  const float thick = std::max(1.0F, ui.px(std::max(s.width, 1.8F)));
  draw_path(list, ends, color, s.line, thick, ui.scale * 0.7F);
  draw_marker(list, s.marker, {at.x + width / 2, y}, ui.px(3.2F), color, styled(ui.theme->card),
              s.hollow);
}

void draw_curves(const Frame& f) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float rim = f.ui.px(5);  // keeps markers on the edge whole
  list->PushClipRect({f.area_min.x - rim, f.area_min.y - rim},
                     {f.area_max.x + rim, f.area_max.y + (f.x.scale == Scale::Linear ? 1 : rim)},
                     true);
  for (const Curve& c : f.curves) draw_band(f, c, list);
  for (const Curve& c : f.curves) {
    if (c.series->bars) {
      draw_bars(f, c, list);
    } else {
      draw_line(f, c, list);
      draw_unsteady(f, c, list);
    }
  }
  list->PopClipRect();
}

}  // namespace lab::ui::plot
