#include "tests/support/fake_layer_libraries/fake_math.h"

#include <bit>
#include <cmath>
#include <vector>

namespace lab::test {
namespace {

double operand(float value, bool tf32) {
  if (!tf32) return value;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000U) & ~0x1fffU);
}

void blend_all(const Blend& blend, const std::vector<double>& values, float* results) {
  for (std::size_t i = 0; i < values.size(); ++i) blend(values[i], results[i]);
}

// Calls visit(pixel of x, tap, pixel of y) for each pair of pixels.
template <typename Visit>
void for_each_tap(const FakeConvolution& s, const Visit& visit) {
  for (std::int64_t y = 0; y < s.n * s.out_h * s.out_w; ++y) {
    const std::int64_t image = y / (s.out_h * s.out_w);
    const std::int64_t top = y / s.out_w % s.out_h * s.stride - s.padding;
    const std::int64_t left = y % s.out_w * s.stride - s.padding;
    for (std::int64_t tap = 0; tap < s.side * s.side; ++tap) {
      const std::int64_t row = top + tap / s.side, column = left + tap % s.side;
      if (row < 0 || row >= s.h || column < 0 || column >= s.w) continue;
      visit((image * s.h + row) * s.w + column, tap, y);
    }
  }
}

std::vector<double> operands(const float* values, std::int64_t count, bool tf32) {
  std::vector<double> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = operand(values[i], tf32);
  return all;
}

std::int64_t x_size(const FakeConvolution& s) {
  return s.n * s.h * s.w * s.c;
}
std::int64_t y_size(const FakeConvolution& s) {
  return s.n * s.out_h * s.out_w * s.k;
}
std::int64_t weights(const FakeConvolution& s) {
  return s.k * s.side * s.side * s.c;
}

std::vector<double> zeros(std::int64_t count) {
  return std::vector<double>(static_cast<std::size_t>(count));
}

}  // namespace

void convolve(const FakeConvolution& s, const float* x, const float* weight, float* y) {
  const auto xs = operands(x, x_size(s), s.tf32), ws = operands(weight, weights(s), s.tf32);
  std::vector<double> sums = zeros(y_size(s));
  for_each_tap(s, [&](std::int64_t from, std::int64_t tap, std::int64_t to) {
    for (std::int64_t k = 0; k < s.k; ++k) {
      const double* w = ws.data() + (k * s.side * s.side + tap) * s.c;
      const double* in = xs.data() + from * s.c;
      double sum = 0;
      for (std::int64_t c = 0; c < s.c; ++c) sum += in[c] * w[c];
      sums[static_cast<std::size_t>(to * s.k + k)] += sum;
    }
  });
  blend_all(s.blend, sums, y);
}

void convolve_data(const FakeConvolution& s, const float* weight, const float* dy, float* dx) {
  const auto ds = operands(dy, y_size(s), s.tf32), ws = operands(weight, weights(s), s.tf32);
  std::vector<double> sums = zeros(x_size(s));
  for_each_tap(s, [&](std::int64_t to, std::int64_t tap, std::int64_t from) {
    for (std::int64_t k = 0; k < s.k; ++k) {
      const double* w = ws.data() + (k * s.side * s.side + tap) * s.c;
      const double d = ds[static_cast<std::size_t>(from * s.k + k)];
      double* out = sums.data() + to * s.c;
      for (std::int64_t c = 0; c < s.c; ++c) out[c] += d * w[c];
    }
  });
  blend_all(s.blend, sums, dx);
}

void convolve_filter(const FakeConvolution& s, const float* x, const float* dy, float* dweight) {
  const auto xs = operands(x, x_size(s), s.tf32), ds = operands(dy, y_size(s), s.tf32);
  std::vector<double> sums = zeros(weights(s));
  for_each_tap(s, [&](std::int64_t from, std::int64_t tap, std::int64_t to) {
    for (std::int64_t k = 0; k < s.k; ++k) {
      double* w = sums.data() + (k * s.side * s.side + tap) * s.c;
      const double d = ds[static_cast<std::size_t>(to * s.k + k)];
      const double* in = xs.data() + from * s.c;
      for (std::int64_t c = 0; c < s.c; ++c) w[c] += d * in[c];
    }
  });
  blend_all(s.blend, sums, dweight);
}

void multiply(const FakeGemm& g, const float* a, const float* b, float* c) {
  for (std::int64_t column = 0; column < g.n; ++column) {
    for (std::int64_t row = 0; row < g.m; ++row) {
      double sum = 0;
      for (std::int64_t i = 0; i < g.k; ++i) {
        const float left = g.a_transposed ? a[row * g.lda + i] : a[i * g.lda + row];
        const float right = g.b_transposed ? b[i * g.ldb + column] : b[column * g.ldb + i];
        sum += operand(left, g.tf32) * operand(right, g.tf32);
      }
      g.blend(sum, c[column * g.ldc + row]);
    }
  }
}

