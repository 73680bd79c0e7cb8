#include "compute/nn/layers/linear.h"

#include <algorithm>

#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/ops/row_ops.h"
#include "compute/nn/gpu_state.h"

namespace lab::nn {

std::int64_t Linear::scratch_bytes(int /*threads*/, std::int64_t /*max_batch*/) const {
  ScratchCursor cursor({});
  cursor.take<double>(out_size_);
  return cursor.used_bytes();
}

void Linear::forward(const Pass& pass) {
  gemm({.m = pass.batch,
        .n = out_size_,
        .k = in_size_,
        .a = in().data,
        .lda = in_size_,
        .b = weight_.value,
        .ldb = in_size_,
        .c = output->data,
        .ldc = out_size_,
        .b_transposed = true,
        .products = pass.products},
       pass.pool, pass.kernels);
  pass.pool.parallel_for(pass.batch, 64, [&](std::int64_t begin, std::int64_t end) {
    simd::add_bias(output->data + begin * out_size_, bias_.value, end - begin, out_size_);
  });
}

void Linear::backward(const Pass& pass) {
  const float* dy = output->grad;
  gemm({.m = out_size_,
        .n = in_size_,
        .k = pass.batch,
        .a = dy,
        .lda = out_size_,
        .b = in().saved,
        .ldb = in_size_,
        .c = weight_.grad,
        .ldc = in_size_,
        .a_transposed = true,
        .products = pass.products},
       pass.pool, pass.kernels);
  ScratchCursor cursor(pass.scratch);
  double* sums = cursor.take<double>(out_size_);
  std::fill(sums, sums + out_size_, 0.0);
  simd::column_sums(dy, pass.batch, out_size_, sums);
  std::transform(sums, sums + out_size_, bias_.grad,
                 [](double sum) { return static_cast<float>(sum); });
  if (!inputs[0].needs_grad) return;
  gemm({.m = pass.batch,
        .n = in_size_,
        .k = out_size_,
        .a = dy,
        .lda = out_size_,
        .b = weight_.value,
        .ldb = in_size_,
        .c = in().grad,
        .ldc = in_size_,
        .accumulate = inputs[0].accumulate,
        .products = pass.products},
       pass.pool, pass.kernels);
}

// A linear layer is a 1x1 convolution of images of one pixel.
GpuConvolution Linear::gpu_product(const GpuPass& pass) const {
  return {.images = pass.batch,
          .in_c = in_size_,
          .out_c = out_size_,
          .precision = pass.products,
          .x = in().gpu_data(),
          .weight = pass.state.value(weight_),
          .bias = pass.state.value(bias_),
          .y = output->gpu_data(),
          .dy = output->gpu_grad(),
          .dx = in().gpu_grad(),
          .accumulate = inputs[0].accumulate,
          .dweight = pass.state.grad(weight_),
          .dbias = pass.state.grad(bias_),
          .workspace = pass.workspace.data,
          .workspace_bytes = pass.workspace.bytes};
}

std::int64_t Linear::gpu_workspace_bytes(const GpuPass& pass) const {
  return pass.layers().workspace_bytes(gpu_product(pass));
}

void Linear::gpu_forward(const GpuPass& pass) {
  pass.layers().convolution_forward(gpu_product(pass), pass.stream());
}

void Linear::gpu_backward(const GpuPass& pass) {
  queue_gradients(pass, gpu_product(pass), inputs[0].needs_grad);
}

}  // namespace lab::nn
