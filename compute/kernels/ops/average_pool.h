#pragma once
// Average pooling without padding over NHWC images, on the calling thread.
#include <cstdint>

namespace lab::simd {

// Output size: floor((in - kernel) / stride) + 1. A kernel as large as the image pools all of it.
struct PoolShape {
  std::int64_t in_h = 0, in_w = 0, channels = 0;
  std::int64_t kernel_h = 1, kernel_w = 1, stride = 1;

  std::int64_t out_h() const { return (in_h - kernel_h) / stride + 1; }
  std::int64_t out_w() const { return (in_w - kernel_w) / stride + 1; }
  std::int64_t in_size() const { return in_h * in_w * channels; }
  std::int64_t out_size() const { return out_h() * out_w() * channels; }
  // True if every pixel is in exactly one window.
  bool tiles_the_image() const {
    return kernel_h == stride && kernel_w == stride && in_h % stride == 0 && in_w % stride == 0;
  }
};

// y [images, out_h, out_w, channels] = mean of each window of x [images, in_h, in_w, channels].
void average_pool(const float* x, float* y, const PoolShape& shape, std::int64_t images);

// dx = dy / window size, spread over each window; dx += that if `accumulate`.
void average_pool_backward(const float* dy, float* dx, const PoolShape& shape, std::int64_t images,
                           bool accumulate = true);

// For the logistic function before the pool, whose output is y [images, in_h, in_w, channels]:
// dx = average_pool_backward(dy) * y * (1 - y) in one pass.
void sigmoid_average_pool_backward(const float* y, const float* dy, float* dx,
                                   const PoolShape& shape, std::int64_t images);

}  // namespace lab::simd
