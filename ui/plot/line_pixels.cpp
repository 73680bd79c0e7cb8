#include "ui/plot/line_pixels.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lab::ui::plot {
namespace {

// Drops points of an unbroken run that are nearer than half a pixel to the one before, which is
// not visible. The first and the last stay.
std::size_t without_close(std::vector<ImVec2>& points, std::size_t begin) {
  constexpr float kClose = 0.5F;
  std::size_t kept = begin;
  for (std::size_t i = begin + 1; i < points.size(); ++i) {
    const ImVec2 step(points[i].x - points[kept].x, points[i].y - points[kept].y);
    const bool last = i + 1 == points.size();
    if (!last && std::abs(step.x) < kClose && std::abs(step.y) < kClose) continue;
    points[++kept] = points[i];
  }
  return std::min(points.size(), kept + 1);
}

// Whether the line goes up and down often enough to cover whole columns.
bool is_noisy(std::span<const ImVec2> points, const AxisMap& x, const AxisMap& y) {
  const double width = std::abs(x.to - x.from);
  if (static_cast<double>(points.size()) < width / 2) return false;
  const double most = std::abs(y.from) + std::abs(y.to);  // a point far off screen counts once
  double travelled = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    travelled += std::min<double>(std::abs(points[i].y - points[i - 1].y), most);
  }
  return travelled > 4 * width;
}

// Drops points of the runs, whose x ascend, where the line without them passes nearer than
// kInvisible to each. The first and the last of a run stay.
void drop_straight(LinePixels& line) {
  constexpr float kInvisible = 0.2F;  // pixels
  std::vector<ImVec2> kept;
  std::size_t begin = 0;
  for (std::size_t& end : line.run_ends) {
    kept.push_back(line.points[begin]);  // the beginning of the stretch in progress
    float least = -1e30F, most = 1e30F;  // slopes from there that pass all of its points
    for (std::size_t i = begin + 1; i < end; ++i) {
      const auto slope = [&, next = line.points[i]](float above) {
        return (next.y + above - kept.back().y) / std::max(next.x - kept.back().x, 1e-6F);
      };
      if (i > begin + 1 && (slope(0) < least || slope(0) > most)) {
        kept.push_back(line.points[i - 1]);
        least = -1e30F;
        most = 1e30F;
      }
      least = std::max(least, slope(-kInvisible));
      most = std::min(most, slope(kInvisible));
    }
    if (end - begin > 1) kept.push_back(line.points[end - 1]);
    begin = end;
    end = kept.size();
  }
  line.points = std::move(kept);
}

}  // namespace

LinePixels line_pixels(const Thinned& line, const AxisMap& x, const AxisMap& y, bool steps) {
  const Pixels x_pixel(x), y_pixel(y);
  LinePixels out;
  out.points.reserve(line.points.size());
  std::size_t begin = 0;
  const auto end_run = [&] {
    if (line.dense && !steps) out.points.resize(without_close(out.points, begin));
    if (out.points.size() > begin) out.run_ends.push_back(out.points.size());
    begin = out.points.size();
  };
  for (const Point& p : line.points) {
    if (!std::isfinite(p.y) || !can_show(x.scale, p.x)) {
      end_run();
      continue;
    }
    const ImVec2 at(x_pixel(p.x), y_pixel(p.y));
    if (steps) {
      // Merges equal values into one stroke: many short ones would look thick.
      while (out.points.size() > begin + 1 && out.points.back().y == at.y &&
             out.points[out.points.size() - 2].y == at.y) {
        out.points.pop_back();
      }
      if (out.points.size() > begin) {
        const ImVec2 last = out.points.back();
        // ImGui draws the neighbours of a segment of length zero too wide.
        if (last.x == at.x && last.y == at.y) continue;
        if (last.x != at.x && last.y != at.y) out.points.emplace_back(at.x, last.y);
      }
    }
    out.points.push_back(at);
  }
  end_run();
  if (steps) return out;
  if (!is_noisy(out.points, x, y)) {
    if (line.dense) drop_straight(out);
    return out;
  }
  begin = 0;
  for (const std::size_t end : out.run_ends) {
    const std::span<const ImVec2> run(out.points.data() + begin, end - begin);
    if (run.size() > 1) {
      const auto strokes = envelope(run, std::min(x.from, x.to) - 1, std::max(x.from, x.to) + 1);
      out.strokes.insert(out.strokes.end(), strokes.begin(), strokes.end());
    }
    begin = end;
  }
  return out;
}

std::vector<Stroke> envelope(std::span<const ImVec2> line, float from, float to) {
  std::vector<Stroke> strokes;
  const auto cover = [&](float column, float y) {
    if (column < std::floor(from) || column > to) return;
    if (strokes.empty() || strokes.back().column != column) strokes.push_back({column, y, y});
    strokes.back().low = std::min(strokes.back().low, y);
    strokes.back().high = std::max(strokes.back().high, y);
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const ImVec2 b = line[i], a = i > 0 ? line[i - 1] : b;
    // The line belongs to the columns on both sides of each edge that it crosses.
    const float first = std::max(std::floor(a.x) + 1, std::floor(from));
    const float last = std::min(std::floor(b.x), std::floor(to) + 1);
    const int edges = first <= last ? static_cast<int>(last - first) + 1 : 0;
    for (int k = 0; k < edges; ++k) {
      const float edge = first + static_cast<float>(k);
      const float y = a.y + (b.y - a.y) * std::max(0.0F, (edge - a.x) / (b.x - a.x));
      cover(edge - 1, y);
      cover(edge, y);
    }
    cover(std::floor(b.x), b.y);
  }
  return strokes;
}

std::shared_ptr<const LinePixels> KeptPixels::of(std::shared_ptr<const Thinned> line,
                                                 const AxisMap& x, const AxisMap& y, bool steps) {
  if (pixels_ && line == line_ && x == x_ && y == y_ && steps == steps_) return pixels_;
  pixels_ = std::make_shared<const LinePixels>(line_pixels(*line, x, y, steps));
  line_ = std::move(line);
  x_ = x;
  y_ = y;
  steps_ = steps;
  return pixels_;
}

}  // namespace lab::ui::plot
