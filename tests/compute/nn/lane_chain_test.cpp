#include "compute/nn/lane_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute/kernels/convolution/chooser.h"
#include "compute/kernels/ops/direct_convolution_loops.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/nn/models.h"
#include "compute/nn/network.h"
#include "tests/compute/nn/gradient_check.h"
#include "tests/support/compare.h"
#include "tests/support/simd_targets.h"

namespace lab::nn {
namespace {

using Range = std::pair<std::size_t, std::size_t>;

std::vector<Range> chains_of(NetworkPlan plan, std::int64_t batch,
                             ConvolutionChooser& chooser = rule_chooser()) {
  Machine machine;
  const Preparation preparation{
      .pool = machine.at(cpu()).threads(), .max_batch = batch, .chooser = chooser};
  for (const auto& op : plan.ops) op->prepare(preparation);
  std::vector<Range> ranges;
  for (const LaneChain& chain : find_lane_chains(plan)) {
    ranges.emplace_back(chain.first(), chain.last());
  }
  return ranges;
}

TEST(LaneChain, CoversLeNetUpToItsLinearLayers) {
  EXPECT_EQ(chains_of(plan_model("lenet"), 256), (std::vector<Range>{{0, 5}}));
}

TEST(LaneChain, IsNotUsedForOtherNetworks) {
  NamedChooser gemm("gemm");
  EXPECT_TRUE(chains_of(plan_model("lenet"), 256, gemm).empty()) << "other algorithms";
  EXPECT_EQ(chains_of(plan_model("lenet"), 1).empty(), simd::image_lanes() > 2) << "empty lanes";
  EXPECT_TRUE(chains_of(plan_model("mlp"), 256).empty()) << "no convolution";
  EXPECT_TRUE(chains_of(plan_model("resnet18"), 64).empty()) << "statistics of the whole batch";
}

// A value read by two operations ends a chain.
TEST(LaneChain, EndsWhereAValueIsReadTwice) {
  NetworkPlan plan("test", {1, 9, 9}, WeightInit::FanInUniform);
  const auto conv = [&](std::size_t x, const char* name) {
    const auto w = plan.declare_convolution(name, plan.shape_of(x).channels, 4, 5);
    return plan.convolution(x, w, {.padding = 2});
  };
  const auto a = conv(plan.input(), "a");
  const auto b = plan.average_pool(a, 2, 2);
  const auto c = conv(b, "c");
  const auto d = plan.average_pool(c, 2, 2);
  plan.average_pool(b, 2, 2);  // second reader of b
  plan.flatten(d);
  EXPECT_EQ(chains_of(std::move(plan), 16), (std::vector<Range>{{0, 2}, {2, 4}}));
}

// With and without padding; windows that overlap and windows that skip pixels.
TEST(LaneChain, MatchesFloat64) {
  using namespace lab::test;
  const auto chain = [] {
    NetworkPlan p("test", {2, 6, 5}, WeightInit::FanInUniform);
    auto x = p.convolution(p.input(), p.declare_convolution("a", 2, 3, 5), {.padding = 2});
    x = p.sigmoid_average_pool(x, 2, 1);
    x = p.convolution(x, p.declare_convolution("b", 3, 4, 2), {});
    x = p.average_pool(x, 2, 2);
    x = p.flatten(x);
    p.linear(x, p.declare_linear("end", p.shape_of(x).size(), 3));
    return p;
  };
  ASSERT_EQ(chains_of(chain(), 17), (std::vector<Range>{{0, 5}}));
  expect_matches_reference(
      chain,
      [](const Weights& w, const Images& in) {
        const auto conv = [&](const std::string& name, const Images& x, const ConvSize& size) {
          return convolution(x, w.at(name + ".weight"), w.at(name + ".bias"), size);
        };
        Images x = conv("a", in, {.out = 3, .kernel = 5, .stride = 1, .padding = 2});
        x = average_pool(sigmoid(x), 2, 2, 1);
        x = conv("b", x, {.out = 4, .kernel = 2, .stride = 1, .padding = 0});
        x = average_pool(x, 2, 2, 2);
        return linear(x, w.at("end.weight"), w.at("end.bias"), 3);
      },
      17);
}

// Computes some stages by Winograd where it can, small images too, and the others by definition.
class StageChooser final : public ConvolutionChooser {
 public:
  explicit StageChooser(std::function<bool(ConvolutionStage)> by_winograd)
      : by_winograd_(std::move(by_winograd)) {}
  const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& /*pool*/) override {
    const bool use = by_winograd_(c.stage) && lane_winograd_convolution().supports(c);
    return use ? lane_winograd_convolution() : direct_convolution();
  }

