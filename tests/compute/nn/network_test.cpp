#include "compute/nn/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/error.h"
#include "compute/nn/models.h"
#include "compute/nn/network_memory.h"
#include "compute/nn/sgd.h"
#include "tests/support/compare.h"
#include "tests/support/counting_new.h"
#include "tests/support/errors.h"

namespace lab::nn {
namespace {

void fill_batch(Network& network, std::int64_t batch, std::uint32_t seed) {
  const auto pixels = test::uniform_values(batch * network.input_shape().size(), seed);
  std::copy(pixels.begin(), pixels.end(), network.input());
  for (std::int64_t i = 0; i < batch; ++i) {
    network.labels()[i] = static_cast<std::uint8_t>((i + seed) % 10);
  }
}

double train_step(Network& network, Sgd& sgd, std::int64_t batch, std::uint32_t seed) {
  fill_batch(network, batch, seed);
  network.forward(batch, true, {});
  const double loss = network.loss(batch, static_cast<double>(batch)).loss_sum;
  network.backward(batch, {});
  sgd.step(0.5);
  return loss / static_cast<double>(batch);
}

std::vector<float> trained_parameters() {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 20, 5);
  Sgd sgd(network, {.momentum = 0.9});
  for (std::uint32_t step = 0; step < 3; ++step) train_step(network, sgd, 20 - step, step);
  const auto flat = network.flat_parameters();
  return {flat.begin(), flat.end()};
}

TEST(Network, IsBitIdenticalFromRunToRun) {
  EXPECT_EQ(trained_parameters(), trained_parameters());
}

TEST(Network, NamesItsMemory) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 4);
  std::vector<std::string> names;
  for (const TensorInfo& info : machine.at(cpu()).memory().list()) names.push_back(info.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"lenet parameters", "lenet gradients", "lenet activations"}));
}

TEST(Network, RejectsABatchBeyondItsMemory) {
  Machine machine;
  Network network(plan_model("softmax"), machine.at(cpu()), 4);
  EXPECT_THROW(network.forward(5, true, {}), Error);
  EXPECT_THROW(network.forward(0, true, {}), Error);
  EXPECT_THROW(Network(plan_model("softmax"), machine.at(cpu()), 0), Error);
}

TEST(Network, RejectsABackwardOfAnotherBatch) {
  Machine machine;
  Network network(plan_model("softmax"), machine.at(cpu()), 4);
  network.forward(3, true, {});
  network.loss(3, 3.0);
  const std::string message =
      test::message_of([&] { network.backward(2, {}); }, Errc::InvalidArgument);
  EXPECT_NE(message.find("backward of 2 images after forward of 3"), std::string::npos) << message;
}

TEST(Network, CountsTheBytesOfItsActivationsBeforeItAllocatesThem) {
  Machine machine({.emulated_gpus = 1});
  for (const Device device : {cpu(), emulated_gpu(0)}) {
    SCOPED_TRACE(to_string(device));
    Network network(plan_model("resnet18", 8), machine.at(device), std::nullopt);
    EXPECT_EQ(network.max_batch(), 0);
    EXPECT_EQ(network.activation_bytes(), 0);
    EXPECT_THROW(network.forward(1, true, {}), Error);
    const std::int64_t before = machine.at(device).memory().used_bytes();
    const auto bytes = network.activation_bytes(3);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(machine.at(device).memory().used_bytes(), before);
    network.set_max_batch(3);
    EXPECT_EQ(network.activation_bytes(), *bytes);
    EXPECT_EQ(machine.at(device).memory().used_bytes(), before + *bytes);
    EXPECT_GT(network.activation_bytes(4), bytes);
    EXPECT_EQ(network.max_batch(), 3);
  }
  // Arrays of more elements than the kernels address.
  Network network(plan_model("resnet18", 8), machine.at(emulated_gpu(0)), std::nullopt);
  EXPECT_FALSE(network.activation_bytes(1 << 24));
}

// Copies of the values that are computed again for backward.
using Copies = std::map<const Value*, std::vector<float>>;

std::vector<float> copy_of(const Value& value, const float* from, std::int64_t batch) {
  return {from, from + batch * value.shape.size()};
}

