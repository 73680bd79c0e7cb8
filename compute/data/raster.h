#pragma once
// Fills polygons on the 28x28 grid with exact area coverage, which anti-aliases their edges.
// Method  Each edge adds its signed area to the cells it crosses; a running sum along the row
//         then gives the coverage (as in FreeType's smooth rasterizer).
#include <array>
#include <span>

namespace lab {

inline constexpr int kImageSide = 28;

struct Point {
  float x = 0, y = 0;
};

class Coverage {
 public:
  using Row = std::array<float, kImageSide>;

  // Replaces the mask with that of a closed polygon in pixel coordinates, clipped to the image.
  void fill(std::span<const Point> polygon);

  // Rows outside [first_row, end_row) are empty.
  int first_row() const { return first_row_; }
  int end_row() const { return end_row_; }
  // 0 (outside) to 1 (inside).
  const Row& row(int y) const { return cover_[static_cast<std::size_t>(y)]; }

 private:
  void add_edge(Point a, Point b);
  void add_row(int y, float height, float x0, float x1);

  // Two extra cells: an edge on the right border still adds to its own cell and the next.
  std::array<std::array<float, kImageSide + 2>, kImageSide> area_{};
  std::array<Row, kImageSide> cover_{};
  int first_row_ = 0, end_row_ = 0;
};

}  // namespace lab
