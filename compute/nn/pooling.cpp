#include "compute/nn/pooling.h"

namespace lab::nn {

void AveragePool::forward(const Pass& pass) {
  pass.pool.parallel_for(pass.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    simd::average_pool(in().data + begin * shape_.in_size(),
                       output->data + begin * shape_.out_size(), shape_, end - begin);
  });
}

void AveragePool::backward(const Pass& pass) {
  pass.pool.parallel_for(pass.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    simd::average_pool_backward(output->grad + begin * shape_.out_size(),
                                in().grad + begin * shape_.in_size(), shape_, end - begin,
                                inputs[0].accumulate);
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

}  // namespace lab::nn
