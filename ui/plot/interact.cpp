// Mouse interaction in the data area.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/language.h"
#include "ui/plot/frame.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui::plot {
// --- pan, zoom, box and reset ---------------------------------------------------------------

namespace {

constexpr float kDragStart = 4;      // pixels before a press becomes a drag
constexpr double kWheelStep = 0.85;  // zooms in by one notch

float axis_share(const AxisMap& map, float pixels) {
  return pixels / (map.to - map.from);
}

void keep_view(Frame& f) {
  f.state.x = f.x.range;
  f.state.y = f.y.range;
}

void pan(Frame& f, ImVec2 by) {
  f.state.x = panned(f.x.scale, f.x.range, -axis_share(f.x, by.x));
  f.state.y = panned(f.y.scale, f.y.range, -axis_share(f.y, by.y));
}

// Only with Ctrl; otherwise the wheel scrolls the page. Alt leaves y unchanged, Shift leaves x.
void wheel(Frame& f, ImVec2 mouse, float notches) {
  const double factor = std::pow(kWheelStep, static_cast<double>(notches));
  const ImGuiIO& io = ImGui::GetIO();
  keep_view(f);
  if (!io.KeyShift) {
    f.state.x = zoomed(f.x.scale, f.x.range, f.x.value(mouse.x), factor);
  }
  if (!io.KeyAlt) f.state.y = zoomed(f.y.scale, f.y.range, f.y.value(mouse.y), factor);
}

// Shift turns a vertical wheel into a horizontal one on some systems.
float notches_of(const ImGuiIO& io) {
  return io.MouseWheel != 0 ? io.MouseWheel : io.MouseWheelH;
}

ImVec2 inside(const Frame& f, ImVec2 p) {
  return {std::clamp(p.x, f.area_min.x, f.area_max.x), std::clamp(p.y, f.area_min.y, f.area_max.y)};
}

// A box that is thin in one direction zooms only in the other.
void apply_box(Frame& f, ImVec2 a, ImVec2 b) {
  const float least = f.ui.px(8);
  const bool wide = std::abs(a.x - b.x) >= least, tall = std::abs(a.y - b.y) >= least;
  if (!wide && !tall) return;
  keep_view(f);
  if (wide) {
    f.state.x =
        showable_range(f.x.scale, {f.x.value(std::min(a.x, b.x)), f.x.value(std::max(a.x, b.x))});
  }
  if (tall) {
    f.state.y =
        showable_range(f.y.scale, {f.y.value(std::max(a.y, b.y)), f.y.value(std::min(a.y, b.y))});
  }
}

bool dragging(ImGuiMouseButton button, const Ui& ui) {
  return ImGui::IsMouseDragging(button, ui.px(kDragStart));
}

void left_button(Frame& f, bool held) {
  const ImGuiIO& io = ImGui::GetIO();
  if (f.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    f.state.x.reset();
    f.state.y.reset();
    f.state.panning = false;
    return;
  }
  if (!held || !ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    f.state.panning = false;
    return;
  }
  if (!f.state.panning && dragging(ImGuiMouseButton_Left, f.ui)) {
    f.state.panning = true;
    pan(f, ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0));
  } else if (f.state.panning && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
    pan(f, io.MouseDelta);
  }
}

void right_button(Frame& f, bool held) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (f.hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Right)) {
    f.state.box_start = inside(f, mouse);
  }
  if (held && dragging(ImGuiMouseButton_Right, f.ui)) f.state.boxing = true;
  if (!ImGui::IsMouseReleased(ImGuiMouseButton_Right)) return;
  if (f.state.boxing) {
    apply_box(f, f.state.box_start, inside(f, mouse));
    f.state.boxing = false;
  } else if (f.hovered) {
    ImGui::OpenPopup((f.path + "/menu").c_str());
  }
}

}  // namespace

