#pragma once
// Patches of an image as rows of a matrix, so that a convolution is a matrix product.
#include <cstdint>

namespace lab::simd {

// Images are NHWC: [image, y, x, channel]. Weights are [out, ky, kx, in].
struct ConvShape {
  std::int64_t in_h = 0, in_w = 0, in_c = 0;
  std::int64_t out_h = 0, out_w = 0, out_c = 0;
  std::int64_t kernel = 1, stride = 1, padding = 0;

  std::int64_t patch() const { return kernel * kernel * in_c; }
  std::int64_t in_size() const { return in_h * in_w * in_c; }
  std::int64_t out_pixels() const { return out_h * out_w; }
};

// Sizes the output: floor((in + 2 * padding - kernel) / stride) + 1.
ConvShape conv_shape(std::int64_t in_h, std::int64_t in_w, std::int64_t in_c, std::int64_t out_c,
                     std::int64_t kernel, std::int64_t stride, std::int64_t padding);

// Both arrays need this many floats after their last element: whole vectors are moved.
inline constexpr std::int64_t kIm2colSlack = 16;

// Row r of `col` [end - begin, patch] is the patch of output pixel begin + r of the whole batch
// (image, y, x in that order); outside of the image it is 0.
//   x    [images, in_h, in_w, in_c], kIm2colSlack floats readable after it
//   col  kIm2colSlack floats writable after it
void im2col(const float* x, float* col, const ConvShape& shape, std::int64_t begin,
            std::int64_t end);

// Adds each row of `col` back where im2col took it from. No slack is used.
void col2im(const float* col, float* dx, const ConvShape& shape, std::int64_t begin,
            std::int64_t end);

}  // namespace lab::simd