TEST(Network, ComputesNormalisedValuesAgainForBackward) {
  constexpr std::int64_t kBatch = 6;
  Machine machine;
  Network network(plan_model("resnet18", 16), machine.at(cpu()), kBatch, 3);
  fill_batch(network, kBatch, 1);
  const auto& ops = network.plan().ops;
  Copies written;
  for (const auto& op : ops) {
    for (const Input& input : op->inputs) {
      if (input.restored_by != nullptr) written[input.value] = {};
    }
  }
  EXPECT_EQ(written.size(), 9U) << "the stem's and the first of each residual block";
  std::size_t at = 0;
  network.forward(kBatch, true, {.between_ops = [&] {
                    const Value& y = *ops[at++]->output;
                    const auto copy = written.find(&y);
                    if (copy != written.end()) copy->second = copy_of(y, y.data, kBatch);
                  }});
  network.loss(kBatch, static_cast<double>(kBatch));
  std::size_t restored = 0;
  network.backward(kBatch, {.between_ops = [&] {
                     for (const Input& input : ops[--at]->inputs) {
                       if (input.restored_by == nullptr) continue;
                       const Value& x = *input.value;
                       EXPECT_EQ(copy_of(x, x.saved, kBatch), written.at(&x)) << at;
                       ++restored;
                     }
                   }});
  EXPECT_EQ(at, 0U);
  EXPECT_EQ(restored, written.size());
}

// The gradient of a batch norm's input, or of the residual, is written over that of its output.
TEST(Network, ComputesGradientsOfBatchNormsInPlace) {
  Machine machine({.emulated_gpus = 1});
  Network network(plan_model("resnet18", 16), machine.at(cpu()), 2);
  std::size_t norms = 0;
  for (const auto& op : network.plan().ops) {
    if (std::string_view(op->kind()) != "batch_norm") continue;
    EXPECT_EQ(op->inputs.back().value->grad, op->output->grad);
    if (op->inputs.size() > 1) {
      EXPECT_NE(op->inputs.front().value->grad, op->output->grad);
    }
    ++norms;
  }
  EXPECT_EQ(norms, 17U);
  Network on_gpu(plan_model("resnet18", 16), machine.at(emulated_gpu(0)), 2);
  for (const auto& op : on_gpu.plan().ops) {
    for (const Input& input : op->inputs) EXPECT_NE(input.value->grad, op->output->grad);
  }
}

TEST(Network, KeepsValuesForBackwardOnAGpu) {
  Machine machine({.emulated_gpus = 1});
  Network network(plan_model("resnet18", 8), machine.at(emulated_gpu(0)), 2);
  for (const Value& value : network.plan().values) EXPECT_EQ(value.saved, value.data);
  for (const auto& op : network.plan().ops) {
    for (const Input& input : op->inputs) EXPECT_EQ(input.restored_by, nullptr);
  }
}

TEST(Network, ReportsGradientsInReverseParameterOrder) {
  Machine machine;
  Network network(plan_model("mlp"), machine.at(cpu()), 2);
  fill_batch(network, 2, 1);
  network.forward(2, true, {});
  network.loss(2, 2.0);
  std::vector<std::size_t> ready;
  network.backward(2, {.gradient_ready = [&](std::size_t p) { ready.push_back(p); }});
  EXPECT_EQ(ready, (std::vector<std::size_t>{3, 2, 1, 0}));
}

