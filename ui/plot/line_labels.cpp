#include "ui/plot/line_labels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ui/plot/frame.h"
#include "ui/widgets/item.h"

namespace lab::ui::plot {
namespace {

constexpr int kPointCounts = 8;  // a point alone is hidden whole, a line only in part

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
  for (const Point& p : c.line.points) {
    if (can_show(f.x.scale, p.x) && can_show(f.y.scale, p.y)) {
      path.emplace_back(f.x.pixel(p.x), f.y.pixel(p.y));
    }
  }
  return path;
}

}  // namespace

// Cuts the segment with each side in turn (Liang and Barsky).
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
