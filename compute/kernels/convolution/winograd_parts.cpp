#include "compute/kernels/convolution/winograd_parts.h"

#include <algorithm>

namespace lab::winograd {

using simd::PointArray;

PackedOperand Kernels::at(int point) const {
  PackedOperand operand = first;
  operand.data = static_cast<float*>(first.data) + point * point_words();
  return operand;
}

std::int64_t Kernels::block_floats() const {
  if (first.products != Precision::BF16) return 0;
  return points * (kKernelRows * first.tile.cols + kGapFloats);
}

PointArray Kernels::block(std::int64_t channel, std::int64_t row, float* memory) const {
  const int width = first.tile.cols;
  if (first.products == Precision::BF16) {
    return {memory, kKernelRows * width + kGapFloats, /*strip_stride=*/0, width};
  }
  float* place =
      static_cast<float*>(first.data) + channel / width * first.strip_words() + row * width;
  return {place, point_words(), first.strip_words(), width};
}

void Kernels::store_block(std::int64_t channel, std::int64_t row, const PointArray& block) const {
  if (first.products != Precision::BF16) return;
  for (int p = 0; p < points; ++p) {
    at(p).pack(channel / block.strip, row, kKernelRows, block.data + p * block.point_stride,
               /*k_stride=*/block.strip, /*column_stride=*/1);
  }
}

void Kernels::multiply(const PointArray& v, const PointArray& m, std::int64_t tiles,
                       float* work) const {
  for (int p = 0; p < points; ++p) {
    at(p).multiply(v.data + p * v.point_stride, v.strip, m.data + p * m.point_stride, m.strip,
                   tiles, /*accumulate=*/false, work);
  }
}

TransposedProduct Gradients::at(std::int64_t point) const {
  return {.products = products,
          .m = d.strip,
          .n = inputs,
          .a = d.data + point * d.point_stride,
          .b = v.data + point * v.point_stride,
          .b_strip_stride = v.strip_stride,
          .c = sums + point * sums_stride};
}

void Gradients::multiply(Slice rows, std::int64_t tiles, bool accumulate, float* work) const {
  const std::int64_t in_point = at(0).row_tiles();
  for (std::int64_t row = rows.begin; row < rows.end;) {
    const std::int64_t p = row / in_point;
    const std::int64_t end = std::min(rows.end, (p + 1) * in_point);
    at(p).multiply({row - p * in_point, end - p * in_point}, tiles, accumulate, work);
    row = end;
  }
}

}  // namespace lab::winograd
