#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/nn/models.h"
#include "compute/nn/state_dict.h"
#include "tests/support/errors.h"

namespace lab::nn {
namespace {

// After one step the velocity equals the gradient, which is set to the weights; the optimizer state
// must then have the layout of the weights.
struct Stepped {
  Stepped() {
    std::copy(network.flat_parameters().begin(), network.flat_parameters().end(),
              network.flat_gradients().begin());
    before = state_dict(network);
    sgd.step(0.5);
  }

  std::vector<TensorView> views(const std::vector<StateTensor>& tensors) const {
    std::vector<TensorView> all;
    all.reserve(tensors.size());
    for (const StateTensor& t : tensors) all.push_back({t.name, t.dtype, t.shape, t.data});
    return all;
  }

  Machine machine;
  Network network{plan_model("lenet"), machine.at(cpu()), 1};
  Sgd sgd{network, {.momentum = 0.5}};
  std::vector<StateTensor> before;
};

TEST(OptimizerState, HasTheParametersNamesShapesAndLayout) {
  Stepped s;
  const std::vector<StateTensor> state = optimizer_state(s.network, s.sgd);
  ASSERT_EQ(state.size(), s.before.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    EXPECT_EQ(state[i].name, s.before[i].name);
    EXPECT_EQ(state[i].shape, s.before[i].shape);
    EXPECT_EQ(state[i].data, s.before[i].data) << state[i].name;
  }
}

TEST(OptimizerState, RoundTripsAndContinues) {
  Stepped s;
  const std::vector<StateTensor> state = optimizer_state(s.network, s.sgd);
  Sgd other(s.network, {.momentum = 0.5});
  load_optimizer_state(s.network, other, s.views(state), "file");
  EXPECT_TRUE(other.started());
  EXPECT_TRUE(std::equal(other.velocity().begin(), other.velocity().end(), s.sgd.velocity().begin(),
                         s.sgd.velocity().end()));
}

TEST(OptimizerState, IsEmptyWithoutMomentumAndBeforeTheFirstStep) {
  Stepped s;
  Sgd fresh(s.network, {.momentum = 0.5});
  EXPECT_TRUE(optimizer_state(s.network, fresh).empty());
  Sgd plain(s.network, {});
  plain.step(0.1);
  EXPECT_TRUE(optimizer_state(s.network, plain).empty());
}

TEST(OptimizerState, ChecksEverythingBeforeLoading) {
  Stepped s;
  const std::vector<float> velocity(s.sgd.velocity().begin(), s.sgd.velocity().end());
  std::vector<StateTensor> state = optimizer_state(s.network, s.sgd);
  for (float& v : s.sgd.velocity()) v *= 2;
  const std::vector<float> kept(s.sgd.velocity().begin(), s.sgd.velocity().end());
  const auto refused = [&](const char* part) {
    const std::string message = test::message_of(
        [&] { load_optimizer_state(s.network, s.sgd, s.views(state), "a.safetensors"); },
        Errc::Corrupt);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find("a.safetensors"), 0U) << message;
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), s.sgd.velocity().begin()));
  };
  const std::vector<StateTensor> good = state;
  state.back().name = "net.12.bias";
  refused("missing net.11.bias");
  state = good;
  state.back().shape = {2, 5};
  refused("has shape [2,5]");
  state = good;
  const float none = NAN;
  std::memcpy(state.back().data.data(), &none, sizeof none);
  refused("net.11.bias is NaN");
  state.clear();
  refused("lenet's momentum");
}

}  // namespace
}  // namespace lab::nn
