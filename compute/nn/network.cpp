#include "compute/nn/network.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/tensor/random.h"

namespace lab::nn {

Network::Network(NetworkPlan plan, DeviceContext& device, std::optional<std::int64_t> max_batch,
                 std::uint64_t seed, const KernelOptions& kernels)
    : plan_(std::move(plan)), device_(device), kernels_(kernels) {
  place_parameters();
  mark_accumulating_inputs();
  executor_ = device.gpu() == nullptr ? make_cpu_executor(plan_, device, kernels)
                                      : make_gpu_executor(plan_, device, kernels, *gpu_state_);
  if (max_batch) set_max_batch(*max_batch);
  initialize(*this, seed);
}

void Network::set_max_batch(std::int64_t max_batch) {
  if (max_batch < 1) {
    throw Error(Errc::InvalidArgument,
                trf("{}: a batch of {} images; it must be at least 1", name(), max_batch));
  }
  arena_ = {};  // freed first, so that old and new memory need not fit together
  max_batch_ = 0;
  place_values(max_batch);
  max_batch_ = max_batch;
}

void Network::check_batch(std::int64_t batch) const {
  if (batch >= 1 && batch <= max_batch_) return;
  throw Error(Errc::InvalidArgument,
              trf("{}: a batch of {} images; it must be 1 to {}", name(), batch, max_batch_));
}

void Network::forward(std::int64_t batch, bool training, const PassOptions& options) {
  check_batch(batch);
  forward_kernels_ = options.kernels;
  forward_batch_ = batch;
  executor_->forward(batch_memory_, batch, training, options);
}

BatchResult Network::loss(std::int64_t batch, std::optional<double> divisor) {
  return executor_->loss(batch_memory_, batch, divisor);
}

void Network::backward(std::int64_t batch, const PassOptions& options) {
  if (options.kernels != forward_kernels_) {
    throw Error(Errc::InvalidArgument,
                trf("{}: backward uses other kernels than forward; use the same for both", name()));
  }
  if (batch != forward_batch_) {
    throw Error(Errc::InvalidArgument,
                trf("{}: backward of {} images after forward of {}; use the same number for both",
                    name(), batch, forward_batch_));
  }
  executor_->backward(batch_memory_, batch, options);
}

BatchResult Network::step(std::int64_t batch, double divisor, const PassOptions& options) {
  queue_step(batch, divisor, options);
  return finish_step(options);
}

void Network::queue_step(std::int64_t batch, double divisor, const PassOptions& options,
                         const std::function<void()>& update) {
  check_batch(batch);
  forward_kernels_ = options.kernels;
  forward_batch_ = batch;
  executor_->queue_step(batch_memory_, batch, divisor, options, update);
}

bool Network::step_done() {
  return executor_->step_done();
}

BatchResult Network::finish_step(const PassOptions& options) {
  return executor_->finish_step(options);
}

void Network::group_gradients(std::span<const std::size_t> first_parameters) {
  executor_->group_gradients(first_parameters);
}

std::span<const std::uint8_t> Network::predicted(std::int64_t batch) {
  return executor_->on_host(batch_memory_.predicted, batch);
}

std::span<const float> Network::confidence(std::int64_t batch) {
  return executor_->on_host(batch_memory_.confidence, batch);
}

std::span<const float> Network::losses(std::int64_t batch) {
  return executor_->on_host(batch_memory_.losses, batch);
}

std::int64_t Network::parameter_count() const {
  std::int64_t total = 0;
  for (const Parameter& p : plan_.parameters) total += p.size;
  return total;
}

std::span<float> Network::flat_parameters() {
  if (gpu_state_) return gpu_state_->parameters();
  return {reinterpret_cast<float*>(parameter_memory_.data()),
          static_cast<std::size_t>(parameter_memory_.bytes() / 4)};
}

std::span<float> Network::flat_gradients() {
  if (gpu_state_) return gpu_state_->gradients();
  return {reinterpret_cast<float*>(gradient_memory_.data()),
          static_cast<std::size_t>(gradient_memory_.bytes() / 4)};
}

void Network::read_state() {
  if (gpu_state_) gpu_state_->read();
}

void Network::write_state() {
  if (gpu_state_) gpu_state_->write();
}

void Network::read_statistics() {
  if (gpu_state_) gpu_state_->read_statistics();
}

void Network::write_statistics() {
  if (gpu_state_) gpu_state_->write_statistics();
}

void Network::wait() {
  if (gpu_state_) device_.gpu()->main_stream().synchronise();
}

void Network::keep_statistics() {
  if (gpu_state_) return gpu_state_->keep_statistics();
  if (kept_.size() != plan_.running.size()) kept_ = plan_.running;
  copy_statistics(plan_.running, kept_);
}

void Network::restore_statistics() {
  if (gpu_state_) return gpu_state_->restore_statistics();
  copy_statistics(kept_, plan_.running);
}

// ---- Initial values

namespace {

void draw(const Init& init, const RandomStream& random, std::span<float> out) {
  switch (init.draw) {
    case Draw::Constant: std::fill(out.begin(), out.end(), static_cast<float>(init.scale)); return;
    case Draw::Uniform:
      random.fill_uniform(out);
      for (float& v : out) v = static_cast<float>((2.0 * v - 1.0) * init.scale);
      return;
    case Draw::Normal:
      random.fill_normal(out);
      for (float& v : out) v = static_cast<float>(v * init.scale);
      return;
  }
}

}  // namespace

void initialize(Network& network, std::uint64_t seed) {
  std::vector<float> values;
  std::uint64_t stream = 0;
  for (Parameter& parameter : network.parameters()) {
    values.resize(static_cast<std::size_t>(parameter.size));
    draw(parameter.init, {seed, stream++}, values);
    from_torch(parameter, values, parameter.value);
  }
  for (RunningStatistics& running : network.running()) {
    std::fill(running.mean.begin(), running.mean.end(), 0.0F);
    std::fill(running.variance.begin(), running.variance.end(), 1.0F);
    running.batches = 0;
  }
  network.write_state();
}

void copy_statistics(const std::deque<RunningStatistics>& from, std::deque<RunningStatistics>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i].mean = from[i].mean;
    to[i].variance = from[i].variance;
    to[i].batches = from[i].batches;
  }
}

}  // namespace lab::nn
