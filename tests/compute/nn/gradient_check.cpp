#include "tests/compute/nn/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compute/nn/parameter.h"
#include "tests/support/compare.h"

namespace lab::test {
namespace {

Doubles torch_order(const nn::Parameter& parameter, const float* ours) {
  std::vector<float> torch(static_cast<std::size_t>(parameter.size));
  nn::to_torch(parameter, ours, torch);
  return to_double(torch);
}

double norm(const Doubles& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

// Sets weights of significant magnitude regardless of initialisation, so that every term of a
// gradient contributes.
void randomise(nn::Network& network) {
  std::uint32_t seed = 100;
  for (nn::Parameter& p : network.parameters()) {
    const std::vector<float> values = uniform_values(p.size, ++seed);
    std::copy(values.begin(), values.end(), p.value);
  }
}

// Float64 results for one batch.
struct Expected {
  Images logits;
  double loss = 0;
  Weights gradients;
};

// Fills the batch with the same pixels and labels for every network of the plan.
void fill_batch(nn::Network& network, std::int64_t batch) {
  const std::vector<float> pixels = uniform_values(batch * network.input_shape().size(), 7);
  std::copy(pixels.begin(), pixels.end(), network.input());
  for (std::int64_t i = 0; i < batch; ++i) {
    network.labels()[i] = static_cast<std::uint8_t>((i * 7 + 1) % network.classes());
  }
}

Expected expected_of(nn::Network& network, const ReferenceNet& reference, std::int64_t batch) {
  fill_batch(network, batch);
  const nn::ImageShape s = network.input_shape();
  const std::vector<float> pixels(network.input(), network.input() + batch * s.size());
  const std::vector<std::uint8_t> labels(network.labels(), network.labels() + batch);
  const Images x = from_nhwc(to_double(pixels), batch, s.channels, s.height, s.width);
  Weights weights = weights_of(network);
  const auto loss = [&] { return cross_entropy(reference(weights, x), labels); };
  Expected expected{.logits = reference(weights, x), .loss = loss(), .gradients = {}};
  for (auto& [name, values] : weights) {
    expected.gradients[name] = central_differences(values, loss);
  }
  return expected;
}

void compare_gradients(nn::Network& network, const Weights& expected) {
  double largest = 0;
  for (const auto& [name, values] : expected) largest = std::max(largest, norm(values));
  for (const nn::Parameter& p : network.parameters()) {
    Doubles difference = torch_order(p, p.grad);
    const Doubles& want = expected.at(p.name);
    for (std::size_t i = 0; i < want.size(); ++i) difference[i] -= want[i];
    // A bias before a batch norm has a gradient of 0, hence the absolute term.
    EXPECT_LE(norm(difference), 2e-5 * norm(want) + 1e-6 * largest) << p.name;
  }
}

void compare_batch(nn::Network& network, const Expected& expected, std::int64_t batch) {
  fill_batch(network, batch);
  network.forward(batch, /*training=*/true, {});
  const double loss = network.loss(batch, static_cast<double>(batch)).loss_sum;
  const std::vector<float> got(network.logits().data,
                               network.logits().data + batch * network.classes());
  network.backward(batch, {});
  EXPECT_LE(relative_error(got, expected.logits.values), 2e-6);
  EXPECT_NEAR(loss / static_cast<double>(batch), expected.loss, 1e-5);
  compare_gradients(network, expected.gradients);
}

}  // namespace

Weights weights_of(nn::Network& network) {
  Weights weights;
  for (const nn::Parameter& p : network.parameters()) weights[p.name] = torch_order(p, p.value);
  return weights;
}

void expect_matches_reference(const std::function<nn::NetworkPlan()>& plan,
                              const ReferenceNet& reference, std::int64_t max_batch,
                              const nn::KernelOptions& kernels) {
  std::map<std::int64_t, Expected> expected;  // by batch size; independent of the number of threads
  for (const int devices : {1, 64}) {
    Machine machine({.cpu_devices = devices});
    nn::Network network(plan(), machine.at(cpu()), max_batch, 0, kernels);
    randomise(network);
    for (const std::int64_t batch : {max_batch, max_batch - 2, std::int64_t{1}}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", " +
                   std::to_string(machine.at(cpu()).threads().size()) + " threads");
      if (!expected.contains(batch)) {
        expected.emplace(batch, expected_of(network, reference, batch));
      }
      compare_batch(network, expected.at(batch), batch);
    }
  }
}

}  // namespace lab::test
