// Names, work and algorithms of operations as profiles report them, and that every operation is
// observed.
#include "compute/nn/op_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compute/nn/models.h"
#include "compute/nn/network.h"

namespace lab::nn {
namespace {

std::size_t op_named(const std::vector<OpName>& names, const std::string& layer) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const OpName& n) { return n.layer == layer; });
  EXPECT_NE(found, names.end()) << layer;
  return static_cast<std::size_t>(found - names.begin());
}

// The operation of this name in a network, which determines whose gradients accumulate.
struct Found {
  Found(const char* model, const char* layer)
      : network(plan_model(model), machine.at(cpu()), 4),
        op(*network.plan().ops[op_named(name_ops(network.plan()), layer)]) {}
  Work work(Direction direction, std::int64_t batch) const {
    return work_of(network.plan(), op, direction, batch);
  }
  Machine machine;
  Network network;
  const Op& op;
};

TEST(OpNames, UseTheWeightsOrThePrecedingLayer) {
  const std::vector<OpName> names = name_ops(plan_model("lenet"));
  ASSERT_GE(names.size(), 3U);
  EXPECT_EQ(names[0].layer, "net.0");
  EXPECT_EQ(names[0].kind, "convolution");
  EXPECT_EQ(names[0].shape, "1x28x28 to 6x28x28");
  EXPECT_EQ(names.back().layer, "net.11");
  EXPECT_EQ(names.back().shape, "84 to 10");
  for (const OpName& name : names) EXPECT_EQ(name.kind.find('_'), std::string::npos) << name.kind;
}

TEST(OpNames, AreUniqueWithinAModel) {
  for (const std::string& model : model_names()) {
    std::vector<std::string> layers;
    for (const OpName& name : name_ops(plan_model(model))) layers.push_back(name.layer);
    std::sort(layers.begin(), layers.end());
    EXPECT_EQ(std::adjacent_find(layers.begin(), layers.end()), layers.end()) << model;
  }
}

TEST(OpWork, OfAConvolutionFollowsTheFormula) {
  const Found conv("resnet18", "resnet_block2.0.conv1");  // 3x3, stride 2, 64x28x28 to 128x14x14
  constexpr std::int64_t kIn = 64 * 28 * 28, kOut = 128 * 14 * 14, kWeights = 128 * 64 * 9 + 128;
  constexpr std::int64_t kFlop = 2LL * kOut * 64 * 9;
  EXPECT_EQ(conv.work(Direction::Forward, 3).flop, 3 * kFlop);
  EXPECT_EQ(conv.work(Direction::Forward, 3).bytes, 4 * (3 * kIn + 3 * kOut + kWeights));
  EXPECT_EQ(conv.work(Direction::Backward, 3).flop, 2 * 3 * kFlop);
  const std::int64_t dx = conv.op.inputs[0].accumulate ? 2 * kIn : kIn;
  EXPECT_EQ(conv.work(Direction::Backward, 3).bytes,
            4 * (3 * kOut + 3 * kIn + 3 * dx + 2 * kWeights));
}

TEST(OpWork, OfAFirstLayerExcludesTheImageGradient) {
  const Found linear("softmax", "net.1");
  EXPECT_EQ(linear.work(Direction::Forward, 5).flop, 2 * 5 * 784 * 10);
  EXPECT_EQ(linear.work(Direction::Backward, 5).flop, 2 * 5 * 784 * 10);
  EXPECT_EQ(linear.work(Direction::Backward, 5).bytes, 4 * (5 * 10 + 5 * 784 + 7850));
}

TEST(OpWork, OfAHiddenLayerIsTwiceAsMuchBackward) {
  const Found linear("mlp", "net.3");
  EXPECT_EQ(linear.work(Direction::Forward, 7).flop, 2 * 7 * 256 * 10);
  EXPECT_EQ(linear.work(Direction::Backward, 7).flop, 4 * 7 * 256 * 10);
}

TEST(OpWork, OfElementwiseOperationsIsTrafficOnly) {
  const Found relu("mlp", "relu after net.1");
  EXPECT_EQ(relu.work(Direction::Forward, 2).flop, 0);
  EXPECT_EQ(relu.work(Direction::Forward, 2).bytes, 4 * 2 * 2 * 256) << "in place: read, written";
  EXPECT_EQ(relu.work(Direction::Backward, 2).bytes, 4 * 3 * 2 * 256);
}

// A training image costs about 2.73 GFLOP in the chapters' ResNet-18.
TEST(OpWork, AddsUpToTheModelsWork) {
  Machine machine;
  const Network network(plan_model("resnet18"), machine.at(cpu()), 1);
  std::int64_t flop = 0;
  for (const auto& op : network.plan().ops) {
    flop += op->flop(Direction::Forward, 1) + op->flop(Direction::Backward, 1);
  }
  EXPECT_NEAR(static_cast<double>(flop), 2.734e9, 0.01e9);
}

TEST(OpMethods, ConvolutionsAndProductsNameTheirAlgorithms) {
  const Found conv("lenet", "net.0"), linear("lenet", "net.7");
  for (const Kernels kernels : {Kernels::Lab, Kernels::Library}) {
    for (const Direction direction : {Direction::Forward, Direction::Backward}) {
      EXPECT_FALSE(conv.op.method(direction, kernels).empty());
      EXPECT_FALSE(linear.op.method(direction, kernels).empty());
    }
  }
  EXPECT_NE(linear.op.method(Direction::Forward, Kernels::Lab),
            linear.op.method(Direction::Forward, Kernels::Library));
}

struct Calls final : StepObserver {
  void done(StepPhase phase, std::size_t op, double seconds) override {
    EXPECT_GE(seconds, 0);
    (phase == StepPhase::Forward ? forward : backward).push_back(op);
  }
  std::vector<std::size_t> forward, backward;
};

TEST(StepObserver, SeesEveryOperationOncePerPass) {
  for (const std::string& model : model_names()) {
    SCOPED_TRACE(model);
    Machine machine;
    Network network(plan_model(model), machine.at(cpu()), 2);
    std::fill_n(network.input(), 2 * 784, 0.5F);
    std::fill_n(network.labels(), 2, std::uint8_t{1});
    Calls calls;
    PassOptions options;
    options.observer = &calls;
    network.forward(2, true, options);
    network.loss(2, 2.0);
    network.backward(2, options);
    const std::size_t ops = network.plan().ops.size();
    ASSERT_EQ(calls.forward.size(), ops);
    for (std::size_t i = 0; i < ops; ++i) EXPECT_EQ(calls.forward[i], i);
    EXPECT_TRUE(std::is_sorted(calls.backward.rbegin(), calls.backward.rend()));
    const auto expected = std::count_if(network.plan().ops.begin(), network.plan().ops.end(),
                                        [](const auto& op) { return op->has_backward(); });
    EXPECT_EQ(static_cast<std::ptrdiff_t>(calls.backward.size()), expected);
  }
}

}  // namespace
}  // namespace lab::nn