 private:
  const std::function<bool(ConvolutionStage)> by_winograd_;
};

// Winograd after a convolution by definition, which needs the gradient of its output.
TEST(LaneChain, MatchesFloat64WithWinograd) {
  using namespace lab::test;
  StageChooser winograd([](ConvolutionStage /*stage*/) { return true; });
  const auto chain = [] {
    NetworkPlan p("test", {1, 9, 5}, WeightInit::FanInUniform);
    auto x = p.convolution(p.input(), p.declare_convolution("a", 1, 2, 1), {});
    x = p.convolution(x, p.declare_convolution("b", 2, 3, 5), {.padding = 1});
    x = p.flatten(x);
    p.linear(x, p.declare_linear("end", p.shape_of(x).size(), 3));
    return p;
  };
  ASSERT_EQ(chains_of(chain(), 17, winograd), (std::vector<Range>{{0, 3}}));
  Machine machine;
  Network network(chain(), machine.at(cpu()), 17, 0, {.chooser = &winograd});
  std::vector<std::string> methods;
  for (const auto& op : network.plan().ops) {
    if (std::string(op->kind()) != "convolution") continue;
    methods.push_back(op->method(Direction::Forward, Kernels::Lab));
    EXPECT_EQ(op->method(Direction::Backward, Kernels::Lab), methods.back());
  }
  EXPECT_EQ(methods, (std::vector<std::string>{"direct", "winograd2"}));
  expect_matches_reference(chain,
                           [](const Weights& w, const Images& in) {
                             Images x =
                                 convolution(in, w.at("a.weight"), w.at("a.bias"), {.out = 2});
                             x = convolution(x, w.at("b.weight"), w.at("b.bias"),
                                             {.out = 3, .kernel = 5, .stride = 1, .padding = 1});
                             return linear(x, w.at("end.weight"), w.at("end.bias"), 3);
                           },
                           17, {.chooser = &winograd});
}

// The layer before the chain is correct only if the chain propagates its input's gradient.
TEST(LaneChain, PropagatesTheInputGradient) {
  using namespace lab::test;
  const auto plan = [] {
    NetworkPlan p("test", {1, 4, 4}, WeightInit::FanInUniform);
    auto x = p.linear(p.input(), p.declare_linear("begin", 16, 5));
    x = p.convolution(x, p.declare_convolution("a", 5, 3, 1), {});
    x = p.sigmoid_average_pool(x, 1, 1);
    p.linear(x, p.declare_linear("end", 3, 3));
    return p;
  };
  ASSERT_EQ(chains_of(plan(), 17), (std::vector<Range>{{1, 3}}));
  expect_matches_reference(
      plan,
      [](const Weights& w, const Images& in) {
        Images x = linear(in, w.at("begin.weight"), w.at("begin.bias"), 5);
        x = convolution(x, w.at("a.weight"), w.at("a.bias"), {.out = 3});
        return linear(sigmoid(x), w.at("end.weight"), w.at("end.bias"), 3);
      },
      17);
}

struct Result {
  std::vector<float> logits, gradients;
};

Result train_once(Network& network, std::int64_t batch, const PassOptions& options = {}) {
  const auto pixels = test::uniform_values(batch * network.input_shape().size(), 5);
  std::copy(pixels.begin(), pixels.end(), network.input());
  for (std::int64_t i = 0; i < batch; ++i) {
    network.labels()[i] = static_cast<std::uint8_t>(i * 3 % network.classes());
  }
  network.forward(batch, true, options);
  network.loss(batch, static_cast<double>(batch));
  const float* logits = network.logits().data;
  Result result{{logits, logits + batch * network.classes()}, {}};
  network.backward(batch, options);
  result.gradients.assign(network.flat_gradients().begin(), network.flat_gradients().end());
  return result;
}

// On every instruction set and number of threads, for whole and partial blocks.
TEST(LaneChain, MatchesTheSeparateOperations) {
  NamedChooser gemm("gemm");
  for (const int devices : {1, 64}) {
    Machine machine({.cpu_devices = devices});
    test::for_each_simd_target([&] {
      Network chained(plan_model("lenet"), machine.at(cpu()), 37);
      Network single(plan_model("lenet"), machine.at(cpu()), 37, 0, {.chooser = &gemm});
      for (const std::int64_t batch : {37, 32, 16, 5, 1}) {
        SCOPED_TRACE("batch " + std::to_string(batch));
        const Result got = train_once(chained, batch), want = train_once(single, batch);
        EXPECT_TRUE(test::all_close(got.logits, test::to_double(want.logits), 1e-5, 1e-6));
        EXPECT_TRUE(test::all_close(got.gradients, test::to_double(want.gradients), 1e-4, 1e-6));
      }
    });
  }
}

TEST(LaneChain, MixesAlgorithmsOfTheStages) {
  Machine machine;
  NamedChooser gemm("gemm");
  Network single(plan_model("lenet"), machine.at(cpu()), 20, 0, {.chooser = &gemm});
  const Result want = train_once(single, 20);
  for (const auto stage : {ConvolutionStage::Forward, ConvolutionStage::InputGradient,
                           ConvolutionStage::WeightGradient}) {
    for (const bool winograd : {true, false}) {
      SCOPED_TRACE(std::string(to_string(stage)) + (winograd ? " by Winograd" : " by definition"));
      StageChooser chooser([&](ConvolutionStage one) { return (one == stage) == winograd; });
      ASSERT_EQ(chains_of(plan_model("lenet"), 20, chooser), (std::vector<Range>{{0, 5}}));
      Network mixed(plan_model("lenet"), machine.at(cpu()), 20, 0, {.chooser = &chooser});
      const Result got = train_once(mixed, 20);
      EXPECT_TRUE(test::all_close(got.logits, test::to_double(want.logits), 1e-5, 1e-6));
      EXPECT_TRUE(test::all_close(got.gradients, test::to_double(want.gradients), 1e-4, 1e-6));
    }
  }
}

TEST(LaneChain, RepeatsBitForBit) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 40);
  const Result first = train_once(network, 40), second = train_once(network, 40);
  EXPECT_EQ(first.logits, second.logits);
  EXPECT_EQ(first.gradients, second.gradients);
}

