#include "compute/data/raster.h"

#include <algorithm>
#include <cmath>

namespace lab {

void Coverage::fill(std::span<const Point> polygon) {
  float top = kImageSide, bottom = 0;
  for (const Point p : polygon) {
    top = std::min(top, p.y);
    bottom = std::max(bottom, p.y);
  }
  first_row_ = static_cast<int>(std::clamp(top, 0.0F, float{kImageSide}));
  end_row_ = static_cast<int>(std::ceil(std::clamp(bottom, 0.0F, float{kImageSide})));
  for (int y = first_row_; y < end_row_; ++y) area_[static_cast<std::size_t>(y)].fill(0);
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    add_edge(polygon[i], polygon[i + 1 == polygon.size() ? 0 : i + 1]);
  }
  for (int y = first_row_; y < end_row_; ++y) {
    const auto& area = area_[static_cast<std::size_t>(y)];
    Row& cover = cover_[static_cast<std::size_t>(y)];
    float sum = 0;
    for (std::size_t x = 0; x < kImageSide; ++x) {
      sum += area[x];
      cover[x] = std::min(std::abs(sum), 1.0F);
    }
  }
}

void Coverage::add_edge(Point a, Point b) {
  if (a.y == b.y) return;
  const float sign = a.y < b.y ? 1.0F : -1.0F;
  if (sign < 0) std::swap(a, b);
  const float slope = (b.x - a.x) / (b.y - a.y);
  const float top = std::max(a.y, 0.0F), bottom = std::min(b.y, float{kImageSide});
  for (int y = static_cast<int>(top); static_cast<float>(y) < bottom; ++y) {
    const float y0 = std::max(top, static_cast<float>(y));
    const float y1 = std::min(bottom, static_cast<float>(y + 1));
    add_row(y, sign * (y1 - y0), a.x + (y0 - a.y) * slope, a.x + (y1 - a.y) * slope);
  }
}

// Adds the part of an edge within one row, from x0 to x1. The height that the edge covers in each
// cell is split between that cell and the next by the edge's midpoint in the cell.
void Coverage::add_row(int y, float height, float x0, float x1) {
  auto& area = area_[static_cast<std::size_t>(y)];
  x0 = std::clamp(x0, 0.0F, float{kImageSide});
  x1 = std::clamp(x1, 0.0F, float{kImageSide});
  const float left = std::min(x0, x1), right = std::max(x0, x1);
  const int first = static_cast<int>(left), last = static_cast<int>(right);
  if (first == last) {
    const float middle = (left + right) / 2 - static_cast<float>(first);
    area[static_cast<std::size_t>(first)] += height * (1 - middle);
    area[static_cast<std::size_t>(first) + 1] += height * middle;
    return;
  }
  const float per_cell = height / (right - left);
  for (int x = first; x <= last; ++x) {
    const float from = std::max(left, static_cast<float>(x));
    const float to = std::min(right, static_cast<float>(x + 1));
    const float share = per_cell * (to - from);
    const float middle = (from + to) / 2 - static_cast<float>(x);
    area[static_cast<std::size_t>(x)] += share * (1 - middle);
    area[static_cast<std::size_t>(x) + 1] += share * middle;
  }
}

}  // namespace lab
