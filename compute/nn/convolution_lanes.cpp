#include "compute/nn/convolution_lanes.h"

#include <algorithm>
#include <numeric>

#include "compute/kernels/ops/image_lanes.h"
#include "compute/kernels/ops/row_ops.h"

namespace lab::nn {
namespace {

bool needs_zeros(const LanePlane& p) {
  return p.padded_width != p.width;
}

}  // namespace

ConvolutionLanes::Memory ConvolutionLanes::carve(Scratch mine, Direction direction) const {
  ScratchCursor cursor(mine);
  Memory m;
  if (needs_zeros(plane_of(shape_))) m.plane = cursor.take<float>(plane_of(shape_).floats());
  if (direction == Direction::Forward) {
    m.packed = cursor.take<float>(shape_.weights());
  } else {
    if (input_gradient_) {
      m.dy_plane = cursor.take<float>(plane_of(turned(shape_)).floats());
      m.packed = cursor.take<float>(shape_.weights());
    }
    m.sums = cursor.take<float>(shape_.weights() * simd::image_lanes());
    m.pixel_sums = cursor.take<double>(shape_.out_c * simd::image_lanes());
    m.weight_grad = cursor.take<float>(shape_.weights());
  }
  m.bytes = cursor.used_bytes();
  return m;
}

void ConvolutionLanes::begin(Direction direction, Scratch mine) const {
  const Memory m = carve(mine, direction);
  if (m.plane != nullptr) std::fill_n(m.plane, plane_of(shape_).floats(), 0.0F);
  if (direction == Direction::Forward) {
    simd::pack_direct_weights(forward_weights(shape_, weight_.value), m.packed);
    return;
  }
  if (input_gradient_) {
    std::fill_n(m.dy_plane, plane_of(turned(shape_)).floats(), 0.0F);
    simd::pack_direct_weights(turned_weights(shape_, weight_.value), m.packed);
  }
  std::fill_n(m.sums, shape_.weights() * simd::image_lanes(), 0.0F);
  std::fill_n(m.pixel_sums, shape_.out_c * simd::image_lanes(), 0.0);
}

// The input as the kernels read it.
const float* ConvolutionLanes::plane(const float* x, const Memory& memory) const {
  if (memory.plane == nullptr) return x;
  fill_plane(plane_of(shape_), x, memory.plane);
  return memory.plane;
}

void ConvolutionLanes::forward(float* x, float* y, Scratch mine) const {
  const Memory m = carve(mine, Direction::Forward);
  correlate_lanes(shape_, plane(x, m), m.packed, bias_.value, {0, shape_.out_h}, y);
}

void ConvolutionLanes::backward(const float* x, const float* dy, float* dx, Scratch mine) const {
  const Memory m = carve(mine, Direction::Backward);
  add_weight_gradient(shape_, plane(x, m), dy, {0, shape_.out_h}, m.sums);
  simd::add_pixel_sums(dy, shape_.out_pixels(), shape_.out_c, m.pixel_sums);
  if (dx == nullptr) return;
  const simd::ConvShape back = turned(shape_);
  fill_plane(plane_of(back), dy, m.dy_plane);
  correlate_lanes(back, m.dy_plane, m.packed, nullptr, {0, back.out_h}, dx);
}

void ConvolutionLanes::end(Scratch mine) const {
  const Memory m = carve(mine, Direction::Backward);
  simd::sum_lanes(m.sums, m.weight_grad, shape_.weights());
}

void ConvolutionLanes::finish(Scratch first, std::int64_t stride_bytes, int threads) const {
  const Memory m = carve(first, Direction::Backward);
  simd::sum_arrays(m.weight_grad, threads, stride_bytes / 4, weight_.grad, shape_.weights());
  const std::int64_t lanes = simd::image_lanes();
  for (std::int64_t c = 0; c < shape_.out_c; ++c) {
    double sum = 0;
    for (int t = 0; t < threads; ++t) {
      const double* of_thread = m.pixel_sums + t * (stride_bytes / 8) + c * lanes;
      sum = std::accumulate(of_thread, of_thread + lanes, sum);
    }
    bias_.grad[c] = static_cast<float>(sum);
  }
}

}  // namespace lab::nn
