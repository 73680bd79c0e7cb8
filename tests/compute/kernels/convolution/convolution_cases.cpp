#include "tests/compute/kernels/convolution/convolution_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "tests/support/compare.h"

namespace lab::test {
namespace {

using simd::ConvShape;

constexpr float kGuard = 12345;
constexpr std::size_t kGuards = 32;

// Calls visit(x index, weight index, y index) for each pixel, tap and output channel. The indices
// are those of the first of in_c products, whose operands in x and in the weights are contiguous.
template <typename Visit>
void each_run(const ConvShape& s, std::int64_t batch, const Visit& visit) {
  for (std::int64_t p = 0; p < batch * s.out_pixels(); ++p) {
    const std::int64_t image = p / s.out_pixels();
    const std::int64_t top = p % s.out_pixels() / s.out_w * s.stride - s.padding;
    const std::int64_t left = p % s.out_w * s.stride - s.padding;
    for (std::int64_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
      const std::int64_t y = top + tap / s.kernel, x = left + tap % s.kernel;
      if (y < 0 || x < 0 || y >= s.in_h || x >= s.in_w) continue;
      const std::int64_t from = ((image * s.in_h + y) * s.in_w + x) * s.in_c;
      for (std::int64_t o = 0; o < s.out_c; ++o) {
        const std::int64_t w = (o * s.kernel * s.kernel + tap) * s.in_c;
        visit(static_cast<std::size_t>(from), static_cast<std::size_t>(w),
              static_cast<std::size_t>(p * s.out_c + o));
      }
    }
  }
}

// Sums of products, and sums of their magnitudes.
class Sums {
 public:
  explicit Sums(std::int64_t n)
      : values_(static_cast<std::size_t>(n)), magnitudes_(static_cast<std::size_t>(n)) {}
  void add(std::size_t i, double value, double magnitude) {
    values_[i] += value;
    magnitudes_[i] += magnitude;
  }
  // Adds factor * terms[j] to element i + j for each j below `count`.
  void add_scaled(std::size_t i, const float* terms, double factor, std::int64_t count) {
    double* value = values_.data() + i;
    double* magnitude = magnitudes_.data() + i;
    for (std::int64_t j = 0; j < count; ++j) {
      const double term = factor * terms[j];
      value[j] += term;
      magnitude[j] += std::abs(term);
    }
  }
  ConvolutionReference take() && {
    const double most = *std::max_element(magnitudes_.begin(), magnitudes_.end());
    return {.values = std::move(values_), .magnitude = most};
  }

 private:
  std::vector<double> values_, magnitudes_;
};

// Appends NaN as slack, which may be read but must not affect results.
std::vector<float> with_slack(std::vector<float> values) {
  values.insert(values.end(), ConvolutionAlgorithm::kSlackFloats,
                std::numeric_limits<float>::quiet_NaN());
  return values;
}

// Memory for a result, between guard values.
class Result {
 public:
  Result(std::int64_t n, float initial)
      : memory_(static_cast<std::size_t>(n) + 2 * kGuards, kGuard) {
    std::fill(memory_.begin() + kGuards, memory_.end() - kGuards, initial);
  }
  float* data() { return memory_.data() + kGuards; }
  std::vector<float> values() const {
    const auto guard = [](float v) { return v == kGuard; };
    EXPECT_TRUE(std::all_of(memory_.begin(), memory_.begin() + kGuards, guard)) << "written before";
    EXPECT_TRUE(std::all_of(memory_.end() - kGuards, memory_.end(), guard)) << "written past end";
    return {memory_.begin() + kGuards, memory_.end() - kGuards};
  }

 private:
  std::vector<float> memory_;
};

// Scratch of exactly the requested size, 64-byte aligned and filled with NaN.
class ScratchMemory {
 public:
  explicit ScratchMemory(std::int64_t bytes)
      : memory_(static_cast<std::size_t>(bytes) + 128, std::byte{0xff}), bytes_(bytes) {}
  ~ScratchMemory() {
    EXPECT_TRUE(std::all_of(data() + bytes_, memory_.data() + memory_.size(), [](std::byte b) {
      return b == std::byte{0xff};
    })) << "more scratch used than requested";
  }
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  Scratch scratch() { return {data(), bytes_}; }

