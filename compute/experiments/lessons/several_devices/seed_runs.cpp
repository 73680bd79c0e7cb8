#include "compute/experiments/lessons/several_devices/seed_runs.h"

#include <algorithm>
#include <utility>

#include "compute/core/error.h"

namespace lab::lessons {
namespace {

constexpr std::int64_t kTestBatch = 64;

}  // namespace

nn::NetworkPlan plan_small_network(bool with_norm) {
  nn::NetworkPlan plan("small", {1, 28, 28}, nn::WeightInit::Normal001);
  constexpr std::int64_t kChannels[] = {1, 8, 16, 32};
  std::vector<nn::NetworkPlan::Weights> weights;
  std::vector<nn::NetworkPlan::Norm> norms;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string layer = std::to_string(3 * i);
    weights.push_back(plan.declare_convolution(layer, kChannels[i], kChannels[i + 1], 3));
    if (with_norm) {
      norms.push_back(plan.declare_batch_norm(std::to_string(3 * i + 1), kChannels[i + 1]));
    }
  }
  const auto output = plan.declare_linear("10", kChannels[3], 10);
  auto x = plan.input();
  for (std::size_t i = 0; i < 3; ++i) {
    const nn::NetworkPlan::Step step{.stride = 2, .padding = 1};
    x = with_norm ? plan.convolution_norm(x, weights[i], step, norms[i], /*relu=*/true)
                  : plan.relu(plan.convolution(x, weights[i], step));
  }
  plan.linear(plan.flatten(plan.global_average_pool(x)), output);
  return plan;
}

SeedTraining::SeedTraining(nn::NetworkPlan (*plan)(), DeviceContext& device, const ImageSet& images,
                           const SeedSetting& setting, std::uint64_t seed)
    : device_(device),
      setting_(setting),
      loader_(images, setting.batch, BatchOrder::Shuffled, seed) {
  const std::int64_t capacity = std::max(setting.batch, kTestBatch);
  for (int i = 0; i < setting.slices; ++i) {
    replicas_.add(plan(), device, capacity, seed);
  }
  loader_.start_epoch(0);
}

void SeedTraining::keep_all_but_weights(const TrainedState& state) {
  for (nn::Network& network : replicas_.nets()) {
    const float* const begin = network.flat_parameters().data();
    for (nn::Parameter& parameter : network.parameters()) {
      if (parameter.shape.size() > 1) continue;  // a matrix or filters
      const auto from = state.parameters.begin() + (parameter.value - begin);
      std::copy(from, from + static_cast<std::ptrdiff_t>(parameter.size), parameter.value);
    }
    for (std::size_t i = 0; i < network.running().size(); ++i) {
      network.running()[i] = state.running[i];
    }
  }
}

void SeedTraining::train_epoch(const std::stop_token& stop) {
  loader_.start_epoch(epoch_++);
  for (std::int64_t i = 0; i < loader_.steps_per_epoch(); ++i) {
    throw_if_cancelled(stop);
    step(i);
  }
}

void SeedTraining::step(std::int64_t step) {
  const std::int64_t batch = loader_.batch_size(step);
  replicas_.clear_sum();
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    const BatchSlice slice = replicas_.slice(batch, i);
    nn::Network& network = replicas_.nets()[i];
    loader_.load(step, slice, device_.threads(), network.input(), network.labels());
    replicas_.add_gradient(i, slice.end - slice.begin, static_cast<double>(batch));
  }
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    replicas_.take_sum(i);
    replicas_.update(i, setting_.rate);
  }
}

double SeedTraining::accuracy(const ImageSet& test) {
  nn::Network& network = replicas_.nets().front();
  BatchLoader loader(test, kTestBatch, BatchOrder::Sequential, 0);
  loader.start_epoch(0);
  std::int64_t correct = 0;
  for (std::int64_t i = 0; i < loader.steps_per_epoch(); ++i) {
    const std::int64_t images = loader.batch_size(i);
    loader.load(i, {0, images}, device_.threads(), network.input(), network.labels());
    network.forward(images, /*training=*/false, {});
    correct += network.loss(images, {}).correct;
  }
  return static_cast<double>(correct) / static_cast<double>(test.count);
}

TrainedState SeedTraining::state() {
  nn::Network& network = replicas_.nets().front();
  const auto parameters = network.flat_parameters();
  return {{parameters.begin(), parameters.end()}, network.running()};
}

}  // namespace lab::lessons