// The first steps of a batch size are queued, recorded and replayed.
TEST(Network, AGpuReportsAGroupBeforeItQueuesTheNext) {
  Machine machine({.emulated_gpus = 1});
  DeviceContext& device = machine.at(emulated_gpu(0));
  GpuDevice& gpu = *device.gpu();
  Network network(plan_model("mlp"), device, 2);
  network.group_gradients(std::vector<std::size_t>{2, 0});
  const auto is_zero = [&](std::size_t parameter) {
    const Parameter& p = network.parameters()[parameter];
    std::vector<float> values(static_cast<std::size_t>(p.size));
    gpu.copy(GpuCopy::DeviceToHost, values.data(), network.gpu_state()->grad(p), p.size * 4,
             gpu.main_stream());
    gpu.main_stream().synchronise();
    return std::ranges::all_of(values, [](float v) { return v == 0; });
  };
  for (int step = 0; step < 3; ++step) {
    gpu.fill({.kind = GpuFillKind::Uniform,
              .to = reinterpret_cast<std::byte*>(network.input()),
              .count = 2 * network.input_shape().size()},
             gpu.main_stream());
    gpu.fill({.dtype = DType::U8, .to = reinterpret_cast<std::byte*>(network.labels()), .count = 2},
             gpu.main_stream());
    gpu.fill({.to = reinterpret_cast<std::byte*>(network.gpu_state()->device_gradients()),
              .count = static_cast<std::int64_t>(network.flat_gradients().size())},
             gpu.main_stream());
    std::vector<std::size_t> ready;
    network.step(2, 2.0, {.gradient_ready = [&](std::size_t p) {
                   ready.push_back(p);
                   EXPECT_FALSE(is_zero(p));
                   if (p == 2) {
                     EXPECT_TRUE(is_zero(1)) << "of the next group";
                   }
                 }});
    EXPECT_EQ(ready, (std::vector<std::size_t>{3, 2, 1, 0}));
  }
}

// Two replicas process one slice each and divide by the size of the whole batch: their gradients
// sum to the batch's.
TEST(Network, GradientsOfSlicesAddUpToTheBatchGradient) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 6);
  const auto pixels = test::uniform_values(6 * 784, 3);
  std::vector<double> sum(network.flat_gradients().size());
  const auto run = [&](std::int64_t begin, std::int64_t n) {
    std::copy_n(pixels.begin() + begin * 784, n * 784, network.input());
    for (std::int64_t i = 0; i < n; ++i) network.labels()[i] = static_cast<std::uint8_t>(begin + i);
    network.forward(n, true, {});
    network.loss(n, 6.0);
    network.backward(n, {});
  };
  for (const auto& [begin, n] : {std::pair{0, 4}, std::pair{4, 2}}) {
    run(begin, n);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += network.flat_gradients()[i];
  }
  run(0, 6);
  EXPECT_LE(test::relative_error(network.flat_gradients(), sum), 1e-5);
}

TEST(Network, StopsBetweenOperationsOnRequest) {
  Machine machine;
  Network network(plan_model("lenet"), machine.at(cpu()), 2);
  std::stop_source stop;
  stop.request_stop();
  try {
    network.forward(2, true, {.stop = stop.get_token()});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::Cancelled);
  }
}

// One channel, one pixel: the mean and unbiased variance of the four images are computed by hand.
TEST(BatchNorm, RunningStatisticsMatchPyTorch) {
  Machine machine;
  NetworkPlan plan("test", {1, 1, 1}, WeightInit::FanInUniform);
  const auto conv = plan.declare_convolution("conv", 1, 1, 1);
  const auto norm = plan.declare_batch_norm("norm", 1);
  const auto y = plan.convolution_norm(plan.input(), conv, {}, norm, false);
  plan.linear(y, plan.declare_linear("end", 1, 2));
  Network network(std::move(plan), machine.at(cpu()), 4);
  network.parameters()[0].value[0] = 2;  // x -> 2x + 10
  network.parameters()[1].value[0] = 10;
  const float images[] = {1, 2, 3, 6};
  std::copy(std::begin(images), std::end(images), network.input());
  network.forward(4, true, {});
  const RunningStatistics& running = network.running()[0];
  EXPECT_FLOAT_EQ(running.mean[0], 0.1F * 16);                       // mean 16
  EXPECT_FLOAT_EQ(running.variance[0], 0.9F + 0.1F * 56.0F / 3.0F);  // unbiased variance 56/3
  EXPECT_EQ(running.batches, 1);

  std::copy(std::begin(images), std::end(images), network.input());
  network.forward(4, false, {});
  EXPECT_EQ(running.batches, 1);
  const double normal = (12 - 1.6) / std::sqrt(0.9 + 5.6 / 3 + 1e-5);  // first image
  const Parameter& w = network.parameters()[4];
  const Parameter& b = network.parameters()[5];
  EXPECT_NEAR(network.logits().data[0], normal * w.value[0] + b.value[0], 1e-5);
}

