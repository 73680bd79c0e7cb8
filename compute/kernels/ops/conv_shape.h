#pragma once
// Dimensions of a 2-D convolution.
#include <cstdint>

namespace lab::simd {

// Images are NHWC: [image, y, x, channel]. Weights are [out, ky, kx, in].
struct ConvShape {
  std::int64_t in_h = 0, in_w = 0, in_c = 0;
  std::int64_t out_h = 0, out_w = 0, out_c = 0;
  std::int64_t kernel = 1, stride = 1, padding = 0;

  std::int64_t patch() const { return kernel * kernel * in_c; }
  std::int64_t in_size() const { return in_h * in_w * in_c; }
  std::int64_t out_size() const { return out_h * out_w * out_c; }
  std::int64_t out_pixels() const { return out_h * out_w; }
  std::int64_t weights() const { return out_c * patch(); }
  bool operator==(const ConvShape&) const = default;
};

// Returns the shape with its output size: floor((in + 2 * padding - kernel) / stride) + 1.
constexpr ConvShape conv_shape(std::int64_t in_h, std::int64_t in_w, std::int64_t in_c,
                               std::int64_t out_c, std::int64_t kernel, std::int64_t stride,
                               std::int64_t padding) {
  ConvShape s{in_h, in_w, in_c, 0, 0, out_c, kernel, stride, padding};
  s.out_h = (in_h + 2 * padding - kernel) / stride + 1;
  s.out_w = (in_w + 2 * padding - kernel) / stride + 1;
  return s;
}

}  // namespace lab::simd
