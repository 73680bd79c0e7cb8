#include <gtest/gtest.h>

#include "compute/nn/network.h"
#include "tests/compute/nn/gradient_check.h"
#include "tests/support/reference_nn.h"

namespace lab::test {
namespace {

using nn::NetworkPlan;
using nn::WeightInit;
using ValueId = NetworkPlan::ValueId;

// Every network ends in a linear layer "end" with three classes. Most begin with a 1x1 convolution
// "begin", whose gradients are correct only if the layer under test propagates its input's
// gradient.
NetworkPlan start(nn::ImageShape shape) {
  return {"test", shape, WeightInit::FanInUniform};
}

ValueId begin(NetworkPlan& plan, std::int64_t channels) {
  const auto weights =
      plan.declare_convolution("begin", plan.shape_of(plan.input()).channels, channels, 1);
  return plan.convolution(plan.input(), weights, {});
}

NetworkPlan end(NetworkPlan plan, ValueId x) {
  x = plan.flatten(x);
  plan.linear(x, plan.declare_linear("end", plan.shape_of(x).size(), 3));
  return plan;
}

Images ref_convolution(const Weights& w, const std::string& name, const Images& x,
                       const ConvSize& size) {
  return convolution(x, w.at(name + ".weight"), w.at(name + ".bias"), size);
}
Images ref_begin(const Weights& w, const Images& x, std::int64_t channels) {
  return ref_convolution(w, "begin", x, {.out = channels});
}
Images ref_linear(const Weights& w, const std::string& name, const Images& x, std::int64_t out) {
  return linear(x, w.at(name + ".weight"), w.at(name + ".bias"), out);
}
Images ref_norm(const Weights& w, const std::string& name, const Images& x) {
  return batch_norm(x, w.at(name + ".weight"), w.at(name + ".bias"));
}

TEST(Linear, MatchesFloat64) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({1, 3, 5});
        const ValueId x = plan.linear(plan.input(), plan.declare_linear("a", 15, 17));
        return end(std::move(plan), x);
      },
      [](const Weights& w, const Images& x) {
        return ref_linear(w, "end", ref_linear(w, "a", x, 17), 3);
      });
}

TEST(Relu, MatchesFloat64) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({1, 4, 4});
        const ValueId x = plan.relu(plan.linear(plan.input(), plan.declare_linear("a", 16, 19)));
        return end(std::move(plan), x);
      },
      [](const Weights& w, const Images& x) {
        return ref_linear(w, "end", relu(ref_linear(w, "a", x, 19)), 3);
      });
}

TEST(Sigmoid, MatchesFloat64) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({1, 4, 4});
        const ValueId x = plan.sigmoid(plan.linear(plan.input(), plan.declare_linear("a", 16, 19)));
        return end(std::move(plan), x);
      },
      [](const Weights& w, const Images& x) {
        return ref_linear(w, "end", sigmoid(ref_linear(w, "a", x, 19)), 3);
      });
}

struct ConvCase {
  nn::ImageShape image;
  std::int64_t channels;
  ConvSize size;
};

class ConvolutionTest : public testing::TestWithParam<ConvCase> {};

TEST_P(ConvolutionTest, MatchesFloat64) {
  const ConvCase& c = GetParam();
  expect_matches_reference(
      [&] {
        NetworkPlan plan = start(c.image);
        const ValueId x = begin(plan, c.channels);
        const auto weights =
            plan.declare_convolution("conv", c.channels, c.size.out, c.size.kernel);
        const ValueId y =
            plan.convolution(x, weights, {.stride = c.size.stride, .padding = c.size.padding});
        return end(std::move(plan), y);
      },
      [&](const Weights& w, const Images& x) {
        return ref_linear(w, "end", ref_convolution(w, "conv", ref_begin(w, x, c.channels), c.size),
                          3);
      });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvolutionTest,
    testing::Values(ConvCase{{1, 5, 4}, 1, {1, 1, 1, 0}}, ConvCase{{2, 6, 5}, 3, {4, 3, 1, 1}},
                    ConvCase{{2, 7, 6}, 3, {2, 3, 2, 1}}, ConvCase{{1, 8, 5}, 2, {3, 5, 1, 2}},
                    ConvCase{{1, 5, 5}, 6, {2, 5, 1, 0}}, ConvCase{{1, 5, 7}, 3, {5, 1, 2, 0}},
                    ConvCase{{1, 3, 3}, 17, {2, 3, 1, 3}}, ConvCase{{1, 9, 2}, 2, {2, 2, 3, 1}}));

TEST(BatchNorm, MatchesFloat64) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({2, 5, 3});
        const ValueId x = begin(plan, 3);
        const ValueId y = plan.batch_norm(x, plan.declare_batch_norm("norm", 3), false);
        return end(std::move(plan), y);
      },
      [](const Weights& w, const Images& x) {
        return ref_linear(w, "end", ref_norm(w, "norm", ref_begin(w, x, 3)), 3);
      });
}

TEST(BatchNorm, WithReluMatchesFloat64) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({2, 5, 3});
        const ValueId x = begin(plan, 19);
        const ValueId y = plan.batch_norm(x, plan.declare_batch_norm("norm", 19), true);
        return end(std::move(plan), y);
      },
      [](const Weights& w, const Images& x) {
        return ref_linear(w, "end", relu(ref_norm(w, "norm", ref_begin(w, x, 19))), 3);
      });
}

