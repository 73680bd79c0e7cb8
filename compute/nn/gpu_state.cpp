#include "compute/nn/gpu_state.h"

#include <algorithm>
#include <cstring>

#include "compute/core/language.h"

namespace lab::nn {
namespace {

constexpr std::int64_t kFloat = 4;  // bytes

float* floats_of(const Buffer& buffer) {
  return reinterpret_cast<float*>(const_cast<std::byte*>(buffer.data()));
}

std::span<float> floats_of(PinnedMemory& memory) {
  return {reinterpret_cast<float*>(memory.data()),
          static_cast<std::size_t>(memory.bytes() / kFloat)};
}

}  // namespace

GpuState::GpuState(NetworkPlan& plan, DeviceContext& device)
    : plan_(plan), device_(device), gpu_(*device.gpu()) {
  for (const RunningStatistics& one : plan.running) channels_ += std::ssize(one.mean);
  const std::vector<std::int64_t> offsets = plan.parameter_offsets();
  const std::int64_t floats = offsets.back();
  parameters_ = named_buffer(device, floats * kFloat, trf("{} parameters", plan.name));
  gradients_ =
      named_buffer(device, (floats + kFaultFloats) * kFloat, trf("{} gradients", plan.name));
  host_parameters_ = gpu_.allocate_pinned(floats * kFloat);
  host_gradients_ = gpu_.allocate_pinned(floats * kFloat);
  std::ranges::fill(parameters(), 0.0F);
  std::ranges::fill(gradients(), 0.0F);
  for (std::size_t p = 0; p < plan.parameters.size(); ++p) {
    plan.parameters[p].value = parameters().data() + offsets[p];
    plan.parameters[p].grad = gradients().data() + offsets[p];
  }
  // The gaps between gradients stay zero.
  gpu_.fill({.to = gradients_.data(), .count = floats + kFaultFloats}, gpu_.main_stream());
  if (channels_ == 0) return;
  statistics_ = named_buffer(device, 6 * channels_ * kFloat, trf("{} statistics", plan.name));
  host_statistics_ = gpu_.allocate_pinned(2 * channels_ * kFloat);
}

GpuState::~GpuState() = default;

std::span<float> GpuState::parameters() {
  return floats_of(*host_parameters_);
}

std::span<float> GpuState::gradients() {
  return floats_of(*host_gradients_);
}

float* GpuState::device_parameters() const {
  return floats_of(parameters_);
}

float* GpuState::device_gradients() const {
  return floats_of(gradients_);
}

float* GpuState::fault() const {
  return device_gradients() + gradients_.bytes() / kFloat - kFaultFloats;
}

std::int64_t GpuState::offset_of(const Parameter& parameter) const {
  return parameter.value - floats_of(*host_parameters_).data();
}

float* GpuState::value(const Parameter& parameter) const {
  return device_parameters() + offset_of(parameter);
}

void GpuState::keep_bf16_parameters() {
  if (bf16_parameters() != nullptr) return;
  bf16_parameters_ =
      named_buffer(device_, parameters_.bytes() / 2, trf("{} parameters in bf16", plan_.name));
  round_parameters();
}

void GpuState::round_parameters() {
  gpu_.layers().round_to_bf16(
      {.count = parameters_.bytes() / kFloat, .from = device_parameters(), .to = bf16_parameters()},
      gpu_.main_stream());
}

std::uint16_t* GpuState::bf16_parameters() const {
  return reinterpret_cast<std::uint16_t*>(const_cast<std::byte*>(bf16_parameters_.data()));
}

const std::uint16_t* GpuState::bf16_value(const Parameter& parameter) const {
  return bf16_parameters() == nullptr ? nullptr : bf16_parameters() + offset_of(parameter);
}

float* GpuState::grad(const Parameter& parameter) const {
  return device_gradients() + (parameter.grad - floats_of(*host_gradients_).data());
}

ChannelPair GpuState::running(const RunningStatistics& statistics) const {
  float* const first = floats_of(statistics_) + 2 * statistics.first_channel;
  return {first, first + statistics.mean.size()};
}

ChannelPair GpuState::latest(const RunningStatistics& statistics) const {
  const ChannelPair pair = running(statistics);
  return {pair.first + 4 * channels_, pair.second + 4 * channels_};
}

void GpuState::copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes) {
  gpu_.copy(direction, to, from, bytes, gpu_.main_stream());
}

