#include "compute/nn/layers/convolution_lanes.h"

#include <algorithm>
#include <numeric>

#include "compute/kernels/ops/direct_convolution_loops.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/kernels/ops/vector_ops.h"

namespace lab::nn {

std::int64_t ConvolutionLanes::bytes(Direction direction) const {
  return direction == Direction::Forward ? carve_forward({}).bytes : carve_backward({}).bytes;
}

float* ConvolutionLanes::take_plane(ScratchCursor& cursor) const {
  const LanePlane p = plane_of(shape_);
  return p.padded_width == p.width ? nullptr : cursor.take<float>(p.floats());
}

ConvolutionLanes::ForwardMemory ConvolutionLanes::carve_forward(Scratch scratch) const {
  ScratchCursor cursor(scratch);
  ForwardMemory m;
  if (algorithms_.forward == LaneAlgorithm::Winograd) {
    m.winograd = winograd_.take_forward(cursor);
  } else {
    m.plane = take_plane(cursor);
    m.packed = cursor.take<float>(shape_.weights());
  }
  m.bytes = cursor.used_bytes();
  return m;
}

ConvolutionLanes::BackwardMemory ConvolutionLanes::carve_backward(Scratch scratch) const {
  ScratchCursor cursor(scratch);
  BackwardMemory m;
  if (winograd_weights() || algorithms_.input_gradient == LaneAlgorithm::Winograd) {
    m.winograd = winograd_.take_backward(cursor);
  }
  if (algorithms_.input_gradient == LaneAlgorithm::Direct) {
    m.dy_plane = cursor.take<float>(plane_of(rotated(shape_)).floats());
    m.packed = cursor.take<float>(shape_.weights());
  }
  if (!winograd_weights()) {
    m.plane = take_plane(cursor);
    m.sums = cursor.take<float>(weight_sums() * simd::image_lanes());
  }
  m.pixel_sums = cursor.take<double>(shape_.out_c * simd::image_lanes());
  m.bytes = cursor.used_bytes();
  return m;
}

std::int64_t ConvolutionLanes::weight_sums() const {
  return winograd_weights() ? winograd_.points() : shape_.weights();
}

std::int64_t ConvolutionLanes::weight_sum_bytes() const {
  return (weight_sums() * 4 + 63) / 64 * 64;
}

std::int64_t ConvolutionLanes::sum_bytes() const {
  return weight_sum_bytes() + shape_.out_c * 8;
}

ConvolutionLanes::Sums ConvolutionLanes::sums_in(Scratch scratch) const {
  return {reinterpret_cast<float*>(scratch.data),
          reinterpret_cast<double*>(scratch.data + weight_sum_bytes())};
}

void ConvolutionLanes::begin(Direction direction, Scratch scratch) const {
  const auto clear = [](float* array, std::int64_t n) {
    if (array != nullptr) std::fill_n(array, n, 0.0F);
  };
  if (direction == Direction::Forward) {
    const ForwardMemory m = carve_forward(scratch);
    if (algorithms_.forward == LaneAlgorithm::Winograd) {
      return winograd_.begin(m.winograd, weight_.value);
    }
    clear(m.plane, plane_of(shape_).floats());
    return simd::pack_direct_weights(forward_weights(shape_, weight_.value), m.packed);
  }
  const BackwardMemory m = carve_backward(scratch);
  const bool winograd_input = algorithms_.input_gradient == LaneAlgorithm::Winograd;
  if (winograd_input || winograd_weights()) {
    winograd_.begin(m.winograd, winograd_input ? weight_.value : nullptr);
  }
  clear(m.plane, plane_of(shape_).floats());
  if (algorithms_.input_gradient == LaneAlgorithm::Direct) {
    clear(m.dy_plane, plane_of(rotated(shape_)).floats());
    simd::pack_direct_weights(rotated_weights(shape_, weight_.value), m.packed);
  }
}

void ConvolutionLanes::begin_part(Scratch scratch) const {
  const BackwardMemory m = carve_backward(scratch);
  if (winograd_weights()) {
    winograd_.clear_sums(m.winograd);
  } else {
    std::fill_n(m.sums, weight_sums() * simd::image_lanes(), 0.0F);
  }
  std::fill_n(m.pixel_sums, shape_.out_c * simd::image_lanes(), 0.0);
}

// The input as the direct kernels read it, with columns of zeros if needed.
const float* ConvolutionLanes::plane(const float* x, float* memory) const {
  if (memory == nullptr) return x;
  fill_plane(plane_of(shape_), x, memory);
  return memory;
}

void ConvolutionLanes::forward(float* x, float* y, Scratch scratch) const {
  const ForwardMemory m = carve_forward(scratch);
  if (algorithms_.forward == LaneAlgorithm::Winograd) {
    return winograd_.forward(m.winograd, x, bias_.value, y);
  }
  correlate_lanes(shape_, plane(x, m.plane), m.packed, bias_.value, {0, shape_.out_h}, y);
}

void ConvolutionLanes::backward(const float* x, const float* dy, float* dx, Scratch scratch) const {
  const BackwardMemory m = carve_backward(scratch);
  simd::add_pixel_sums(dy, shape_.out_pixels(), shape_.out_c, m.pixel_sums);
  const bool winograd_input =
      dx != nullptr && algorithms_.input_gradient == LaneAlgorithm::Winograd;
  if (winograd_weights() || winograd_input) {
    winograd_.backward(m.winograd, winograd_weights() ? x : nullptr, dy,
                       winograd_input ? dx : nullptr);
  }
  if (!winograd_weights()) {
    add_weight_gradient(shape_, plane(x, m.plane), dy, {0, shape_.out_h}, m.sums);
  }
  if (dx == nullptr || winograd_input) return;
  const simd::ConvShape back = rotated(shape_);
  fill_plane(plane_of(back), dy, m.dy_plane);
  correlate_lanes(back, m.dy_plane, m.packed, nullptr, {0, back.out_h}, dx);
}

void ConvolutionLanes::end_part(Scratch scratch, Scratch sums) const {
  const BackwardMemory m = carve_backward(scratch);
  const Sums to = sums_in(sums);
  if (winograd_weights()) {
    std::copy_n(m.winograd.sums, weight_sums(), to.weight_grad);
  } else {
    simd::sum_lanes(m.sums, to.weight_grad, weight_sums());
  }
  const std::int64_t lanes = simd::image_lanes();
  for (std::int64_t c = 0; c < shape_.out_c; ++c) {
    to.bias_grad[c] =
        std::accumulate(m.pixel_sums + c * lanes, m.pixel_sums + (c + 1) * lanes, 0.0);
  }
}

void ConvolutionLanes::finish(Scratch first, std::int64_t stride_bytes, std::int64_t parts) const {
  const Sums m = sums_in(first);
  if (winograd_weights()) {
    simd::sum_arrays(m.weight_grad, parts, stride_bytes / 4, m.weight_grad, weight_sums());
    winograd_.weight_gradient(m.weight_grad, weight_.grad);
  } else {
    simd::sum_arrays(m.weight_grad, parts, stride_bytes / 4, weight_.grad, weight_sums());
  }
  for (std::int64_t c = 0; c < shape_.out_c; ++c) {
    double sum = 0;
    for (std::int64_t p = 0; p < parts; ++p) sum += m.bias_grad[p * (stride_bytes / 8) + c];
    bias_.grad[c] = static_cast<float>(sum);
  }
}

}  // namespace lab::nn
