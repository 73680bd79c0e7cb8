#include "compute/nn/sgd.h"

#include <cstring>
#include <utility>

#include "compute/core/language.h"
#include "compute/kernels/ops/vector_ops.h"

namespace lab::nn {

Sgd::Sgd(Network& network, const SgdOptions& options) : network_(network), options_(options) {
  if (options.momentum == 0) return;
  const auto n = static_cast<std::int64_t>(network.flat_parameters().size());
  TensorInfo info;
  info.name = trf("{} momentum", network.name());
  info.shape = {n};
  velocity_ = Buffer(network.device(), n * 4, std::move(info));
  std::memset(velocity_.data(), 0, static_cast<std::size_t>(n * 4));
}

std::span<float> Sgd::velocity() {
  return {reinterpret_cast<float*>(velocity_.data()),
          static_cast<std::size_t>(velocity_.bytes() / 4)};
}

void Sgd::step(double lr) {
  float* weights = network_.flat_parameters().data();
  const float* gradients = network_.flat_gradients().data();
  float* velocity = options_.momentum == 0 ? nullptr : reinterpret_cast<float*>(velocity_.data());
  const simd::SgdArgs args{.lr = static_cast<float>(lr),
                           .momentum = static_cast<float>(options_.momentum),
                           .weight_decay = static_cast<float>(options_.weight_decay),
                           .first = first_};
  const auto n = static_cast<std::int64_t>(network_.flat_parameters().size());
  network_.device().threads().parallel_for(n, 16 * 1024, [&](std::int64_t begin, std::int64_t end) {
    simd::sgd_update(weights + begin, gradients + begin,
                     velocity == nullptr ? nullptr : velocity + begin, args, end - begin);
  });
  first_ = false;
}

}  // namespace lab::nn
