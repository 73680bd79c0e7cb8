#include "compute/nn/sgd.h"

#include <algorithm>
#include <cstring>

#include "compute/core/language.h"
#include "compute/kernels/ops/vector_ops.h"

namespace lab::nn {

// The learning rate is read from GPU memory, so that a recorded update takes the current one.
struct Sgd::OnGpu {
  Buffer lr;
  std::unique_ptr<PinnedMemory> host_lr;
  std::unique_ptr<PinnedMemory> host_velocity;  // null without momentum
};

Sgd::Sgd(Network& network, const SgdOptions& options) : network_(network), options_(options) {
  const auto n = static_cast<std::int64_t>(network.flat_parameters().size());
  GpuDevice* const gpu = network.device().gpu();
  if (gpu != nullptr) {
    on_gpu_ = std::make_unique<OnGpu>();
    on_gpu_->lr = named_buffer(network.device(), 4, trf("{} learning rate", network.name()));
    on_gpu_->host_lr = gpu->allocate_pinned(4);
  }
  if (options.momentum == 0) return;
  velocity_ = named_buffer(network.device(), n * 4, trf("{} momentum", network.name()));
  if (on_gpu_) on_gpu_->host_velocity = gpu->allocate_pinned(n * 4);
  std::ranges::fill(velocity(), 0.0F);
  write_state();
}

Sgd::~Sgd() = default;

std::span<float> Sgd::velocity() {
  std::byte* values = velocity_.data();
  if (on_gpu_) values = on_gpu_->host_velocity ? on_gpu_->host_velocity->data() : nullptr;
  return {reinterpret_cast<float*>(values), static_cast<std::size_t>(velocity_.bytes() / 4)};
}

void Sgd::read_state() {
  if (!on_gpu_ || !on_gpu_->host_velocity) return;
  GpuDevice& gpu = *network_.device().gpu();
  gpu.copy(GpuCopy::DeviceToHost, on_gpu_->host_velocity->data(), velocity_.data(),
           velocity_.bytes(), gpu.main_stream());
  gpu.main_stream().synchronise();
}

void Sgd::write_state() {
  if (!on_gpu_ || !on_gpu_->host_velocity) return;
  GpuDevice& gpu = *network_.device().gpu();
  gpu.copy(GpuCopy::HostToDevice, velocity_.data(), on_gpu_->host_velocity->data(),
           velocity_.bytes(), gpu.main_stream());
  gpu.main_stream().synchronise();
}

void Sgd::step_on_gpu(double lr) {
  GpuDevice& gpu = *network_.device().gpu();
  GpuStream& stream = gpu.main_stream();
  const auto rate = static_cast<float>(lr);
  std::memcpy(on_gpu_->host_lr->data(), &rate, sizeof rate);
  gpu.copy(GpuCopy::HostToDevice, on_gpu_->lr.data(), on_gpu_->host_lr->data(), sizeof rate,
           stream);
  const GpuState& state = *network_.gpu_state();
  gpu.layers().sgd({.count = static_cast<std::int64_t>(network_.flat_parameters().size()),
                    .weights = state.device_parameters(),
                    .gradients = state.device_gradients(),
                    .velocity = reinterpret_cast<float*>(velocity_.data()),
                    .momentum = static_cast<float>(options_.momentum),
                    .weight_decay = static_cast<float>(options_.weight_decay),
                    .lr = reinterpret_cast<const float*>(on_gpu_->lr.data())},
                   stream);
  first_ = false;
}

void Sgd::step(double lr) {
  if (on_gpu_) return step_on_gpu(lr);
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
