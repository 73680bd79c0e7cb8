#pragma once
// Turns outlines into one 28x28 picture: pose, cloth, light, background, things in the way.
#include <array>
#include <cstdint>
#include <span>

#include "compute/data/draws.h"
#include "compute/data/garment_shapes.h"
#include "compute/data/raster.h"

namespace lab {

class GarmentPainter {
 public:
  static constexpr std::size_t kPixels = kImageSide * kImageSide;

  // Paints a garment of class `label`, drawing everything it needs from `draws`.
  void paint(int label, Draws& draws, std::span<std::uint8_t, kPixels> out);

 private:
  using Plane = std::array<float, kPixels>;

  void draw_background(Draws& draws);
  void draw_cloth(Draws& draws);
  void add_patch(std::span<const Point> pixels, float shade, bool textured);
  void add_occlusion(Draws& draws);
  void finish(Draws& draws, std::span<std::uint8_t, kPixels> out) const;

  Plane canvas_{};  // 0 black to 1 white
  Plane cloth_{};   // brightness of the cloth where it would cover a pixel
  Coverage coverage_;
  std::vector<Point> posed_;
};

}  // namespace lab
