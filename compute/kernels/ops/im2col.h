#pragma once
// Patches of an image as rows of a matrix, so that a convolution is a matrix product.
#include <cstdint>

#include "compute/kernels/ops/conv_shape.h"

namespace lab::simd {

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
