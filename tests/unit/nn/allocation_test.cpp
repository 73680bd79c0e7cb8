// Counts heap allocations while a network trains.
#include <gtest/gtest.h>

#include <algorithm>

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
  for (const char* model : {"mlp", "lenet", "resnet18"}) {
    Machine machine;
    Network network(plan_model(model), machine.at(cpu()), 6);
    Sgd sgd(network, {.momentum = 0.9});
    std::fill_n(network.input(), 6 * 784, 0.5F);
    std::fill_n(network.labels(), 6, std::uint8_t{3});
    const auto step = [&] {
      network.forward(6, true, options);
      network.loss(6, 6.0);
      network.backward(6, options);
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