TEST(BatchNorm, AbsorbsTheConvolutionsBias) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({2, 5, 4});
        const auto conv = plan.declare_convolution("conv", 2, 3, 3);
        const auto norm = plan.declare_batch_norm("norm", 3);
        const ValueId y =
            plan.convolution_norm(plan.input(), conv, {.padding = 1}, norm, /*relu=*/true);
        return end(std::move(plan), y);
      },
      [](const Weights& w, const Images& x) {
        const Images y = ref_convolution(w, "conv", x, {3, 3, 1, 1});
        return ref_linear(w, "end", relu(ref_norm(w, "norm", y)), 3);
      });
}

struct PoolCase {
  nn::ImageShape image;
  std::int64_t channels, kernel, stride;
};

class AveragePoolTest : public testing::TestWithParam<PoolCase> {};

TEST_P(AveragePoolTest, MatchesFloat64) {
  const PoolCase& c = GetParam();
  expect_matches_reference(
      [&] {
        NetworkPlan plan = start(c.image);
        const ValueId x = begin(plan, c.channels);
        const ValueId y = plan.average_pool(x, c.kernel, c.stride);
        return end(std::move(plan), y);
      },
      [&](const Weights& w, const Images& x) {
        const Images y = average_pool(ref_begin(w, x, c.channels), c.kernel, c.kernel, c.stride);
        return ref_linear(w, "end", y, 3);
      });
}

INSTANTIATE_TEST_SUITE_P(Shapes, AveragePoolTest,
                         testing::Values(PoolCase{{1, 6, 4}, 6, 2, 2}, PoolCase{{2, 7, 5}, 3, 2, 2},
                                         PoolCase{{1, 5, 6}, 17, 3, 1},
                                         PoolCase{{1, 7, 7}, 2, 2, 3}));

TEST(AveragePool, BehindASigmoidMatchesFloat64) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({1, 6, 5});
        const ValueId x = begin(plan, 3);
        const ValueId y = plan.sigmoid_average_pool(x, 2, 2);
        return end(std::move(plan), y);
      },
      [](const Weights& w, const Images& x) {
        return ref_linear(w, "end", average_pool(sigmoid(ref_begin(w, x, 3)), 2, 2, 2), 3);
      });
}

TEST(GlobalAveragePool, MatchesFloat64) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({1, 5, 3});
        const ValueId x = begin(plan, 18);
        const ValueId y = plan.global_average_pool(x);
        return end(std::move(plan), y);
      },
      [](const Weights& w, const Images& x) {
        return ref_linear(w, "end", average_pool(ref_begin(w, x, 18), 5, 3, 1), 3);
      });
}

// relu(norm2(conv2(relu(norm1(conv1(x))))) + x or conv3(x)): the input's gradient has two sources.
void expect_residual_matches(std::int64_t stride) {
  const bool reshapes = stride != 1;
  expect_matches_reference(
      [&] {
        NetworkPlan plan = start({1, 6, 5});
        const ValueId x = begin(plan, 3);
        const auto conv1 = plan.declare_convolution("conv1", 3, 3, 3);
        const auto conv2 = plan.declare_convolution("conv2", 3, 3, 3);
        const auto norm1 = plan.declare_batch_norm("norm1", 3);
        const auto norm2 = plan.declare_batch_norm("norm2", 3);
        ValueId y = plan.convolution_norm(x, conv1, {.stride = stride, .padding = 1}, norm1, true);
        ValueId skip = x;
        if (reshapes) {
          skip =
              plan.convolution(x, plan.declare_convolution("conv3", 3, 3, 1), {.stride = stride});
        }
        y = plan.convolution_norm_residual(y, conv2, {.padding = 1}, norm2, skip);
        return end(std::move(plan), y);
      },
      [&](const Weights& w, const Images& input) {
        const Images x = ref_begin(w, input, 3);
        Images y = ref_convolution(w, "conv1", x, {3, 3, stride, 1});
        y = ref_convolution(w, "conv2", relu(ref_norm(w, "norm1", y)), {3, 3, 1, 1});
        const Images skip = reshapes ? ref_convolution(w, "conv3", x, {3, 1, stride, 0}) : x;
        return ref_linear(w, "end", relu(add(ref_norm(w, "norm2", y), skip)), 3);
      });
}

TEST(Residual, WithIdentityMatchesFloat64) {
  expect_residual_matches(1);
}

TEST(Residual, WithConvolutionMatchesFloat64) {
  expect_residual_matches(2);
}

// The residual needs no gradient.
TEST(Residual, WithTheImagesMatchesFloat64) {
  expect_matches_reference(
      [] {
        NetworkPlan plan = start({1, 6, 5});
        const auto conv = plan.declare_convolution("conv", 3, 1, 3);
        const auto norm = plan.declare_batch_norm("norm", 1);
        const ValueId y = plan.convolution_norm_residual(begin(plan, 3), conv, {.padding = 1}, norm,
                                                         plan.input());
        return end(std::move(plan), y);
      },
      [](const Weights& w, const Images& x) {
        const Images y = ref_convolution(w, "conv", ref_begin(w, x, 3), {1, 3, 1, 1});
        return ref_linear(w, "end", relu(add(ref_norm(w, "norm", y), x)), 3);
      });
}

}  // namespace
}  // namespace lab::test
