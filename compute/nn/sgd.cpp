#include "compute/nn/sgd.h"

#include <algorithm>
#include <bit>

#include "compute/core/language.h"
#include "compute/kernels/ops/vector_ops.h"

namespace lab::nn {

Sgd::Sgd(Network& network, const SgdOptions& options) : network_(network), options_(options) {
  if (network.device().gpu() != nullptr) {
    rate_on_gpu_ =
        named_buffer(network.device(), sizeof(float), trf("{} learning rate", network.name()));
  }
  if (options.momentum == 0) return;
  const auto bytes = static_cast<std::int64_t>(network.flat_parameters().size_bytes());
  velocity_ = named_buffer(network.device(), bytes, trf("{} momentum", network.name()));
  GpuDevice* const gpu = network.device().gpu();
  if (gpu != nullptr) host_velocity_ = gpu->allocate_pinned(bytes);
  std::ranges::fill(velocity(), 0.0F);
  write_state();
}

Sgd::~Sgd() = default;

std::span<float> Sgd::velocity() {
  std::byte* const values = host_velocity_ ? host_velocity_->data() : velocity_.data();
  return {reinterpret_cast<float*>(values), static_cast<std::size_t>(velocity_.bytes() / 4)};
}

void Sgd::read_state() {
  if (!host_velocity_) return;
  GpuDevice& gpu = *network_.device().gpu();
  gpu.copy(GpuCopy::DeviceToHost, host_velocity_->data(), velocity_.data(), velocity_.bytes(),
           gpu.main_stream());
  gpu.main_stream().synchronise();
}

void Sgd::write_state() {
  if (!host_velocity_) return;
  GpuDevice& gpu = *network_.device().gpu();
  gpu.copy(GpuCopy::HostToDevice, velocity_.data(), host_velocity_->data(), velocity_.bytes(),
           gpu.main_stream());
  gpu.main_stream().synchronise();
}

void Sgd::set_rate(double lr) {
  const auto rate = static_cast<float>(lr);
  if (rate_ == rate) return;
  GpuDevice& gpu = *network_.device().gpu();
  gpu.fill({.bits = std::bit_cast<std::uint32_t>(rate), .to = rate_on_gpu_.data(), .count = 1},
           gpu.main_stream());
  rate_ = rate;
}

void Sgd::queue_update() {
  GpuDevice& gpu = *network_.device().gpu();
  const GpuState& state = *network_.gpu_state();
  gpu.layers().sgd({.count = static_cast<std::int64_t>(network_.flat_parameters().size()),
                    .weights = state.device_parameters(),
                    .gradients = state.device_gradients(),
                    .velocity = reinterpret_cast<float*>(velocity_.data()),
                    .bf16_weights = state.bf16_parameters(),
                    .momentum = static_cast<float>(options_.momentum),
                    .weight_decay = static_cast<float>(options_.weight_decay),
                    .lr = reinterpret_cast<const float*>(rate_on_gpu_.data()),
                    .fault = state.fault()},
                   gpu.main_stream());
  first_ = false;
}

void Sgd::step(double lr) {
  if (network_.device().gpu() != nullptr) {
    set_rate(lr);
    return queue_update();
  }
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
