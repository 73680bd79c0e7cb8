#pragma once
// Outlines of the ten garments, drawn at random within what makes each one recognisable.
#include <vector>

#include "compute/data/draws.h"
#include "compute/data/raster.h"

namespace lab {

// One piece of cloth. Patches are painted in order, later ones over earlier ones.
struct Patch {
  std::vector<Point> outline;  // x to the right and y down, the garment within [-1, 1]
  float shade = 1;             // times the garment's own brightness; 0 cuts a hole
};
using Garment = std::vector<Patch>;

// `label` as in fashion_class_names().
Garment draw_garment(int label, Draws& draws);

// The families; draw_garment() chooses among them.
Garment draw_top(int label, Draws& draws);  // t-shirt, pullover, coat, shirt
Garment draw_dress(Draws& draws);
Garment draw_trouser(Draws& draws);
Garment draw_bag(Draws& draws);
Garment draw_sandal(Draws& draws);
Garment draw_sneaker(Draws& draws);
Garment draw_ankle_boot(Draws& draws);

// Building blocks.
// The right half of a symmetric outline, from the top of the middle to its bottom, made whole.
std::vector<Point> mirrored(std::vector<Point> right_half);
std::vector<Point> flipped(std::vector<Point> outline);  // x becomes -x
// A strip along a line, `width` wide.
std::vector<Point> strip(const std::vector<Point>& line, float width);
// Cuts each corner once (Chaikin), which rounds the outline.
std::vector<Point> rounded(const std::vector<Point>& outline);
// An arc of an ellipse from the left end over the top to the right end.
std::vector<Point> arch(Point centre, float half_width, float height);

}  // namespace lab