// The library's kernels run operation by operation in the same memory.
TEST(LaneChain, KeepsTheLibrarysLayout) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 20, 0, {.library = true});
  const Result own = train_once(network, 20);
  const Result library = train_once(network, 20, {.kernels = Kernels::Library});
  EXPECT_TRUE(test::all_close(library.logits, test::to_double(own.logits), 1e-5, 1e-6));
  EXPECT_TRUE(test::all_close(library.gradients, test::to_double(own.gradients), 1e-4, 1e-6));
}

struct Times final : StepObserver {
  void done(StepPhase phase, std::size_t op, double s) override {
    seconds[{phase, op}] += s;
    (phase == StepPhase::Forward ? forward : backward).push_back(op);
  }
  std::map<std::pair<StepPhase, std::size_t>, double> seconds;
  std::vector<std::size_t> forward, backward;
};

TEST(LaneChain, ReportsTheTimeOfEachOperation) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 64);
  Times times;
  PassOptions options;
  options.observer = &times;
  train_once(network, 64, options);
  const std::size_t ops = network.plan().ops.size();
  EXPECT_EQ(times.seconds.size(), 2 * ops) << "each operation, forward and backward";
  for (const auto& [what, seconds] : times.seconds) EXPECT_GT(seconds, 0) << what.second;
  EXPECT_TRUE(std::is_sorted(times.forward.begin(), times.forward.end()));
  EXPECT_TRUE(std::is_sorted(times.backward.rbegin(), times.backward.rend()));
}

TEST(LaneChain, GradientsAreReadyLastLayersFirst) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 16);
  std::vector<std::size_t> ready;
  PassOptions options;
  options.gradient_ready = [&](std::size_t parameter) { ready.push_back(parameter); };
  train_once(network, 16, options);
  ASSERT_EQ(ready.size(), network.parameters().size());
  EXPECT_TRUE(std::is_sorted(ready.rbegin(), ready.rend()));
}

// Stopped in forward or backward; the next step must be unaffected.
TEST(LaneChain, StopsAndContinues) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 40);
  const Result want = train_once(network, 40);
  for (const bool in_forward : {true, false}) {
    std::stop_source stop;
    PassOptions options;
    options.stop = stop.get_token();
    if (in_forward) stop.request_stop();
    options.gradient_ready = [&](std::size_t) { stop.request_stop(); };
    EXPECT_THROW(train_once(network, 40, options), Error);
    const Result got = train_once(network, 40);
    EXPECT_EQ(got.logits, want.logits);
    EXPECT_EQ(got.gradients, want.gradients);
  }
}

TEST(LaneChain, RejectsOtherKernelsInBackward) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 16, 0, {.library = true});
  network.forward(16, true, {});
  network.loss(16, 16.0);
  EXPECT_THROW(network.backward(16, {.kernels = Kernels::Library}), Error);
}

TEST(PixelSums, AreExactOnSmallIntegers) {
  test::for_each_simd_target([] {
    const std::int64_t lanes = simd::image_lanes(), channels = 3;
    for (const std::int64_t pixels : {1, 3, 4, 31, 33, 70}) {
      SCOPED_TRACE(pixels);
      const auto values = test::small_integers(pixels * channels * lanes + 16, 3);
      std::vector<float> memory(values.size() + 16);
      void* at = memory.data();
      std::size_t room = memory.size() * sizeof(float);
      auto* block = static_cast<float*>(std::align(64, values.size() * sizeof(float), at, room));
      ASSERT_NE(block, nullptr);
      std::copy(values.begin(), values.end(), block);
      std::vector<double> want(static_cast<std::size_t>(channels * lanes), 1.0), got = want;
      for (std::int64_t i = 0; i < pixels * channels * lanes; ++i) {
        want[static_cast<std::size_t>(i % (channels * lanes))] +=
            static_cast<double>(values[static_cast<std::size_t>(i)]);
      }
      simd::add_pixel_sums(block, pixels, channels, got.data());
      EXPECT_EQ(got, want);
    }
  });
}

}  // namespace
}  // namespace lab::nn
