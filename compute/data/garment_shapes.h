#pragma once
// Outlines of the ten garment classes, drawn at random within the limits of each class.
#include <cstdint>
#include <vector>

#include "compute/core/random_bits.h"
#include "compute/data/raster.h"
#include "compute/tensor/random.h"

namespace lab {

// A sequence of random draws for one synthetic image. It depends only on seed, stream and image, so
// that any image can be generated on its own.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint32_t stream, std::uint64_t image)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, static_cast<std::uint32_t>(image), static_cast<std::uint32_t>(image >> 32),
                 stream} {}

  std::uint32_t bits() {
    if (next_ == words_.size()) refill();
    return words_[next_++];
  }
  // Uniform in [low, high).
  float uniform(float low, float high) {
    return low + (high - low) * (static_cast<float>(bits() >> 8) * 0x1p-24F);
  }
  bool chance(float probability) { return uniform(0, 1) < probability; }
  // Uniform in [0, n).
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{bits()} * n) >> 32);
  }

 private:
  void refill() {
    words_ = random::philox4x32(counter_, key_);
    ++counter_[0];
    next_ = 0;
  }

  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter words_{};
  std::size_t next_ = words_.size();
};

// One piece of cloth. Patches are painted in order; later ones cover earlier ones.
struct Patch {
  std::vector<Point> outline;  // x to the right, y down; the garment is within [-1, 1]
  float shade = 1;             // times the garment's brightness; 0 cuts a hole
};
using Garment = std::vector<Patch>;

// `label` is an index into fashion_class_names().
Garment draw_garment(int label, Draws& draws);

// Garment families, from which draw_garment() chooses.
Garment draw_top(int label, Draws& draws);  // t-shirt, pullover, coat, shirt
Garment draw_dress(Draws& draws);
Garment draw_trouser(Draws& draws);
Garment draw_bag(Draws& draws);
Garment draw_sandal(Draws& draws);
Garment draw_sneaker(Draws& draws);
Garment draw_ankle_boot(Draws& draws);

// Building blocks.
// Completes a symmetric outline from its right half, given from the top centre to the bottom
// centre.
std::vector<Point> mirrored(std::vector<Point> right_half);
std::vector<Point> flipped(std::vector<Point> outline);  // x becomes -x
// A strip of the given width along a line.
std::vector<Point> strip(const std::vector<Point>& line, float width);
// Cuts each corner once (Chaikin's algorithm), which rounds the outline.
std::vector<Point> rounded(const std::vector<Point>& outline);
// An arc of an ellipse from the left end over the top to the right end.
std::vector<Point> arch(Point centre, float half_width, float height);

}  // namespace lab