void normalise(const FakeNorm& s, const NormArrays& a) {
  const auto rows = static_cast<double>(s.rows);
  for (std::int64_t c = 0; c < s.channels; ++c) {
    double mean = 0, variance = 0;
    for (std::int64_t r = 0; r < s.rows; ++r) mean += a.x[r * s.channels + c] / rows;
    for (std::int64_t r = 0; r < s.rows; ++r) {
      variance += std::pow(a.x[r * s.channels + c] - mean, 2) / rows;
    }
    const double inverse = 1 / std::sqrt(variance + s.epsilon);
    for (std::int64_t r = 0; r < s.rows; ++r) {
      const std::int64_t i = r * s.channels + c;
      a.y[i] = static_cast<float>((a.x[i] - mean) * inverse * a.scale[c] + a.bias[c]);
    }
    const double unbiased = variance * rows / (rows - 1);
    const auto move = [&](float& running, double value) {
      running = static_cast<float>(running * (1 - s.momentum) + value * s.momentum);
    };
    move(a.running_mean[c], mean);
    move(a.running_variance[c], unbiased);
    a.mean[c] = static_cast<float>(mean);
    a.inverse_deviation[c] = static_cast<float>(inverse);
  }
}

void normalise_inference(const FakeNorm& s, const float* x, const float* scale, const float* bias,
                         const float* mean, const float* variance, float* y) {
  for (std::int64_t i = 0; i < s.rows * s.channels; ++i) {
    const std::int64_t c = i % s.channels;
    const double inverse = 1 / std::sqrt(variance[c] + s.epsilon);
    y[i] = static_cast<float>((double{x[i]} - mean[c]) * inverse * scale[c] + bias[c]);
  }
}

void normalise_backward(const FakeNorm& s, const NormGradients& a) {
  const auto rows = static_cast<double>(s.rows);
  for (std::int64_t c = 0; c < s.channels; ++c) {
    const double mean = a.mean[c], inverse = a.inverse_deviation[c];
    double sum = 0, product = 0;
    for (std::int64_t i = c; i < s.rows * s.channels; i += s.channels) {
      sum += a.dy[i];
      product += a.dy[i] * (a.x[i] - mean) * inverse;
    }
    for (std::int64_t i = c; i < s.rows * s.channels; i += s.channels) {
      const double normal = (a.x[i] - mean) * inverse;
      a.dx[i] = static_cast<float>(a.scale[c] * inverse *
                                   (a.dy[i] - sum / rows - normal * product / rows));
    }
    a.dscale[c] = static_cast<float>(product);
    a.dbias[c] = static_cast<float>(sum);
  }
}

namespace {

// Calls visit(element of x, element of y) for each pair of a window.
template <typename Visit>
void for_each_pair(const FakePool& s, const Visit& visit) {
  for (std::int64_t y = 0; y < s.n * s.out_h * s.out_w; ++y) {
    const std::int64_t image = y / (s.out_h * s.out_w);
    const std::int64_t top = y / s.out_w % s.out_h * s.stride, left = y % s.out_w * s.stride;
    for (std::int64_t tap = 0; tap < s.window_h * s.window_w; ++tap) {
      const std::int64_t row = top + tap / s.window_w, column = left + tap % s.window_w;
      const std::int64_t x = (image * s.h + row) * s.w + column;
      for (std::int64_t c = 0; c < s.c; ++c) {
        visit(static_cast<std::size_t>(x * s.c + c), static_cast<std::size_t>(y * s.c + c));
      }
    }
  }
}

}  // namespace

void average(const FakePool& s, const float* x, float* y) {
  std::vector<double> sums = zeros(s.n * s.out_h * s.out_w * s.c);
  const double share = 1 / static_cast<double>(s.window_h * s.window_w);
  for_each_pair(s, [&](std::size_t from, std::size_t to) { sums[to] += share * x[from]; });
  blend_all(s.blend, sums, y);
}

void average_backward(const FakePool& s, const float* dy, float* dx) {
  std::vector<double> sums = zeros(s.n * s.h * s.w * s.c);
  const double share = 1 / static_cast<double>(s.window_h * s.window_w);
  for_each_pair(s, [&](std::size_t to, std::size_t from) { sums[to] += share * dy[from]; });
  blend_all(s.blend, sums, dx);
}

}  // namespace lab::test
