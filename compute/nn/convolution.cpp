#include "compute/nn/convolution.h"

#include <algorithm>
#include <cstring>

#include "compute/cpu/row_ops.h"

namespace lab::nn {

// Each thread works on tiles of output pixels: their patches fit the second-level cache, unless the
// weights are so large that more rows are needed to make packing them worthwhile.
std::int64_t Convolution::tile_rows() const {
  constexpr std::int64_t kTileFloats = 128 * 1024;
  constexpr std::int64_t kFewestRows = 256;
  return std::max(kFewestRows, kTileFloats / shape_.patch());
}

struct Convolution::Memory {
  float* cols = nullptr;     // [threads][col_stride]
  float* weights = nullptr;  // [threads][weight_stride] partial gradients
  double* biases = nullptr;  // [threads][out_c]
  std::int64_t col_stride = 0, weight_stride = 0;
};

// One thread's part of Memory.
struct Convolution::Share {
  float* col;
  float* weight;
  double* bias;
};

Convolution::Memory Convolution::carve(Scratch scratch, int threads, std::int64_t* used) const {
  Memory m;
  m.col_stride = (tile_rows() * shape_.patch() + simd::kIm2colSlack + 15) / 16 * 16;
  m.weight_stride = (weight_.size + 15) / 16 * 16;
  ScratchCursor cursor(scratch);
  m.cols = cursor.take<float>(m.col_stride * threads);
  m.weights = cursor.take<float>(m.weight_stride * threads);
  m.biases = cursor.take<double>(shape_.out_c * threads);
  if (used != nullptr) *used = cursor.used_bytes();
  return m;
}

std::int64_t Convolution::scratch_bytes(int threads, std::int64_t /*max_batch*/) const {
  std::int64_t used = 0;
  carve({}, threads, &used);
  return used;
}

void Convolution::forward(const Pass& pass) {
  const int threads = pass.pool.size();
  const Memory memory = carve(pass.scratch, threads);
  const std::int64_t rows = pass.batch * shape_.out_pixels();
  const std::int64_t patch = shape_.patch(), out_c = shape_.out_c;
  pass.pool.run([&](int t) {
    const Slice mine = slice_of(rows, threads, t);
    float* col = memory.cols + t * memory.col_stride;
    for (std::int64_t r = mine.begin; r < mine.end; r += tile_rows()) {
      if (pass.stop.stop_requested()) return;
      const std::int64_t end = std::min(mine.end, r + tile_rows());
      simd::im2col(in().data, col, shape_, r, end);
      float* y = output->data + r * out_c;
      gemm_one_thread({.m = end - r,
                       .n = out_c,
                       .k = patch,
                       .a = col,
                       .lda = patch,
                       .b = weight_.value,
                       .ldb = patch,
                       .c = y,
                       .ldc = out_c,
                       .b_transposed = true},
                      pass.library);
      if (add_bias_) simd::add_bias(y, bias_.value, end - r, out_c);
    }
  });
}

void Convolution::backward(const Pass& pass) {
  const int threads = pass.pool.size();
  const Memory memory = carve(pass.scratch, threads);
  pass.pool.run([&](int t) {
    const Slice images = slice_of(pass.batch, threads, t);
    if (images.empty()) return;
    const Share share{memory.cols + t * memory.col_stride,
                      memory.weights + t * memory.weight_stride, memory.biases + t * shape_.out_c};
    backward_images(pass, images, share);
  });
  int parts = 0;  // slices with images; the last threads may have had none
  while (parts < threads && !slice_of(pass.batch, threads, parts).empty()) ++parts;
  pass.pool.parallel_for(weight_.size, 4096, [&](std::int64_t begin, std::int64_t end) {
    simd::sum_arrays(memory.weights + begin, parts, memory.weight_stride, weight_.grad + begin,
                     end - begin);
  });
  for (std::int64_t c = 0; c < shape_.out_c; ++c) {
    double sum = 0;
    for (int t = 0; t < parts; ++t) sum += memory.biases[t * shape_.out_c + c];
    bias_.grad[c] = static_cast<float>(sum);
  }
}

void Convolution::backward_images(const Pass& pass, const Slice& images, const Share& share) const {
  const Input& input = inputs[0];
  if (input.needs_grad && !input.accumulate) {
    std::memset(
        input.value->grad + images.begin * shape_.in_size(), 0,
        static_cast<std::size_t>((images.end - images.begin) * shape_.in_size()) * sizeof(float));
  }
  std::fill(share.bias, share.bias + shape_.out_c, 0.0);
  const Slice rows{images.begin * shape_.out_pixels(), images.end * shape_.out_pixels()};
  for (std::int64_t r = rows.begin; r < rows.end; r += tile_rows()) {
    if (pass.stop.stop_requested()) return;
    const Slice tile{r, std::min(rows.end, r + tile_rows())};
    add_weight_gradient(pass, tile, share, r == rows.begin);
    if (input.needs_grad) add_input_gradient(pass, tile, share.col);
  }
}

void Convolution::add_weight_gradient(const Pass& pass, const Slice& rows, const Share& share,
                                      bool first) const {
  const std::int64_t patch = shape_.patch(), out_c = shape_.out_c;
  const float* dy = output->grad + rows.begin * out_c;
  simd::im2col(in().data, share.col, shape_, rows.begin, rows.end);
  gemm_one_thread({.m = out_c,
                   .n = patch,
                   .k = rows.end - rows.begin,
                   .a = dy,
                   .lda = out_c,
                   .b = share.col,
                   .ldb = patch,
                   .c = share.weight,
                   .ldc = patch,
                   .a_transposed = true,
                   .accumulate = !first},
                  pass.library);
  simd::column_sums(dy, rows.end - rows.begin, out_c, share.bias);
}

void Convolution::add_input_gradient(const Pass& pass, const Slice& rows, float* col) const {
  const std::int64_t patch = shape_.patch(), out_c = shape_.out_c;
  gemm_one_thread({.m = rows.end - rows.begin,
                   .n = patch,
                   .k = out_c,
                   .a = output->grad + rows.begin * out_c,
                   .lda = out_c,
                   .b = weight_.value,
                   .ldb = patch,
                   .c = col,
                   .ldc = patch},
                  pass.library);
  simd::col2im(col, in().grad, shape_, rows.begin, rows.end);
}

}  // namespace lab::nn
