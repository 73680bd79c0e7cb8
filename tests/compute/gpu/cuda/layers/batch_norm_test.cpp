#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compute/tensor/random.h"
#include "tests/support/layers_under_test.h"

namespace lab {
namespace {

using test::LayersUnderTest;
using test::Tiles;

struct NormCase {
  std::int64_t rows = 1, channels = 1;
  bool training = true, relu = false, residual = false, left_bias = false;
  DType x_type = DType::F32, y_type = DType::F32;  // of x and dx, and of all others
};

std::vector<float> norm_numbers(std::int64_t count, std::uint64_t seed, float scale = 1,
                                float offset = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  RandomStream{seed, 0}.fill_normal(values);
  for (float& value : values) value = value * scale + offset;
  return values;
}

// Inputs of both passes, and the results in float64.
struct NormReference {
  NormCase size;
  float eps = 1e-5F, momentum = 0.1F;
  std::vector<float> x, residual, weight, bias, left_bias, running_mean, running_variance, dy;
  std::vector<double> mean, inverse, moved_mean, moved_variance, y, g, dx, dweight, dbias;

  explicit NormReference(const NormCase& one, float offset = 0.5F) : size(one) {
    const std::int64_t count = one.rows * one.channels;
    x = norm_numbers(count, 1, 2, offset);
    residual = norm_numbers(count, 2);
    weight = norm_numbers(one.channels, 3);
    bias = norm_numbers(one.channels, 4);
    left_bias = norm_numbers(one.channels, 5);
    running_mean = norm_numbers(one.channels, 6);
    running_variance = norm_numbers(one.channels, 7, 0.1F, 1);
    dy = norm_numbers(count, 8);
    const auto round = [](std::vector<float>& values, DType dtype) {
      for (float& value : values) value = LayersUnderTest::rounded_to(value, dtype);
    };
    round(x, one.x_type);
    round(residual, one.y_type);
    round(dy, one.y_type);
    forward();
    backward();
  }

  std::size_t channels() const { return weight.size(); }
  std::size_t channel(std::size_t i) const { return i % channels(); }
  double rows() const { return static_cast<double>(size.rows); }

  void forward() {
    mean.assign(channels(), 0);
    std::vector<double> variance(channels());
    for (std::size_t i = 0; i < x.size(); ++i) mean[channel(i)] += x[i] / rows();
    for (std::size_t i = 0; i < x.size(); ++i) {
      variance[channel(i)] += std::pow(x[i] - mean[channel(i)], 2) / rows();
    }
    for (std::size_t c = 0; c < channels(); ++c) {
      const double left = size.left_bias ? left_bias[c] : 0;
      const double share = momentum;
      moved_mean.push_back(running_mean[c]);
      moved_variance.push_back(running_variance[c]);
      if (size.training) {
        const double unbiased = size.rows > 1 ? rows() / (rows() - 1) : 1;
        moved_mean[c] += share * (mean[c] + left - moved_mean[c]);
        moved_variance[c] += share * (variance[c] * unbiased - moved_variance[c]);
      } else {
        mean[c] = running_mean[c] - left;
        variance[c] = running_variance[c];
      }
      inverse.push_back(1 / std::sqrt(variance[c] + double{eps}));
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = channel(i);
      double value = (x[i] - mean[c]) * inverse[c] * weight[c] + bias[c];
      if (size.residual) value += residual[i];
      y.push_back(size.relu ? std::max(0.0, value) : value);
    }
  }

  void backward() {
    dbias.assign(channels(), 0);
    dweight.assign(channels(), 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = channel(i);
      g.push_back(size.relu && y[i] <= 0 ? 0 : dy[i]);
      dbias[c] += g[i];
      dweight[c] += g[i] * (x[i] - mean[c]) * inverse[c];
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = channel(i);
      const double normal = (x[i] - mean[c]) * inverse[c];
      dx.push_back(weight[c] * inverse[c] *
                   (g[i] - dbias[c] / rows() - normal * dweight[c] / rows()));
    }
  }
};

void expect_close(LayersUnderTest& gpu, ConstGpuActivations array,
                  const std::vector<double>& expected, double tolerance, const char* what) {
  if (array.is_bf16()) tolerance += 0x1p-8;
  const std::vector<float> values = gpu.values(array, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], tolerance * (1 + std::abs(expected[i])))
        << what << " " << i;
  }
}

