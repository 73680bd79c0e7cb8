#include "compute/nn/pooling_lanes.h"

#include <algorithm>

#include "compute/kernels/ops/image_lanes.h"
#include "compute/kernels/ops/sigmoid.h"

namespace lab::nn {
namespace {

// A block is one image with a vector's worth of channels for each channel.
simd::PoolShape shape_of_block(simd::PoolShape s) {
  s.channels *= simd::image_lanes();
  return s;
}

// Calls body(shape, first input, first output) for rows of windows that share no pixel, one row at
// a time, so that they are still in the first cache when they are used again; else for all at once.
template <class Body>
void for_rows(const simd::PoolShape& s, const Body& body) {
  simd::PoolShape row = shape_of_block(s);
  if (!s.tiles_the_image()) {
    body(row, std::int64_t{0}, std::int64_t{0});
    return;
  }
  const std::int64_t rows = s.out_h();
  row.in_h = s.stride;
  for (std::int64_t y = 0; y < rows; ++y) body(row, y * row.in_size(), y * row.out_size());
}

}  // namespace

void AveragePoolLanes::forward(float* x, float* y, Scratch /*mine*/) const {
  for_rows(shape_, [&](const simd::PoolShape& s, std::int64_t in, std::int64_t out) {
    if (sigmoid_) simd::sigmoid(x + in, s.in_size());
    simd::average_pool(x + in, y + out, s, 1);
  });
}

void AveragePoolLanes::backward(const float* x, const float* dy, float* dx,
                                Scratch /*mine*/) const {
  for_rows(shape_, [&](const simd::PoolShape& s, std::int64_t in, std::int64_t out) {
    simd::average_pool_backward(dy + out, dx + in, s, 1, /*accumulate=*/false);
    if (sigmoid_) simd::sigmoid_backward(x + in, dx + in, s.in_size());
  });
}

void FlattenLanes::forward(float* x, float* y, Scratch /*mine*/) const {
  const std::int64_t lanes = simd::image_lanes(), pixels = shape_.height * shape_.width;
  for (std::int64_t c = 0; c < shape_.channels; ++c) {
    for (std::int64_t p = 0; p < pixels; ++p, y += lanes) {
      std::copy_n(x + (p * shape_.channels + c) * lanes, lanes, y);
    }
  }
}

void FlattenLanes::backward(const float* /*x*/, const float* dy, float* dx,
                            Scratch /*mine*/) const {
  const std::int64_t lanes = simd::image_lanes(), pixels = shape_.height * shape_.width;
  for (std::int64_t c = 0; c < shape_.channels; ++c) {
    for (std::int64_t p = 0; p < pixels; ++p, dy += lanes) {
      std::copy_n(dy, lanes, dx + (p * shape_.channels + c) * lanes);
    }
  }
}

}  // namespace lab::nn
