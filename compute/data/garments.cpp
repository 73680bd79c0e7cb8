// "Synthetic garments": a ten-class set that needs no download. Image i of a set depends only on
// the seed and i, so a shorter set is a prefix of a longer one.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/data/dataset.h"
#include "compute/data/fashion_mnist.h"
#include "compute/data/garment_shapes.h"
#include "compute/data/raster.h"

namespace lab {
namespace {

// Renders outlines as one 28x28 image: pose, cloth, light, background and occlusion.
class GarmentPainter {
 public:
  static constexpr std::size_t kPixels = kImageSide * kImageSide;

  // Paints a garment of class `label`; all randomness comes from `draws`.
  void paint(int label, Draws& draws, std::span<std::uint8_t, kPixels> out);

 private:
  using Plane = std::array<float, kPixels>;

  void draw_background(Draws& draws);
  void draw_cloth(Draws& draws);
  void add_patch(std::span<const Point> pixels, float shade, bool textured);
  void add_occlusion(Draws& draws);
  void finish(Draws& draws, std::span<std::uint8_t, kPixels> out) const;

  Plane canvas_{};  // 0 black to 1 white
  Plane cloth_{};   // brightness of the cloth at each pixel it may cover
  Coverage coverage_;
  std::vector<Point> posed_;
};

constexpr float kHalf = kImageSide / 2.0F;

constexpr std::size_t at(int x, int y) {
  return static_cast<std::size_t>(y) * kImageSide + static_cast<std::size_t>(x);
}

// Position of the garment in the image: p' = centre + M p.
struct Pose {
  float xx, xy, yx, yy, x, y;