TEST(Loss, StaysFiniteForLargeLogitsAndPropagatesNaN) {
  Machine machine;
  Network network(plan_model("softmax"), machine.at(cpu()), 2);
  std::fill_n(network.input(), 2 * 784, 100.0F);
  for (float& w : network.flat_parameters()) w *= 1e4F;
  network.labels()[0] = network.labels()[1] = 3;
  network.forward(2, true, {});
  EXPECT_TRUE(std::isfinite(network.loss(2, 2.0).loss_sum));
  network.input()[0] = NAN;
  network.forward(2, true, {});
  EXPECT_TRUE(std::isnan(network.loss(2, 2.0).loss_sum));
}

TEST(Sgd, MatchesPyTorchWithMomentumAndWeightDecay) {
  Machine machine;
  Network network(plan_model("softmax"), machine.at(cpu()), 1);
  Sgd sgd(network, {.momentum = 0.9, .weight_decay = 0.01});
  const auto w = network.flat_parameters();
  const auto g = network.flat_gradients();
  double weight = 0.5, velocity = 0;
  w[0] = 0.5F;
  for (int step = 0; step < 3; ++step) {
    g[0] = static_cast<float>(step + 1);
    sgd.step(0.1);
    const double d = step + 1 + 0.01 * weight;
    velocity = step == 0 ? d : 0.9 * velocity + d;
    weight -= 0.1 * velocity;
    EXPECT_NEAR(w[0], weight, 1e-6);
  }
}

TEST(ArenaPlan, SharesMemoryOnlyBetweenDisjointLifetimes) {
  std::vector<ArenaRequest> requests = {{.bytes = 100, .first = 0, .last = 1},
                                        {.bytes = 100, .first = 2, .last = 3},
                                        {.bytes = 64, .first = 1, .last = 2},
                                        {.bytes = 0, .first = 0, .last = 3},
                                        {.bytes = 1000, .first = 3, .last = 3}};
  const std::int64_t total = plan_arena(requests);
  for (const ArenaRequest& a : requests) {
    EXPECT_EQ(a.offset % 64, 0);
    EXPECT_LE(a.offset + a.bytes, total);
    for (const ArenaRequest& b : requests) {
      const bool together = a.first <= b.last && b.first <= a.last;
      const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
      EXPECT_TRUE(&a == &b || !together || apart);
    }
  }
  EXPECT_EQ(requests[0].offset, requests[4].offset);
}

TEST(ArenaPlan, TakesTheBetterOfTwoOrders) {
  // By size, the arrays of 128 bytes are placed above that of 192 bytes.
  std::vector<ArenaRequest> long_first = {{.bytes = 128, .first = 0, .last = 2},
                                          {.bytes = 256, .first = 2, .last = 2},
                                          {.bytes = 192, .first = 0, .last = 1},
                                          {.bytes = 128, .first = 1, .last = 1}};
  EXPECT_EQ(plan_arena(long_first), 448);
  // By size and lifetime, that of 256 bytes is placed last, above that of 64 bytes.
  std::vector<ArenaRequest> large_first = {{.bytes = 192, .first = 0, .last = 2},
                                           {.bytes = 64, .first = 0, .last = 3},
                                           {.bytes = 256, .first = 3, .last = 3}};
  EXPECT_EQ(plan_arena(large_first), 320);
}

struct Sum final : StepObserver {
  void done(StepPhase, std::size_t, double seconds) override { total_s += seconds; }
  double total_s = 0;
};

TEST(Network, AllocatesNothingInAStep) {
  Sum sum;
  PassOptions options;
  options.observer = &sum;
  for (const std::string model : {"mlp", "lenet", "resnet18"}) {
    // Enough images to enable LeNet's lane chain.
    const std::int64_t batch = model == "lenet" ? 40 : 6;
    Machine machine;
    Network network(plan_model(model), machine.at(cpu()), batch);
    Sgd sgd(network, {.momentum = 0.9});
    std::fill_n(network.input(), batch * 784, 0.5F);
    std::fill_n(network.labels(), batch, std::uint8_t{3});
    const auto step = [&] {
      network.forward(batch, true, options);
      network.loss(batch, static_cast<double>(batch));
      network.backward(batch, options);
      sgd.step(0.1);
    };
    step();
    const long before = test::allocation_count();
    step();
    EXPECT_EQ(test::allocation_count() - before, 0) << model;
  }
}

}  // namespace
}  // namespace lab::nn
