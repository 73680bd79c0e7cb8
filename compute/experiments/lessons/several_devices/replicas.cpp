#include "compute/experiments/lessons/several_devices/replicas.h"

#include <algorithm>
#include <utility>

namespace lab::lessons {

void Replicas::add(nn::NetworkPlan plan, DeviceContext& device, std::int64_t capacity,
                   std::uint64_t seed) {
  nets_.emplace_back(std::move(plan), device, capacity, seed);
  optimizers_.emplace_back(nets_.back(), nn::SgdOptions{});
  sum_.resize(nets_.back().flat_gradients().size(), 0.0F);
}

BatchSlice Replicas::slice(std::int64_t batch, std::size_t i) const {
  const auto k = static_cast<std::int64_t>(size()), at = static_cast<std::int64_t>(i);
  return {batch * at / k, batch * (at + 1) / k};
}

void Replicas::clear_sum() {
  std::fill(sum_.begin(), sum_.end(), 0.0F);
}

void Replicas::add_gradient(std::size_t i, std::int64_t images, double divisor) {
  nn::Network& net = nets_[i];
  net.forward(images, /*training=*/true, {});
  net.loss(images, divisor);
  net.backward(images, {});
  const auto own = net.flat_gradients();
  for (std::size_t j = 0; j < sum_.size(); ++j) sum_[j] += own[j];
}

void Replicas::take_sum(std::size_t i) {
  std::copy(sum_.begin(), sum_.end(), nets_[i].flat_gradients().begin());
}

}  // namespace lab::lessons
