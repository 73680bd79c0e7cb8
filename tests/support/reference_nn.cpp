#include "tests/support/reference_nn.h"

#include <algorithm>
#include <cmath>

namespace lab::test {
namespace {

double at(const Images& x, std::int64_t n, std::int64_t c, std::int64_t iy, std::int64_t ix) {
  if (iy < 0 || ix < 0 || iy >= x.height || ix >= x.width) return 0;
  return x.values[static_cast<std::size_t>(((n * x.channels + c) * x.height + iy) * x.width + ix)];
}

// Calls value(n, c, y, x) for each element of an image set of this size, in order.
template <typename Value>
Images fill(std::int64_t count, std::int64_t channels, std::int64_t height, std::int64_t width,
            const Value& value) {
  Images y{count, channels, height, width, {}};
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t i = 0; i < height * width; ++i) {
        y.values.push_back(value(n, c, i / width, i % width));
      }
    }
  }
  return y;
}

}  // namespace

Images convolution(const Images& x, const Doubles& weight, const Doubles& bias, const ConvSize& s) {
  const std::int64_t height = (x.height + 2 * s.padding - s.kernel) / s.stride + 1;
  const std::int64_t width = (x.width + 2 * s.padding - s.kernel) / s.stride + 1;
  return fill(x.count, s.out, height, width, [&](auto n, auto o, auto oy, auto ox) {
    double sum = bias[static_cast<std::size_t>(o)];
    const std::int64_t window = s.kernel * s.kernel;
    for (std::int64_t i = 0; i < x.channels * window; ++i) {
      const std::int64_t ky = i % window / s.kernel, kx = i % s.kernel;
      sum += weight[static_cast<std::size_t>(o * x.channels * window + i)] *
             at(x, n, i / window, oy * s.stride - s.padding + ky, ox * s.stride - s.padding + kx);
    }
    return sum;
  });
}

Images linear(const Images& x, const Doubles& weight, const Doubles& bias, std::int64_t out) {
  const auto in = static_cast<std::size_t>(x.size() / x.count);
  return fill(x.count, out, 1, 1, [&](auto n, auto o, auto, auto) {
    double sum = bias[static_cast<std::size_t>(o)];
    for (std::size_t i = 0; i < in; ++i) {
      sum += weight[static_cast<std::size_t>(o) * in + i] *
             x.values[static_cast<std::size_t>(n) * in + i];
    }
    return sum;
  });
}

Images batch_norm(const Images& x, const Doubles& weight, const Doubles& bias) {
  Doubles mean(static_cast<std::size_t>(x.channels)), variance(mean.size());
  const std::int64_t pixels = x.height * x.width;
  const double n = static_cast<double>(x.count * pixels);
  const auto channel = [&](std::size_t i) {
    return i / static_cast<std::size_t>(pixels) % static_cast<std::size_t>(x.channels);
  };
  for (std::size_t i = 0; i < x.values.size(); ++i) mean[channel(i)] += x.values[i] / n;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    variance[channel(i)] += std::pow(x.values[i] - mean[channel(i)], 2) / n;
  }
  Images y = x;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::size_t c = channel(i);
    y.values[i] = (x.values[i] - mean[c]) / std::sqrt(variance[c] + 1e-5) * weight[c] + bias[c];
  }
  return y;
}

Images relu(Images x) {
  for (double& v : x.values) v = std::max(v, 0.0);
  return x;
}

Images sigmoid(Images x) {
  for (double& v : x.values) v = 1 / (1 + std::exp(-v));
  return x;
}

Images add(Images a, const Images& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
  return a;
}

Images average_pool(const Images& x, std::int64_t kernel_h, std::int64_t kernel_w,
                    std::int64_t stride) {
  const std::int64_t height = (x.height - kernel_h) / stride + 1;
  const std::int64_t width = (x.width - kernel_w) / stride + 1;
  return fill(x.count, x.channels, height, width, [&](auto n, auto c, auto oy, auto ox) {
    double sum = 0;
    for (std::int64_t i = 0; i < kernel_h * kernel_w; ++i) {
      sum += at(x, n, c, oy * stride + i / kernel_w, ox * stride + i % kernel_w);
    }
    return sum / static_cast<double>(kernel_h * kernel_w);
  });
}

double cross_entropy(const Images& logits, const std::vector<std::uint8_t>& labels) {
  const std::size_t classes = logits.values.size() / labels.size();
  double total = 0;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const double* z = logits.values.data() + n * classes;
    const double largest = *std::max_element(z, z + classes);
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(z[c] - largest);
    total += std::log(sum) + largest - z[labels[n]];
  }
  return total / static_cast<double>(labels.size());
}

Doubles central_differences(Doubles& x, const std::function<double()>& f, double h) {
  Doubles gradient;
  for (double& v : x) {
    const double kept = v;
    v = kept + h;
    const double above = f();
    v = kept - h;
    gradient.push_back((above - f()) / (2 * h));
    v = kept;
  }
  return gradient;
}

Doubles to_nhwc(const Images& x) {
  Doubles y(x.values.size());
  const std::int64_t pixels = x.height * x.width;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t n = i / (x.channels * pixels), c = i / pixels % x.channels, p = i % pixels;
    y[static_cast<std::size_t>((n * pixels + p) * x.channels + c)] =
        x.values[static_cast<std::size_t>(i)];
  }
  return y;
}

Images from_nhwc(const Doubles& values, std::int64_t count, std::int64_t channels,
                 std::int64_t height, std::int64_t width) {
  return fill(count, channels, height, width, [&](auto n, auto c, auto y, auto x) {
    return values[static_cast<std::size_t>(((n * height + y) * width + x) * channels + c)];
  });
}

}  // namespace lab::test