void interact(Frame& f) {
  const std::string name = f.path + "/area";
  const ImGuiID id = ImGui::GetID(name.c_str());
  const ImRect box(f.area_min, f.area_max);
  if (!ImGui::ItemAdd(box, id)) return;
  bool held = false;
  const bool pressed =
      ImGui::ButtonBehavior(box, id, &f.hovered, &held,
                            ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  f.hovered = f.hovered && ImGui::IsMouseHoveringRect(box.Min, box.Max);
  focus_ring(f.ui, {.min = f.min, .max = f.max, .id = id, .visible = true}, f.ui.px(4));
  const auto x_before = f.state.x, y_before = f.state.y;
  const ImGuiIO& io = ImGui::GetIO();
  const bool by_key = pressed && !ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
                      !ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  if (by_key || enter_pressed_on(id)) ImGui::OpenPopup((f.path + "/menu").c_str());
  if (f.hovered && io.KeyCtrl) {
    claim_wheel();
    if (notches_of(io) != 0) wheel(f, io.MousePos, notches_of(io));
  }
  left_button(f, held);
  right_button(f, held);
  if (x_before != f.state.x || y_before != f.state.y) f.ui.wants_animation = true;
}

void draw_box(const Frame& f) {
  if (!f.state.boxing) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 a = f.state.box_start, b = inside(f, ImGui::GetIO().MousePos);
  const ImVec2 min(std::min(a.x, b.x), std::min(a.y, b.y));
  const ImVec2 max(std::max(a.x, b.x), std::max(a.y, b.y));
  list->AddRectFilled(min, max, with_alpha(f.ui.theme->accent, 0.12F));
  list->AddRect(min, max, with_alpha(f.ui.theme->accent, 0.8F), 0, 0,
                std::max(1.0F, std::floor(f.ui.scale)));
}

// --- nearest point, its tooltip, and the cursor that charts share ---------------------------

namespace {

constexpr float kReach = 40;  // units around the pointer

struct Candidate {
  Point point;
  float distance = FLT_MAX;  // squared, weighted
  ImVec2 at{0, 0};
};

// Searches the drawn points to both sides of the pointer, as long as one can be nearer than `most`.
// Without a point within `reach`, the next on each side counts; beyond the ends of a curve, none.
Candidate nearest_in(const Frame& f, std::span<const Point> points, ImVec2 mouse, float reach,
                     float most) {
  constexpr float kAcross = 3;  // weight of horizontal distance: curves are read above the pointer
  Candidate best{.point = {}, .distance = most};
  const Pixels x_pixel(f.x), y_pixel(f.y);
  // Returns whether the next point may be nearer.
  const auto consider = [&](std::size_t i) {
    const Point& p = points[i];
    if (!can_show(f.x.scale, p.x)) return true;
    const float at = x_pixel(p.x), dx = kAcross * (at - mouse.x);
    if (dx * dx >= best.distance) return false;
    if (!can_show(f.y.scale, p.y) || at < f.area_min.x - 1 || at > f.area_max.x + 1) return true;
    const float y = y_pixel(p.y), dy = y - mouse.y;
    if (dx * dx + dy * dy < best.distance) best = {p, dx * dx + dy * dy, {at, y}};
    return true;
  };
  const auto below = [&](float x) {
    return static_cast<std::size_t>(std::ranges::lower_bound(points, f.x.value(x), {}, &Point::x) -
                                    points.begin());
  };
  const std::size_t first = below(mouse.x - reach), last = below(mouse.x + reach);
  if (first == last && first > 0 && last < points.size()) {
    consider(first - 1);
    consider(last);
  }
  const std::size_t middle = below(mouse.x);
  for (std::size_t i = middle; i < last && consider(i); ++i) {
  }
  for (std::size_t i = middle; i > first && consider(i - 1); --i) {
  }
  return best;
}

// The position in the series of a point that is drawn; some position if x does not ascend.
std::size_t position_of(const Series& s, const Point& point) {
  const auto x = s.x.first(std::min(s.x.size(), s.y.size()));
  const auto [from, to] = std::equal_range(x.begin(), x.end(), point.x);
  const auto first = static_cast<std::size_t>(from - x.begin());
  const auto same_x = s.y.subspan(first, static_cast<std::size_t>(to - from));
  const auto at = std::find(same_x.begin(), same_x.end(), point.y);
  const auto after = at == same_x.end() ? 0 : static_cast<std::size_t>(at - same_x.begin());
  return std::min(first + after, x.size() - 1);
}

double pointer_x(const Frame& f) {
  return f.x.value(ImGui::GetIO().MousePos.x);
}

std::string value_text(const Axis& axis, double value) {
  if (axis.percent) return axis_text(100 * value, "%", false, false);
  return axis_text(value, axis.unit, axis.binary, axis.whole);
}

void vertical_line(const Frame& f, double x) {
  if (!can_show(f.x.scale, x)) return;
  const float at = std::floor(f.x.pixel(x)) + 0.5F;
  if (at < f.area_min.x || at > f.area_max.x) return;
  ImGui::GetWindowDrawList()->AddLine({at, f.area_min.y}, {at, f.area_max.y},
                                      styled(with_alpha(f.ui.theme->muted, 0.55F)),
                                      std::max(1.0F, std::floor(f.ui.scale)));
}

// The point of a series, which has some, that is nearest to x.
std::size_t index_near(const Series& s, double x) {
  const auto xs = s.x.first(std::min(s.x.size(), s.y.size()));
  auto at = std::lower_bound(xs.begin(), xs.end(), x);
  if (at == xs.end() || (at != xs.begin() && x - *(at - 1) < *at - x)) --at;
  return static_cast<std::size_t>(at - xs.begin());
}

constexpr float kPale = 0.6F;  // raw data behind a curve have a lower alpha

// A dot on each curve at the cursor position of another plot.
void cursor_dots(const Frame& f, double x) {
  if (!can_show(f.x.scale, x) || x < f.x.range.min || x > f.x.range.max) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const Curve& c : f.curves) {
    const Series& s = *c.series;
    if (s.bars || s.alpha < kPale) continue;
    const auto xs = s.x.first(std::min(s.x.size(), s.y.size()));
    const std::size_t at = index_near(s, x);
    const double y = s.y[at];
    if (!can_show(f.y.scale, y) || !can_show(f.x.scale, xs[at])) continue;
    const ImVec2 p(f.x.pixel(xs[at]), f.y.pixel(y));
    if (p.x < f.area_min.x || p.x > f.area_max.x || p.y < f.area_min.y || p.y > f.area_max.y) {
      continue;
    }
    draw_marker(list, Marker::Circle, p, f.ui.px(3), styled(s.color), styled(f.ui.theme->card));
  }
}

struct Pick {
  std::size_t series = 0, point = 0;
  ImVec2 at{0, 0};
};

std::optional<Pick> nearest(const Frame& f, ImVec2 mouse) {
  std::optional<Pick> found;
  float best = FLT_MAX;
  for (const Curve& c : f.curves) {
    // Pale raw data yields to the curve drawn on top of it.
    const float weight = c.series->alpha < kPale ? 2.25F : 1;
    const float most = best / weight;
    const Candidate candidate = nearest_in(f, c.line->points, mouse, f.ui.px(kReach), most);
    if (candidate.distance >= most) continue;
    best = candidate.distance * weight;
    found = Pick{
        .series = c.index, .point = position_of(*c.series, candidate.point), .at = candidate.at};
  }
  return found;
}

// Where the reader looks: at the point that the tooltip describes, or at the pointer without one.
double read_x(const Frame& f, const std::optional<Pick>& pick) {
  return pick ? f.series[pick->series].x[pick->point] : pointer_x(f);
}

std::string describe(const Frame& f, const Pick& pick) {
  const Series& s = f.series[pick.series];
  if (s.describe) return s.describe(pick.point);
  const std::string x = value_text(f.axes.x, s.x[pick.point]);
  const std::string y = value_text(f.axes.y, s.y[pick.point]);
  std::string text = s.label;
  add_row(text, f.axes.x.label.empty() ? "x" : f.axes.x.label, x);
  add_row(text, f.axes.y.label.empty() ? "y" : f.axes.y.label, y);
  if (pick.point < s.low.size() && pick.point < s.high.size()) {
    add_row(text, tr("range"),
            trf("{} to {}", value_text(f.axes.y, s.low[pick.point]),
                value_text(f.axes.y, s.high[pick.point])));
  }
  return text;
}

// Adds a row for each curve that has a value at x, if there are several, and returns them.
std::vector<const Series*> add_all(const Frame& f, double x, std::string& text) {
  std::vector<const Series*> listed;
  std::string rows;
  for (const Curve& c : f.curves) {
    const Series& s = *c.series;
    const auto xs = s.x.first(std::min(s.x.size(), s.y.size()));
    if (s.bars || s.alpha < kPale || x < xs.front() || x > xs.back()) continue;
    const double y = s.y[index_near(s, x)];
    if (!std::isfinite(y)) continue;
    listed.push_back(&s);
    add_row(rows, s.label, value_text(f.axes.y, y));
  }
  if (listed.size() < 2) return {};
  text.append("\n\n").append(rows);
  return listed;
}

// Whether a tip is so large that it would hide the curve that it explains.
bool hides_plot(const Frame& f, ImVec2 size) {
  constexpr float kMost = 0.5F;  // of the height of the data
  return size.y > kMost * (f.area_max.y - f.area_min.y);
}

// Above the plot, below or beside it, where the screen has room; nullopt: nowhere.
std::optional<ImVec2> corner_outside(const Frame& f, ImVec2 near, ImVec2 size, float away,
                                     float edge) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float above = f.area_min.y - away - size.y, below = f.max.y + edge;
  if (above >= edge) return ImVec2(near.x, above);
  if (below + size.y <= screen.y - edge) return ImVec2(near.x, below);
  const float right = f.max.x + away, left = f.min.x - away - size.x;
  if (right + size.x <= screen.x - edge) return ImVec2(right, near.y);
  if (left >= edge) return ImVec2(left, near.y);
  return std::nullopt;
}