void GpuState::read() {
  copy(GpuCopy::DeviceToHost, host_parameters_->data(), parameters_.data(), parameters_.bytes());
  read_statistics();
}

void GpuState::write() {
  copy(GpuCopy::HostToDevice, parameters_.data(), host_parameters_->data(), parameters_.bytes());
  if (bf16_parameters() != nullptr) round_parameters();
  write_statistics();
}

void GpuState::read_statistics() {
  if (channels_ > 0) {
    copy(GpuCopy::DeviceToHost, host_statistics_->data(), statistics_.data(),
         host_statistics_->bytes());
  }
  gpu_.main_stream().synchronise();
  for (RunningStatistics& one : plan_.running) {
    const auto at = floats_of(*host_statistics_).begin() + 2 * one.first_channel;
    std::copy_n(at, one.mean.size(), one.mean.begin());
    std::copy_n(at + std::ssize(one.mean), one.variance.size(), one.variance.begin());
  }
}

void GpuState::write_statistics() {
  if (channels_ > 0) {
    for (const RunningStatistics& one : plan_.running) {
      const auto at = floats_of(*host_statistics_).begin() + 2 * one.first_channel;
      std::ranges::copy(one.mean, at);
      std::ranges::copy(one.variance, at + std::ssize(one.mean));
    }
    copy(GpuCopy::HostToDevice, statistics_.data(), host_statistics_->data(),
         host_statistics_->bytes());
  }
  gpu_.main_stream().synchronise();
}

void GpuState::keep_statistics() {
  if (channels_ == 0) return;
  kept_batches_.resize(plan_.running.size());
  std::ranges::transform(plan_.running, kept_batches_.begin(), &RunningStatistics::batches);
  float* const running = floats_of(statistics_);
  copy(GpuCopy::DeviceToDevice, running + 2 * channels_, running, 2 * channels_ * kFloat);
}

void GpuState::restore_statistics() {
  if (channels_ == 0) return;
  for (std::size_t i = 0; i < kept_batches_.size(); ++i)
    plan_.running[i].batches = kept_batches_[i];
  float* const running = floats_of(statistics_);
  copy(GpuCopy::DeviceToDevice, running, running + 2 * channels_, 2 * channels_ * kFloat);
}

// ---- Work concurrent with the main stream

SideStream::SideStream(GpuDevice& gpu)
    : main_(gpu.main_stream()),
      stream_(gpu.make_stream()),
      forked_(gpu.make_event()),
      joined_(gpu.make_event()) {}
SideStream::~SideStream() = default;

GpuStream& SideStream::fork() {
  forked_->record(main_);
  stream_->wait(*forked_);
  return *stream_;
}

void SideStream::join() {
  joined_->record(*stream_);
  main_.wait(*joined_);
}

void queue_gradients(const GpuPass& pass, GpuConvolution layer, bool input_needs_grad) {
  GpuLayers& layers = pass.layers();
  const bool other_work = input_needs_grad || layer.dbias != nullptr;
  const bool beside = pass.side != nullptr && other_work && layers.gradients_are_independent(layer);
  layer.after_weight_gradient = !beside;
  const auto queue_others = [&] {
    if (input_needs_grad) layers.convolution_input_gradient(layer, pass.stream());
    if (layer.dbias != nullptr) layers.convolution_bias_gradient(layer, pass.stream());
  };
  if (!beside) {
    layers.convolution_weight_gradient(layer, pass.stream());
    return queue_others();
  }
  GpuStream& side = pass.side->fork();
  try {
    layers.convolution_weight_gradient(layer, side);
    queue_others();
  } catch (...) {
    pass.side->join();  // memory is released on the main stream
    throw;
  }
  pass.side->join();
}

}  // namespace lab::nn