  explicit Pose(Draws& r) {
    const float size = kHalf * 0.98F;
    const float wide = size * r.uniform(0.8F, 1.04F), high = size * r.uniform(0.82F, 1.0F);
    // Rational form of cos and sin: t is the tangent of half the angle, which is up to 10 degrees.
    const float t = r.uniform(-0.09F, 0.09F), d = 1 + t * t;
    const float cosine = (1 - t * t) / d, sine = 2 * t / d, shear = r.uniform(-0.1F, 0.1F);
    xx = wide * cosine;
    xy = high * (shear * cosine - sine);
    yx = wide * sine;
    yy = high * (cosine + shear * sine);
    x = kHalf + r.uniform(-2.2F, 2.2F);
    y = kHalf + r.uniform(-1.8F, 1.8F);
  }
  Point operator()(Point p) const { return {x + xx * p.x + xy * p.y, y + yx * p.x + yy * p.y}; }
};

// Triangle wave in [0, 1] with period 1. Avoids sin, so that every machine draws the same image.
float triangle(float phase) {
  const float part = phase - std::floor(phase);
  return std::abs(2 * part - 1);
}

// Adds noise, uniform in [-amplitude, amplitude], to every pixel.
template <typename Plane>
void add_noise(Plane& plane, float amplitude, Draws& r) {
  const float step = amplitude / 127.5F;
  for (std::size_t i = 0; i < plane.size(); i += 4) {
    std::uint32_t word = r.bits();
    for (std::size_t k = 0; k < 4; ++k, word >>= 8) {
      plane[i + k] += static_cast<float>(word & 255U) * step - amplitude;
    }
  }
}

// Multiplies by stripes perpendicular to (dx, dy), of depth `contrast`.
template <typename Plane>
void add_stripes(Plane& plane, float dx, float dy, float contrast, bool hard, Draws& r) {
  const float phase = r.uniform(0, 1);
  for (int y = 0; y < kImageSide; ++y) {
    for (int x = 0; x < kImageSide; ++x) {
      float wave = triangle(dx * static_cast<float>(x) + dy * static_cast<float>(y) + phase + 64);
      if (hard) wave = std::clamp(4 * wave - 1.5F, 0.0F, 1.0F);
      plane[at(x, y)] *= 1 - contrast * wave;
    }
  }
}

void GarmentPainter::paint(int label, Draws& draws, std::span<std::uint8_t, kPixels> out) {
  draw_background(draws);
  draw_cloth(draws);
  const Pose pose(draws);
  for (const Patch& patch : draw_garment(label, draws)) {
    posed_.clear();
    for (const Point p : patch.outline) posed_.push_back(pose(p));
    add_patch(posed_, patch.shade, true);
  }
  if (draws.chance(0.1F)) add_occlusion(draws);
  finish(draws, out);
}

void GarmentPainter::draw_background(Draws& r) {
  canvas_.fill(0);
  if (r.chance(0.5F)) return;
  const float level = r.uniform(0, 0.1F);
  canvas_.fill(level);
  add_noise(canvas_, level, r);
}

void GarmentPainter::draw_cloth(Draws& r) {
  const float brightness = r.chance(0.8F) ? r.uniform(0.6F, 1.0F) : r.uniform(0.25F, 0.6F);
  // Light from one side.
  const float gx = r.uniform(-0.014F, 0.014F), gy = r.uniform(-0.014F, 0.014F);
  for (int y = 0; y < kImageSide; ++y) {
    for (int x = 0; x < kImageSide; ++x) {
      cloth_[at(x, y)] = brightness * (1 + gx * (static_cast<float>(x) - kHalf) +
                                       gy * (static_cast<float>(y) - kHalf));
    }
  }
  const float kind = r.uniform(0, 1);
  const float contrast = r.uniform(0.1F, 0.5F), pitch = r.uniform(0.1F, 0.32F);
  const bool hard = r.chance(0.5F);
  if (kind < 0.14F) {
    add_stripes(cloth_, 0, pitch, contrast, hard, r);
  } else if (kind < 0.22F) {
    add_stripes(cloth_, pitch, 0, contrast, hard, r);
  } else if (kind < 0.28F) {
    add_stripes(cloth_, pitch * 0.7F, pitch * r.uniform(-0.7F, 0.7F), contrast, hard, r);
  } else if (kind < 0.36F) {  // checks
    add_stripes(cloth_, pitch, 0, contrast * 0.7F, hard, r);
    add_stripes(cloth_, 0, pitch, contrast * 0.7F, hard, r);
  } else if (kind < 0.7F) {  // knit
    add_noise(cloth_, r.uniform(0.04F, 0.18F), r);
  }
}

void GarmentPainter::add_patch(std::span<const Point> pixels, float shade, bool textured) {
  coverage_.fill(pixels);
  for (int y = coverage_.first_row(); y < coverage_.end_row(); ++y) {
    const Coverage::Row& cover = coverage_.row(y);
    float* line = canvas_.data() + y * kImageSide;
    const float* cloth = cloth_.data() + y * kImageSide;
    for (std::size_t x = 0; x < kImageSide; ++x) {
      const float value = textured ? shade * cloth[x] : shade;
      line[x] += cover[x] * (std::clamp(value, 0.0F, 1.0F) - line[x]);
    }
  }
}

// A bar of random brightness in front of the garment, such as a hanger, a tag or a hand.
void GarmentPainter::add_occlusion(Draws& r) {
  const float x = r.uniform(4, kImageSide - 4.0F), y = r.uniform(4, kImageSide - 4.0F);
  const float dx = r.uniform(-9, 9), dy = r.uniform(-9, 9);
  add_patch(strip({{x - dx, y - dy}, {x + dx, y + dy}}, r.uniform(1.5F, 5.0F)), r.uniform(0, 1),
            false);
}

void GarmentPainter::finish(Draws& r, std::span<std::uint8_t, kPixels> out) const {
  Plane picture = canvas_;
  if (r.chance(0.6F)) {  // sensor noise; black stays black, as in a cut-out photograph
    add_noise(picture, r.uniform(0.01F, 0.1F), r);
  }
  for (std::size_t i = 0; i < kPixels; ++i) {
    const float value = canvas_[i] > 0 ? std::clamp(picture[i], 0.0F, 1.0F) : 0.0F;
    out[i] = static_cast<std::uint8_t>(std::lround(value * 255));
  }
}

// ---- The set

constexpr int kClasses = 10;
constexpr std::int64_t kMaxImages = 10'000'000;  // about 8 GB of pixels
constexpr std::int64_t kImagesPerReport = 1024;
// Streams, the upper words of the Philox counter, that no other use of the seed shares.
constexpr std::uint32_t kTrainStream = 0x6761'7201, kTestStream = 0x6761'7202;
constexpr std::uint32_t kOrderStream = 0x100;

// Every ten consecutive images contain each class once, in random order.
std::array<std::uint8_t, kClasses> shuffled_classes(Draws draws) {
  std::array<std::uint8_t, kClasses> order{};
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  for (std::uint32_t i = kClasses; i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  return order;
}

bool out_of_range(std::int64_t count) {
  return count < 0 || count > kMaxImages;
}

template <typename Report>
ImageSet make_set(std::int64_t count, std::uint64_t seed, std::uint32_t stream, Report report) {
  ImageSet set;
  set.count = count;
  set.synthetic = true;
  set.pixels.resize(static_cast<std::size_t>(count) * GarmentPainter::kPixels);
  set.labels.resize(static_cast<std::size_t>(count));
  GarmentPainter painter;
  std::array<std::uint8_t, kClasses> order{};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    if (i % kImagesPerReport == 0) report(i);
    if (i % kClasses == 0) order = shuffled_classes({seed, stream + kOrderStream, index});
    const std::uint8_t label = order[index % kClasses];
    Draws draws(seed, stream, index);
    painter.paint(
        label, draws,
        std::span<std::uint8_t, GarmentPainter::kPixels>(
            set.pixels.data() + index * GarmentPainter::kPixels, GarmentPainter::kPixels));
    set.labels[index] = label;
  }
  return set;
}

}  // namespace

Dataset make_synthetic_garments(std::int64_t train, std::int64_t test, std::uint64_t seed,
                                const std::function<void(double)>& progress) {
  if (out_of_range(train)) {
    throw Error(Errc::InvalidArgument, trf("synthetic garments: {} training images requested; the "
                                           "number must be from 0 to {}",
                                           train, kMaxImages));
  }
  if (out_of_range(test)) {
    throw Error(Errc::InvalidArgument, trf("synthetic garments: {} test images requested; the "
                                           "number must be from 0 to {}",
                                           test, kMaxImages));
  }
  const double total = static_cast<double>(std::max<std::int64_t>(train + test, 1));
  const auto report = [&](std::int64_t done) {
    if (progress) progress(static_cast<double>(done) / total);
  };
  Dataset data;
  data.name = LAB_TEXT("synthetic garments");
  data.class_names = fashion_class_names();
  data.synthetic = true;
  data.train = make_set(train, seed, kTrainStream, report);
  data.test = make_set(test, seed, kTestStream, [&](std::int64_t i) { report(train + i); });
  report(train + test);
  return data;
}

}  // namespace lab
