// Counts heap allocations while a network trains.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compute/nn/models.h"
#include "compute/nn/network.h"
#include "compute/nn/sgd.h"
#include "tests/support/counting_new.h"

namespace lab::nn {
namespace {

struct Sum final : StepObserver {
  void done(StepPhase, std::size_t, double seconds) override { total_s += seconds; }
  double total_s = 0;
};

TEST(Network, AllocatesNothingInAStep) {
  Sum sum;
  PassOptions options;
  options.observer = &sum;
  for (const std::string model : {"mlp", "lenet", "resnet18"}) {
    // Enough images for LeNet's chain of operations.
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
