#include "compute/kernels/convolution/winograd_parts.h"

#include <algorithm>

#include "compute/kernels/gemm/bf16_kernels.h"

namespace lab::winograd {

using simd::PointArray;
using simd::PointForm;

namespace {

PointForm form_of(Precision products, PointForm native) {
  if (products != Precision::BF16) return PointForm::F32;
  return bf16_kernels().native() ? native : PointForm::RoundedF32;
}

}  // namespace

simd::TileGrid output_tiles(const Image& image, int outputs) {
  const std::int64_t in_row = ceil_div(image.width, outputs);
  return {.height = image.height,
          .width = image.width,
          .channels = image.channels,
          .pixel_stride = image.channels,
          .in_row = in_row,
          .in_image = in_row * ceil_div(image.height, outputs)};
}

simd::TileGrid input_tiles(const Filtering& f, int outputs) {
  simd::TileGrid tiles = output_tiles(f.to, outputs);
  tiles.height = f.from.height;
  tiles.width = f.from.width;
  tiles.channels = tiles.pixel_stride = f.from.channels;
  tiles.margin = f.padding;
  return tiles;
}

PointForm form_of_channels(Precision products) {
  return form_of(products, PointForm::Bf16ChannelPairs);
}

PointForm form_of_rows(Precision products) {
  return form_of(products, PointForm::Bf16RowPairs);
}

std::int64_t words_of(Precision products, std::int64_t terms) {
  return products == Precision::BF16 ? bf16_kernels().words(terms) : terms;
}

PackedOperand Kernels::at(int point) const {
  PackedOperand operand = first;
  operand.data = static_cast<float*>(first.data) + point * point_words();
  return operand;
}

PointArray Kernels::block(std::int64_t channel, std::int64_t row) const {
  const int width = first.tile.cols;
  float* place = static_cast<float*>(first.data) + channel / width * first.strip_words() +
                 words_of(first.products, row) * width;
  return {place, point_words(), first.strip_words(), width, form_of_rows(first.products)};
}

void Kernels::multiply(const PointArray& v, std::int64_t v_row, const PointArray& m,
                       std::int64_t tiles, bool accumulate) const {
  for (int p = 0; p < points; ++p) {
    at(p).multiply_words(v.data + p * v.point_stride, v_row, m.data + p * m.point_stride, m.strip,
                         tiles, accumulate);
  }
}

void Gradients::multiply(const SumRange& range, std::int64_t tiles, bool accumulate,
                         const Sums& sums) const {
  const auto& [points, outputs, inputs] = range;
  for (std::int64_t p = points.begin; p < points.end; ++p) {
    for (std::int64_t o = outputs.begin; o < outputs.end;) {
      const std::int64_t strip = o / d.strip;
      const std::int64_t end = std::min(outputs.end, (strip + 1) * d.strip);
      const TransposedProduct product{
          .products = products,
          .a_words = true,
          .m = end - o,
          .n = inputs.end - inputs.begin,
          .a = d.data + p * d.point_stride + strip * d.strip_stride + o % d.strip,
          .a_stride = d.strip,
          .b = v.data + p * v.point_stride + inputs.begin / v.strip * v.strip_stride,
          .b_strip_stride = v.strip_stride,
          .c = sums.data + (p - points.begin) * sums.point_stride +
               (o - outputs.begin) * sums.output_stride,
          .c_stride = sums.output_stride};
      product.multiply({0, product.row_tiles()}, tiles, accumulate, /*work=*/nullptr);
      o = end;
    }
  }
}

}  // namespace lab::winograd
