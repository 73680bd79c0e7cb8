#pragma once
// Straightforward float64 forward passes in PyTorch's layout [image, channel, y, x], the reference
// for the lab's layers.
#include <cstdint>
#include <functional>
#include <vector>

namespace lab::test {

using Doubles = std::vector<double>;

struct Images {
  std::int64_t count = 1, channels = 1, height = 1, width = 1;
  Doubles values;  // [count, channels, height, width]
  std::int64_t size() const { return count * channels * height * width; }
};

struct ConvSize {
  std::int64_t out = 1, kernel = 1, stride = 1, padding = 0;
};

// weight [out, in, kernel, kernel], bias [out].
Images convolution(const Images& x, const Doubles& weight, const Doubles& bias,
                   const ConvSize& size);
// x as rows of channels * height * width values; weight [out, in], bias [out].
Images linear(const Images& x, const Doubles& weight, const Doubles& bias, std::int64_t out);
// Batch statistics, biased variance, eps = 1e-5.
Images batch_norm(const Images& x, const Doubles& weight, const Doubles& bias);
Images relu(Images x);
Images sigmoid(Images x);
Images add(Images a, const Images& b);
Images average_pool(const Images& x, std::int64_t kernel_h, std::int64_t kernel_w,
                    std::int64_t stride);
// Mean of -log softmax(logits)[label].
double cross_entropy(const Images& logits, const std::vector<std::uint8_t>& labels);

// Returns (f(x + h) - f(x - h)) / 2h for each element of `x`, which is restored.
Doubles central_differences(Doubles& x, const std::function<double()>& f, double h = 1e-5);

// Convert between [image, channel, y, x] and the lab's [image, y, x, channel].
Doubles to_nhwc(const Images& x);
Images from_nhwc(const Doubles& values, std::int64_t count, std::int64_t channels,
                 std::int64_t height, std::int64_t width);

}  // namespace lab::test
