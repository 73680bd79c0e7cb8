#pragma once
// How Winograd's algorithm cuts images into tiles. Internal to convolution.
#include <cstdint>

#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/conv_shape.h"
#include "compute/kernels/ops/winograd.h"

namespace lab::winograd {

struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t size() const { return height * width * channels; }
};

// `to` is computed in tiles from `from`, which has `padding` zeros around it.
struct Filtering {
  Image from, to;
  std::int64_t padding = 0;
};

inline Filtering forward_filtering(const simd::ConvShape& s) {
  return {{s.in_h, s.in_w, s.in_c}, {s.out_h, s.out_w, s.out_c}, s.padding};
}

// The input's gradient is a convolution of the output's gradient.
inline Filtering backward_filtering(const simd::ConvShape& s) {
  return {{s.out_h, s.out_w, s.out_c}, {s.in_h, s.in_w, s.in_c}, 2 - s.padding};
}

// The tiles of outputs x outputs pixels of a batch, row by row and image by image.
class Tiles {
 public:
  Tiles(const Image& image, int outputs)
      : outputs_(outputs),
        in_row_(ceil_div(image.width, outputs)),
        in_image_(in_row_ * ceil_div(image.height, outputs)) {}
  std::int64_t in_image() const { return in_image_; }
  std::int64_t image(std::int64_t tile) const { return tile / in_image_; }
  // Where the tile begins in its image `of`, less `margin` pixels.
  simd::TilePlace place(std::int64_t tile, const Image& of, std::int64_t margin) const {
    const std::int64_t t = tile % in_image_;
    return {of.height, of.width, of.channels, t / in_row_ * outputs_ - margin,
            t % in_row_ * outputs_ - margin};
  }

 private:
  const std::int64_t outputs_, in_row_, in_image_;
};

}  // namespace lab::winograd
