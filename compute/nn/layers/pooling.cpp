#include "compute/nn/layers/pooling.h"

#include <algorithm>

#include "compute/kernels/ops/activations.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/nn/gpu_state.h"

namespace lab::nn {

// Calls body(first image, number of images) for the whole batch, on all threads.
template <class Body>
void AveragePool::for_blocks(const Pass& pass, const Body& body) const {
  constexpr std::int64_t kBlockFloats = 64 * 1024;  // fits L2 together with its gradients
  const std::int64_t block =
      sigmoid_ ? std::max<std::int64_t>(1, kBlockFloats / shape_.in_size()) : pass.batch;
  pass.pool.parallel_for(pass.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; n += block) body(n, std::min(block, end - n));
  });
}

void AveragePool::forward(const Pass& pass) {
  for_blocks(pass, [&](std::int64_t first, std::int64_t images) {
    float* x = in().data + first * shape_.in_size();
    if (sigmoid_) simd::sigmoid(x, images * shape_.in_size());
    simd::average_pool(x, output->data + first * shape_.out_size(), shape_, images);
  });
}

void AveragePool::backward(const Pass& pass) {
  if (!inputs[0].needs_grad) return;
  for_blocks(pass, [&](std::int64_t first, std::int64_t images) {
    const float* dy = output->grad + first * shape_.out_size();
    float* dx = in().grad + first * shape_.in_size();
    if (sigmoid_) {  // nothing else uses its output, so its gradient is never a sum
      const float* y = in().saved + first * shape_.in_size();
      simd::sigmoid_average_pool_backward(y, dy, dx, shape_, images);
    } else {
      simd::average_pool_backward(dy, dx, shape_, images, inputs[0].accumulate);
    }
  });
}

void Flatten::forward(const Pass& pass) {
  const ImageShape s = in().shape;
  const std::int64_t pixels = s.height * s.width;
  pass.pool.parallel_for(pass.batch, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const float* x = in().data + n * s.size();
      float* y = output->data + n * s.size();
      for (std::int64_t c = 0; c < s.channels; ++c) {
        for (std::int64_t p = 0; p < pixels; ++p) y[c * pixels + p] = x[p * s.channels + c];
      }
    }
  });
}

void Flatten::backward(const Pass& pass) {
  const ImageShape s = in().shape;
  const std::int64_t pixels = s.height * s.width;
  const bool accumulate = inputs[0].accumulate;
  pass.pool.parallel_for(pass.batch, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const float* dy = output->grad + n * s.size();
      float* dx = in().grad + n * s.size();
      for (std::int64_t p = 0; p < pixels; ++p) {
        for (std::int64_t c = 0; c < s.channels; ++c) {
          float& to = dx[p * s.channels + c];
          to = (accumulate ? to : 0.0F) + dy[c * pixels + p];
        }
      }
    }
  });
}

// ---- Blocks of interleaved images

namespace {

// A block as one image, with image_lanes() channels for each channel.
simd::PoolShape shape_of_block(simd::PoolShape s) {
  s.channels *= simd::image_lanes();
  return s;
}

// If windows share no pixels, calls body(shape, first input, first output) for one row of windows
// at a time, so that data is still in L1 when it is reused; otherwise once for the whole block.
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
    if (sigmoid_) {
      simd::sigmoid_average_pool_backward(x + in, dy + out, dx + in, s, 1);
    } else {
      simd::average_pool_backward(dy + out, dx + in, s, 1, /*accumulate=*/false);
    }
  });
}

void FlattenLanes::forward(float* x, float* y, Scratch /*mine*/) const {
  simd::transpose_vectors(x, shape_.height * shape_.width, shape_.channels, y);
}

void FlattenLanes::backward(const float* /*x*/, const float* dy, float* dx,
                            Scratch /*mine*/) const {
  simd::transpose_vectors(dy, shape_.channels, shape_.height * shape_.width, dx);
}

GpuAveragePool AveragePool::gpu_pool(const GpuPass& pass) const {
  return {.images = pass.batch,
          .in_h = shape_.in_h,
          .in_w = shape_.in_w,
          .channels = shape_.channels,
          .kernel_h = shape_.kernel_h,
          .kernel_w = shape_.kernel_w,
          .stride = shape_.stride,
          .sigmoid = sigmoid_,
          .x = in().gpu_data(),
          .y = output->data,
          .dy = output->grad,
          .dx = in().gpu_grad(),
          .accumulate = inputs[0].accumulate};
}

void AveragePool::gpu_forward(const GpuPass& pass) {
  pass.layers().average_pool_forward(gpu_pool(pass), pass.stream());
}

void AveragePool::gpu_backward(const GpuPass& pass) {
  if (inputs[0].needs_grad) pass.layers().average_pool_backward(gpu_pool(pass), pass.stream());
}

void Flatten::gpu_forward(const GpuPass& pass) {
  const ImageShape s = in().shape;
  pass.layers().flatten({.images = pass.batch,
                         .pixels = s.height * s.width,
                         .channels = s.channels,
                         .from = in().data,
                         .to = output->data},
                        pass.stream());
}

void Flatten::gpu_backward(const GpuPass& pass) {
  const ImageShape s = in().shape;
  pass.layers().flatten({.images = pass.batch,
                         .pixels = s.height * s.width,
                         .channels = s.channels,
                         .from = output->grad,
                         .to = in().grad,
                         .backward = true,
                         .accumulate = inputs[0].accumulate},
                        pass.stream());
}

}  // namespace lab::nn
