#pragma once
// Patches of an image as rows of a matrix, which turn a convolution into a matrix product.
#include <cstdint>

#include "compute/kernels/ops/conv_shape.h"

namespace lab::simd {

// Floats of slack that both arrays need after their last element, since whole vectors are copied.
inline constexpr std::int64_t kIm2colSlack = 16;

// Row r of `col` [end - begin, patch] is the patch of output pixel begin + r of the whole batch
// (image, y, x in that order); positions outside the image are 0.
//   x    [images, in_h, in_w, in_c], followed by kIm2colSlack readable floats
//   col  followed by kIm2colSlack writable floats
void im2col(const float* x, float* col, const ConvShape& shape, std::int64_t begin,
            std::int64_t end);

// Adds each row of `col` to the pixels from which im2col() copies it. Uses no slack.
void col2im(const float* col, float* dx, const ConvShape& shape, std::int64_t begin,
            std::int64_t end);

}  // namespace lab::simd
