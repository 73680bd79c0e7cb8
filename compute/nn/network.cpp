#include "compute/nn/network.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/kernels/ops/row_ops.h"
#include "compute/tensor/random.h"

namespace lab::nn {

Network::Network(NetworkPlan plan, DeviceContext& device, std::int64_t max_batch,
                 std::uint64_t seed, const KernelOptions& kernels)
    : plan_(std::move(plan)), device_(device), max_batch_(max_batch), kernels_(kernels) {
  place_parameters();
  mark_accumulating_inputs();
  set_max_batch(max_batch);
  initialize(*this, seed);
}

void Network::set_max_batch(std::int64_t max_batch) {
  if (max_batch < 1) {
    throw Error(Errc::InvalidArgument,
                trf("{}: a batch of {} images; it must be at least 1", name(), max_batch));
  }
  arena_ = {};  // freed first, so that old and new memory need not fit together
  max_batch_ = max_batch;
  const Preparation preparation{.pool = device_.threads(),
                                .max_batch = max_batch,
                                .products = kernels_.products,
                                .chooser = *kernels_.chooser,
                                .library = kernels_.library};
  for (const auto& op : plan_.ops) op->prepare(preparation);
  chains_ = find_lane_chains(plan_, max_batch, device_.threads().size());
  place_values();
}

Pass Network::make_pass(std::int64_t batch, bool training, const PassOptions& options) {
  if (batch < 1 || batch > max_batch_) {
    throw Error(Errc::InvalidArgument,
                trf("{}: a batch of {} images; it must be 1 to {}", name(), batch, max_batch_));
  }
  return {.pool = device_.threads(),
          .batch = batch,
          .training = training,
          .kernels = options.kernels,
          .products = kernels_.products,
          .scratch = scratch_,
          .stop = options.stop};
}

namespace {

void throw_if_stopped(const PassOptions& options) {
  if (options.stop.stop_requested()) throw Error(Errc::Cancelled, tr("cancelled"));
}

void after_op(const PassOptions& options) {
  if (options.between_ops) options.between_ops();
  throw_if_stopped(options);
}

}  // namespace

LaneChain* Network::chain_with(std::size_t op, Kernels kernels) {
  if (kernels != Kernels::Lab) return nullptr;
  const auto found = std::find_if(chains_.begin(), chains_.end(), [op](const LaneChain& chain) {
    return chain.first() <= op && op < chain.last();
  });
  return found == chains_.end() ? nullptr : &*found;
}

void Network::forward(std::int64_t batch, bool training, const PassOptions& options) {
  const Pass pass = make_pass(batch, training, options);
  forward_kernels_ = options.kernels;
  for (std::size_t i = 0; i < plan_.ops.size();) {
    if (LaneChain* chain = chain_with(i, options.kernels)) {
      chain->forward(pass, options.observer);
      i = chain->last();
    } else {
      observed(options.observer, StepPhase::Forward, i, [&] { plan_.ops[i]->forward(pass); });
      ++i;
    }
    after_op(options);
  }
}

BatchResult Network::loss(std::int64_t batch, std::optional<double> divisor) {
  const Value& z = logits();
  device_.threads().parallel_for(batch, 64, [&](std::int64_t begin, std::int64_t end) {
    simd::softmax_cross_entropy({.logits = z.data + begin * classes(),
                                 .labels = labels_ + begin,
                                 .rows = end - begin,
                                 .classes = classes(),
                                 .losses = losses_ + begin,
                                 .predicted = predicted_ + begin,
                                 .confidence = confidence_ + begin,
                                 .d_logits = divisor ? z.grad + begin * classes() : nullptr,
                                 .divisor = divisor.value_or(1)});
  });
  BatchResult result;
  for (std::int64_t i = 0; i < batch; ++i) {
    result.loss_sum += losses_[i];
    result.correct += predicted_[i] == labels_[i] ? 1 : 0;
  }
  return result;
}

void Network::backward(std::int64_t batch, const PassOptions& options) {
  if (options.kernels != forward_kernels_) {
    throw Error(Errc::InvalidArgument,
                trf("{}: backward uses other kernels than forward; use the same for both", name()));
  }
  const Pass pass = make_pass(batch, true, options);
  for (std::size_t end = plan_.ops.size(); end > 0;) {
    std::size_t begin = end - 1;
    if (LaneChain* chain = chain_with(begin, options.kernels)) {
      chain->backward(pass, options.observer);
      begin = chain->first();
    } else if (plan_.ops[begin]->has_backward()) {
      Op& op = *plan_.ops[begin];
      observed(options.observer, StepPhase::Backward, begin, [&] { op.backward(pass); });
    }
    throw_if_stopped(options);  // otherwise gradients would be incomplete
    while (end > begin) report_gradients(*plan_.ops[--end], options);
    after_op(options);
  }
}

void Network::report_gradients(const Op& op, const PassOptions& options) const {
  if (!options.gradient_ready) return;
  const auto& parameters = op.parameters;
  for (auto p = parameters.rbegin(); p != parameters.rend(); ++p) options.gradient_ready(*p);
}

std::span<const std::uint8_t> Network::predicted(std::int64_t batch) const {
  return {predicted_, static_cast<std::size_t>(batch)};
}

std::span<const float> Network::confidence(std::int64_t batch) const {
  return {confidence_, static_cast<std::size_t>(batch)};
}

std::span<const float> Network::losses(std::int64_t batch) const {
  return {losses_, static_cast<std::size_t>(batch)};
}

std::int64_t Network::parameter_count() const {
  std::int64_t total = 0;
  for (const Parameter& p : plan_.parameters) total += p.size;
  return total;
}

std::span<float> Network::flat_parameters() {
  return {reinterpret_cast<float*>(parameter_memory_.data()),
          static_cast<std::size_t>(parameter_memory_.bytes() / 4)};
}

std::span<float> Network::flat_gradients() {
  return {reinterpret_cast<float*>(gradient_memory_.data()),
          static_cast<std::size_t>(gradient_memory_.bytes() / 4)};
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
}

}  // namespace lab::nn