GpuBatchNorm upload(LayersUnderTest& gpu, const NormReference& reference, bool keeps = false) {
  const NormCase& size = reference.size;
  GpuBatchNorm norm{.rows = size.rows,
                    .channels = size.channels,
                    .training = size.training,
                    .relu = size.relu,
                    .x = gpu.input("x", reference.x, size.x_type),
                    .weight = gpu.input("weight", reference.weight),
                    .bias = gpu.input("bias", reference.bias)};
  if (size.residual) norm.residual = gpu.input("residual", reference.residual, size.y_type);
  if (size.left_bias) norm.left_bias = gpu.input("left_bias", reference.left_bias);
  norm.running_mean = gpu.inout("running_mean", reference.running_mean);
  norm.running_variance = gpu.inout("running_variance", reference.running_variance);
  const std::size_t channels = reference.channels();
  norm.mean = gpu.output<float>("mean", channels);
  norm.inverse_deviation = gpu.output<float>("inverse_deviation", channels);
  norm.y = gpu.output("y", reference.y.size(), size.y_type);
  norm.dy = gpu.input("dy", reference.dy, size.y_type);
  norm.dx = gpu.output("dx", reference.dx.size(), size.x_type);
  if (size.residual) norm.dresidual = gpu.output("dresidual", reference.dx.size(), size.y_type);
  norm.dweight = gpu.output<float>("dweight", channels);
  norm.dbias = gpu.output<float>("dbias", channels);
  norm.y_largest = gpu.output<std::uint32_t>("y_largest", 1);
  norm.dx_largest = gpu.output<std::uint32_t>("dx_largest", 1);
  norm.workspace = gpu.output<std::byte>(
      "workspace", static_cast<std::size_t>(gpu.layers().workspace_bytes(norm)));
  const auto kept = static_cast<std::size_t>(gpu.layers().kept_bytes(norm));
  if (keeps && kept > 0) norm.kept = gpu.output<std::byte>("kept", kept);
  return norm;
}

// The largest magnitude of an array, as found while it is computed; not by libraries.
void expect_largest(LayersUnderTest& gpu, const std::uint32_t* found, ConstGpuActivations array,
                    std::size_t count, const char* what) {
  if (gpu.by_library() || array.is_bf16()) return;  // of bf16, that before rounding is found
  float most = 0;
  for (const float value : gpu.values(array, count)) most = std::max(most, std::abs(value));
  EXPECT_EQ(std::bit_cast<float>(gpu.values(found, 1).front()), most) << what;
}

void check_passes(const NormReference& reference, bool keeps) {
  const NormCase& one = reference.size;
  const bool bf16 = one.x_type == DType::BF16 || one.y_type == DType::BF16;
  test::on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    if (bf16 && gpu.by_library()) return;
    GpuBatchNorm norm = upload(gpu, reference, keeps);
    gpu.layers().batch_norm_forward(norm, gpu.stream());
    const double tolerance = gpu.by_library() ? 1e-5 : 1e-6;
    if (one.training) {
      expect_close(gpu, norm.mean, reference.mean, tolerance, "mean");
      expect_close(gpu, norm.inverse_deviation, reference.inverse, tolerance, "inverse_deviation");
    }
    expect_close(gpu, norm.running_mean, reference.moved_mean, tolerance, "running_mean");
    expect_close(gpu, norm.running_variance, reference.moved_variance, tolerance,
                 "running_variance");
    expect_close(gpu, norm.y, reference.y, 1e-5, "y");
    expect_largest(gpu, norm.y_largest, norm.y, reference.y.size(), "y");
    if (!one.training) return;
    if (keeps && !gpu.by_library()) norm.y = {nullptr, norm.y.dtype()};  // not read
    gpu.layers().batch_norm_backward(norm, gpu.stream());
    expect_close(gpu, norm.dbias, reference.dbias, 1e-5, "dbias");
    expect_close(gpu, norm.dweight, reference.dweight, 1e-5, "dweight");
    expect_close(gpu, norm.dx, reference.dx, 1e-5, "dx");
    expect_largest(gpu, norm.dx_largest, norm.dx, reference.dx.size(), "dx");
    if (one.residual) expect_close(gpu, norm.dresidual, reference.g, 0, "dresidual");
  });
}