 private:
  std::byte* data() {
    void* at = memory_.data();
    std::size_t room = memory_.size();
    return static_cast<std::byte*>(std::align(64, memory_.size() - 64, at, room));
  }
  std::vector<std::byte> memory_;
  std::int64_t bytes_;
};

void expect_near(const std::vector<float>& got, const ConvolutionReference& want, double offset,
                 const CheckOptions& options) {
  std::vector<double> values = want.values;
  for (double& v : values) v += offset;
  EXPECT_TRUE(all_close(got, values, 0, options.tolerance * (want.magnitude + std::abs(offset))));
  double error = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += (got[i] - values[i]) * (got[i] - values[i]);
    size += values[i] * values[i];
  }
  EXPECT_LE(std::sqrt(error), options.norm_tolerance * std::sqrt(size)) << "norm of the result";
}

// Checks one shape and holds its data.
class ShapeCheck {
 public:
  ShapeCheck(const ConvolutionAlgorithm& algorithm, const CheckOptions& options,
             const ConvShape& shape)
      : algorithm_(algorithm),
        options_(options),
        shape_(shape),
        most_(*std::max_element(options.batches.begin(), options.batches.end())),
        x_(with_slack(uniform_values(most_ * shape.in_size(), 1))),
        dy_(with_slack(uniform_values(most_ * shape.out_size(), 2))),
        weight_(uniform_values(shape.weights(), 3)),
        bias_(uniform_values(shape.out_c, 4)) {}

  int check() {
    int supported = 0;
    for (const auto stage : {ConvolutionStage::Forward, ConvolutionStage::InputGradient,
                             ConvolutionStage::WeightGradient}) {
      ConvolutionCase c{
          .shape = shape_, .stage = stage, .batch = most_, .products = options_.products};
      std::vector<int> able;
      for (const int threads : options_.threads) {
        c.threads = threads;
        if (algorithm_.supports(c)) able.push_back(threads);
      }
      supported += static_cast<int>(able.size());
      for (const std::int64_t batch : options_.batches) {
        if (!able.empty()) check_batch(c, batch, able);
      }
    }
    return supported;
  }

 private:
  // All numbers of threads share one reference.
  void check_batch(ConvolutionCase c, std::int64_t batch, const std::vector<int>& able) {
    const ConvolutionReference want = reference(c.stage, batch);
    first_.clear();
    for (const int threads : able) {
      SCOPED_TRACE(std::string(algorithm_.name()) + ", " + to_string(c.stage) + ", batch " +
                   std::to_string(batch) + ", " + std::to_string(threads) + " threads");
      std::vector<int> cores(static_cast<std::size_t>(threads));
      std::iota(cores.begin(), cores.end(), 0);
      ThreadPool pool(cores);
      c.threads = threads;
      ScratchMemory memory(algorithm_.scratch_bytes(c));
      const ConvolutionContext context{
          .pool = pool, .batch = batch, .scratch = memory.scratch(), .products = options_.products};
      switch (c.stage) {
        case ConvolutionStage::Forward: forward(context, want); break;
        case ConvolutionStage::InputGradient: input_gradient(context, want); break;
        case ConvolutionStage::WeightGradient: weight_gradient(context, want); break;
      }
    }
  }

  ConvolutionReference reference(ConvolutionStage stage, std::int64_t batch) const {
    switch (stage) {
      case ConvolutionStage::Forward: return reference_forward(shape_, batch, x_, weight_, bias_);
      case ConvolutionStage::InputGradient:
        return reference_input_gradient(shape_, batch, dy_, weight_);
      case ConvolutionStage::WeightGradient: break;
    }
    return reference_weight_gradient(shape_, batch, x_, dy_);
  }

  void forward(const ConvolutionContext& context, ConvolutionReference want) {
    const auto run = [&](const float* bias) {
      Result y(context.batch * shape_.out_size(), std::numeric_limits<float>::quiet_NaN());
      algorithm_.forward(shape_, context, first_images(x_, context.batch, shape_.in_size()).data(),
                         weight_.data(), bias, y.data());
      return y.values();
    };
    const std::vector<float> y = run(bias_.data());
    expect_near(y, want, 0, options_);
    EXPECT_EQ(y, run(bias_.data())) << "repeated";
    expect_same_bits(y);
    for (std::size_t i = 0; i < want.values.size(); ++i) want.values[i] -= bias_[i % bias_.size()];
    expect_near(run(nullptr), want, 0, options_);
  }

  void input_gradient(const ConvolutionContext& context, const ConvolutionReference& want) {
    const auto run = [&](float initial, bool accumulate) {
      Result dx(context.batch * shape_.in_size(), initial);
      algorithm_.input_gradient(shape_, context,
                                first_images(dy_, context.batch, shape_.out_size()).data(),
                                weight_.data(), dx.data(), accumulate);
      return dx.values();
    };
    const std::vector<float> dx = run(std::numeric_limits<float>::quiet_NaN(), false);
    expect_near(dx, want, 0, options_);
    expect_near(run(0.5F, true), want, 0.5, options_);
    EXPECT_EQ(dx, run(0.0F, false)) << "repeated";
    expect_same_bits(dx);
  }

  void weight_gradient(const ConvolutionContext& context, const ConvolutionReference& want) {
    const auto run = [&] {
      Result d_weight(shape_.weights(), std::numeric_limits<float>::quiet_NaN());
      algorithm_.weight_gradient(
          shape_, context, first_images(x_, context.batch, shape_.in_size()).data(),
          first_images(dy_, context.batch, shape_.out_size()).data(), d_weight.data());
      return d_weight.values();
    };
    const std::vector<float> d_weight = run();
    expect_near(d_weight, want, 0, options_);
    EXPECT_EQ(d_weight, run()) << "repeated";
    expect_same_bits(d_weight);
  }

