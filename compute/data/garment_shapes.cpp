#include "compute/data/garment_shapes.h"

#include <cmath>

namespace lab {

std::vector<Point> mirrored(std::vector<Point> right_half) {
  const std::size_t n = right_half.size();
  for (std::size_t i = n; i-- > 0;) {
    const Point p = right_half[i];
    if (p.x != 0) right_half.push_back({-p.x, p.y});
  }
  return right_half;
}

std::vector<Point> flipped(std::vector<Point> outline) {
  for (Point& p : outline) p.x = -p.x;
  return outline;
}

std::vector<Point> strip(const std::vector<Point>& line, float width) {
  const std::size_t n = line.size();
  std::vector<Point> outline(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Point before = line[i > 0 ? i - 1 : 0], after = line[i + 1 < n ? i + 1 : i];
    const float dx = after.x - before.x, dy = after.y - before.y;
    const float scale = width / 2 / std::sqrt(dx * dx + dy * dy + 1e-12F);
    outline[i] = {line[i].x - dy * scale, line[i].y + dx * scale};
    outline[2 * n - 1 - i] = {line[i].x + dy * scale, line[i].y - dx * scale};
  }
  return outline;
}

std::vector<Point> rounded(const std::vector<Point>& outline) {
  std::vector<Point> result;
  result.reserve(2 * outline.size());
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Point a = outline[i], b = outline[i + 1 == outline.size() ? 0 : i + 1];
    result.push_back({0.75F * a.x + 0.25F * b.x, 0.75F * a.y + 0.25F * b.y});
    result.push_back({0.25F * a.x + 0.75F * b.x, 0.25F * a.y + 0.75F * b.y});
  }
  return result;
}

std::vector<Point> arch(Point centre, float half_width, float height) {
  constexpr int kSteps = 8;
  std::vector<Point> line;
  line.reserve(kSteps + 1);
  for (int i = 0; i <= kSteps; ++i) {
    // The tangent of half the angle runs from -1 to 1: a half ellipse without sin or cos.
    const float t = 2.0F * static_cast<float>(i) / kSteps - 1;
    const float d = 1 + t * t;
    line.push_back({centre.x + half_width * 2 * t / d, centre.y - height * (1 - t * t) / d});
  }
  return line;
}

Garment draw_garment(int label, Draws& draws) {
  switch (label) {
    case 1: return draw_trouser(draws);
    case 3: return draw_dress(draws);
    case 5: return draw_sandal(draws);
    case 7: return draw_sneaker(draws);
    case 8: return draw_bag(draws);
    case 9: return draw_ankle_boot(draws);
    default: return draw_top(label, draws);
  }
}

}  // namespace lab