void check_norm(const NormCase& one) {
  SCOPED_TRACE(std::to_string(one.rows) + " rows, " + std::to_string(one.channels) + " channels");
  const NormReference reference(one);
  check_passes(reference, /*keeps=*/false);
  if (one.relu && one.residual) check_passes(reference, /*keeps=*/true);
}

TEST(LayersBatchNorm, AgreesWithFloat64OnRaggedSizes) {
  LAB_REQUIRE_LAYERS();
  check_norm({.rows = 40, .channels = 1, .training = true, .relu = false});
  check_norm({.rows = 37, .channels = 3, .training = true, .relu = true});
  check_norm({.rows = 300, .channels = 5, .training = true, .relu = true, .residual = true});
  check_norm({.rows = 101, .channels = 8, .training = true, .relu = false, .left_bias = true});
  check_norm({.rows = 29, .channels = 13, .training = true, .relu = false, .residual = true});
  check_norm({.rows = 150,
              .channels = 64,
              .training = true,
              .relu = true,
              .residual = true,
              .left_bias = true});
  check_norm({.rows = 9, .channels = 132, .training = true, .relu = true});
}

TEST(LayersBatchNorm, ComputesBf16Activations) {
  LAB_REQUIRE_LAYERS();
  constexpr DType kF32 = DType::F32, kBf16 = DType::BF16;
  for (const auto& [x, y] : {std::pair{kBf16, kBf16}, {kF32, kBf16}, {kBf16, kF32}}) {
    check_norm({.rows = 101, .channels = 8, .relu = true, .x_type = x, .y_type = y});
    check_norm({.rows = 300,
                .channels = 64,
                .relu = true,
                .residual = true,
                .left_bias = true,
                .x_type = x,
                .y_type = y});
    check_norm({.rows = 20, .channels = 136, .training = false, .x_type = x, .y_type = y});
  }
}

TEST(LayersBatchNorm, EvaluatesWithTheRunningStatistics) {
  LAB_REQUIRE_LAYERS();
  check_norm({.rows = 20, .channels = 5, .training = false, .relu = true, .left_bias = true});
  check_norm({.rows = 20, .channels = 8, .training = false, .relu = false, .residual = true});
}

TEST(LayersBatchNorm, KeepsTheVarianceOfValuesFarFromZero) {
  LAB_REQUIRE_LAYERS();
  // Squares of single precision would leave no digit of a variance of 4 with a mean of 10^4.
  const NormReference reference({.rows = 64, .channels = 4, .training = true}, 1e4F);
  test::on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    if (gpu.by_library()) return;
    const GpuBatchNorm norm = upload(gpu, reference);
    gpu.layers().batch_norm_forward(norm, gpu.stream());
    expect_close(gpu, norm.inverse_deviation, reference.inverse, 1e-6, "inverse_deviation");
  });
}

TEST(LayersBatchNorm, SkipsNullGradients) {
  LAB_REQUIRE_LAYERS();
  const NormReference reference({.rows = 33, .channels = 8, .training = true});
  test::on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    GpuBatchNorm norm = upload(gpu, reference);
    gpu.layers().batch_norm_forward(norm, gpu.stream());
    norm.dx = nullptr;
    gpu.layers().batch_norm_backward(norm, gpu.stream());
    expect_close(gpu, norm.dweight, reference.dweight, 1e-5, "dweight");
  });
}

TEST(LayersBatchNorm, UsesTheWorkspaceOfALargerBatch) {
  LAB_REQUIRE_LAYERS();
  test::on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    std::int64_t before = 0;
    for (std::int64_t rows = 1; rows < 1 << 20; rows = rows * 3 / 2 + 1) {
      const std::int64_t bytes =
          gpu.layers().workspace_bytes(GpuBatchNorm{.rows = rows, .channels = 24});
      EXPECT_GE(bytes, before) << rows;
      before = bytes;
    }
  });
}

}  // namespace
}  // namespace lab