  // As with the first number of threads. oneDNN divides sums among them.
  void expect_same_bits(const std::vector<float>& result) {
    if (&algorithm_ == &library_convolution()) return;
    if (first_.empty()) first_ = result;
    EXPECT_EQ(result, first_) << "with another number of threads";
  }

  // Copies only the batch, so that reads beyond its slack are out of bounds.
  static std::vector<float> first_images(const std::vector<float>& all, std::int64_t batch,
                                         std::int64_t image_size) {
    return with_slack({all.begin(), all.begin() + batch * image_size});
  }

  const ConvolutionAlgorithm& algorithm_;
  const CheckOptions& options_;
  const ConvShape shape_;
  const std::int64_t most_;
  const std::vector<float> x_, dy_, weight_, bias_;
  std::vector<float> first_;
};

std::string text(const ConvShape& s) {
  const auto n = [](std::int64_t v) { return std::to_string(v); };
  return n(s.in_h) + "x" + n(s.in_w) + "x" + n(s.in_c) + " to " + n(s.out_h) + "x" + n(s.out_w) +
         "x" + n(s.out_c) + ", kernel " + n(s.kernel) + ", stride " + n(s.stride) + ", padding " +
         n(s.padding);
}

}  // namespace

ConvolutionReference reference_forward(const ConvShape& s, std::int64_t batch,
                                       const std::vector<float>& x,
                                       const std::vector<float>& weight,
                                       const std::vector<float>& bias) {
  Sums y(batch * s.out_size());
  for (std::int64_t i = 0; i < batch * s.out_size(); ++i) {
    const double value = bias[static_cast<std::size_t>(i % s.out_c)];
    y.add(static_cast<std::size_t>(i), value, std::abs(value));
  }
  each_run(s, batch, [&](std::size_t from, std::size_t w, std::size_t to) {
    const float* a = x.data() + from;
    const float* b = weight.data() + w;
    double sum = 0, magnitude = 0;
    for (std::int64_t i = 0; i < s.in_c; ++i) {
      const double term = double{a[i]} * b[i];
      sum += term;
      magnitude += std::abs(term);
    }
    y.add(to, sum, magnitude);
  });
  return std::move(y).take();
}

ConvolutionReference reference_input_gradient(const ConvShape& s, std::int64_t batch,
                                              const std::vector<float>& dy,
                                              const std::vector<float>& weight) {
  Sums dx(batch * s.in_size());
  each_run(s, batch, [&](std::size_t to, std::size_t w, std::size_t from) {
    dx.add_scaled(to, weight.data() + w, dy[from], s.in_c);
  });
  return std::move(dx).take();
}

ConvolutionReference reference_weight_gradient(const ConvShape& s, std::int64_t batch,
                                               const std::vector<float>& x,
                                               const std::vector<float>& dy) {
  Sums d_weight(s.weights());
  each_run(s, batch, [&](std::size_t i, std::size_t w, std::size_t j) {
    d_weight.add_scaled(w, x.data() + i, dy[j], s.in_c);
  });
  return std::move(d_weight).take();
}

std::vector<ConvShape> ragged_shapes() {
  using simd::conv_shape;
  return {
      // height, width, input channels, output channels, kernel, stride, padding
      conv_shape(1, 1, 1, 1, 1, 1, 0),    conv_shape(28, 28, 1, 6, 5, 1, 2),
      conv_shape(14, 14, 6, 16, 5, 1, 0), conv_shape(5, 9, 1, 7, 5, 2, 1),
      conv_shape(7, 6, 3, 5, 3, 1, 1),    conv_shape(9, 4, 2, 17, 3, 2, 1),
      conv_shape(8, 5, 4, 3, 2, 1, 0),    conv_shape(6, 7, 5, 15, 2, 2, 2),
      conv_shape(4, 3, 19, 8, 3, 1, 2),   conv_shape(5, 5, 7, 9, 1, 2, 0),
      conv_shape(3, 3, 2, 4, 5, 1, 1),    conv_shape(3, 5, 33, 31, 1, 1, 0),
      conv_shape(5, 7, 16, 32, 3, 1, 1),  conv_shape(6, 4, 32, 16, 3, 1, 0),
      conv_shape(2, 3, 48, 16, 3, 1, 1),  conv_shape(7, 5, 16, 48, 3, 2, 1),
      conv_shape(4, 9, 16, 16, 3, 1, 2),  conv_shape(3, 4, 57, 11, 3, 2, 1),
  };
}

int check_algorithm(const ConvolutionAlgorithm& algorithm, const CheckOptions& options) {
  int supported = 0;
  for (const ConvShape& shape : options.shapes) {
    SCOPED_TRACE(text(shape));
    supported += ShapeCheck(algorithm, options, shape).check();
  }
  return supported;
}

}  // namespace lab::test