// Beside the pointer and the point, on the side where the plot has more room. A large tip is
// outside the plot, if there is room.
ImVec2 tip_corner(const Frame& f, ImVec2 at, ImVec2 size) {
  constexpr float kAway = 14, kEdge = 4;  // units
  const Ui& ui = f.ui;
  const ImVec2 mouse = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
  const float away = ui.px(kAway), edge = ui.px(kEdge);
  const float left = std::min(mouse.x, at.x) - away - size.x,
              right = std::max(mouse.x, at.x) + away;
  const bool leftwards = at.x > (f.area_min.x + f.area_max.x) / 2;
  const bool fits_left = left >= edge, fits_right = right + size.x <= screen.x - edge;
  const float x = fits_left && (leftwards || !fits_right) ? left : right;
  const ImVec2 near{
      std::clamp(x, edge, std::max(edge, screen.x - edge - size.x)),
      std::clamp(mouse.y - size.y / 2, edge, std::max(edge, screen.y - edge - size.y))};
  if (!hides_plot(f, size)) return near;
  return corner_outside(f, near, size, away, edge).value_or(near);
}

}  // namespace

void tooltip(Frame& f) {
  LinkedCursor* cursor = f.options.cursor;
  if (!f.hovered || f.empty() || f.state.panning || f.state.boxing) return;
  if (pointer_rests(f.ui)) return;
  const auto pick = nearest(f, ImGui::GetIO().MousePos);
  if (cursor != nullptr) {
    cursor->next = read_x(f, pick);
    if (cursor->x != cursor->next) f.ui.wants_animation = true;
  }
  if (!pick) return;
  const Series& s = f.series[pick->series];
  Ui& ui = f.ui;
  draw_marker(ImGui::GetWindowDrawList(), Marker::Circle, pick->at, ui.px(4.5F), s.color,
              ui.theme->card);
  std::string text = describe(f, *pick);
  const auto own_rows = static_cast<std::size_t>(std::ranges::count(text, '\t'));
  std::vector<const Series*> all;
  if (f.options.lists_all) all = add_all(f, s.x[pick->point], text);
  const std::string path = f.path + "/tooltip";
  const auto swatch = [&](const Series& one, ImVec2 at) {
    draw_swatch(f, one, at, ui.px(16), one.color);
  };
  const Tooltip tip{.text = text,
                    .path = path,
                    .label = s.label,
                    .mark = ui.px(24),
                    .draw_mark = [&](ImVec2 at) { swatch(s, at); },
                    .draw_row_mark =
                        [&](std::size_t row, ImVec2 at) {
                          if (row >= own_rows && row - own_rows < all.size()) {
                            swatch(*all[row - own_rows], at);
                          }
                        }};
  show_tooltip(ui, tip, tip_corner(f, pick->at, tooltip_size(ui, tip)));
}

void draw_cursor(const Frame& f) {
  if (f.empty()) return;
  if (f.hovered && !f.state.boxing) {
    vertical_line(f, read_x(f, nearest(f, ImGui::GetIO().MousePos)));
    return;
  }
  const LinkedCursor* cursor = f.options.cursor;
  if (cursor == nullptr || !cursor->x) return;
  vertical_line(f, *cursor->x);
  cursor_dots(f, *cursor->x);
}

}  // namespace lab::ui::plot
