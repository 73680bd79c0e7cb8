#include <algorithm>

#include "compute/core/error.h"
#include "compute/kernels/ops/row_ops.h"
#include "compute/machine/machine.h"
#include "compute/nn/executor.h"

namespace lab::nn {

void after_op(const PassOptions& options) {
  if (options.between_ops) options.between_ops();
  throw_if_cancelled(options.stop);
}

void report_gradients(const Op& op, const PassOptions& options) {
  if (!options.gradient_ready) return;
  const auto& parameters = op.parameters;
  for (auto p = parameters.rbegin(); p != parameters.rend(); ++p) options.gradient_ready(*p);
}

namespace {

class CpuExecutor final : public Executor {
 public:
  CpuExecutor(NetworkPlan& plan, DeviceContext& device, const KernelOptions& kernels)
      : plan_(plan), pool_(device.threads()), kernels_(kernels) {}

  void prepare(std::int64_t max_batch) override {
    const Preparation preparation{.pool = pool_,
                                  .max_batch = max_batch,
                                  .products = kernels_.products,
                                  .chooser = *kernels_.chooser,
                                  .library = kernels_.library};
    scratch_bytes_ = 0;
    for (const auto& op : plan_.ops) {
      op->prepare(preparation);
      scratch_bytes_ = std::max(scratch_bytes_, op->scratch_bytes(pool_.size(), max_batch));
    }
    chains_ = find_lane_chains(plan_);
    for (const LaneChain& chain : chains_) {
      scratch_bytes_ = std::max(scratch_bytes_, chain.scratch_bytes(pool_.size(), max_batch));
    }
  }
  std::int64_t scratch_bytes() const override { return scratch_bytes_; }
  std::span<const LaneChain> chains() const override { return chains_; }

  void forward(const BatchMemory& memory, std::int64_t batch, bool training,
               const PassOptions& options) override;
  BatchResult loss(const BatchMemory& memory, std::int64_t batch,
                   std::optional<double> divisor) override;
  void backward(const BatchMemory& memory, std::int64_t batch, const PassOptions& options) override;
  void queue_step(const BatchMemory& memory, std::int64_t batch, double divisor,
                  const PassOptions& options, const std::function<void()>& update) override;
  bool step_done() override { return true; }
  BatchResult finish_step(const PassOptions&) override { return step_; }
  std::span<const std::uint8_t> on_host(const std::uint8_t* values, std::int64_t n) override {
    return {values, static_cast<std::size_t>(n)};
  }
  std::span<const float> on_host(const float* values, std::int64_t n) override {
    return {values, static_cast<std::size_t>(n)};
  }

 private:
  // The chain that contains `op`; null if there is none or if `kernels` do not run in chains.
  LaneChain* chain_with(std::size_t op, Kernels kernels);
  Pass make_pass(const BatchMemory& memory, std::int64_t batch, bool training,
                 const PassOptions& options);

  NetworkPlan& plan_;
  ThreadPool& pool_;
  const KernelOptions kernels_;
  std::vector<LaneChain> chains_;
  std::int64_t scratch_bytes_ = 0;
  BatchResult step_;  // the latest
};

Pass CpuExecutor::make_pass(const BatchMemory& memory, std::int64_t batch, bool training,
                            const PassOptions& options) {
  return {.pool = pool_,
          .batch = batch,
          .training = training,
          .kernels = options.kernels,
          .products = kernels_.products,
          .scratch = memory.scratch,
          .stop = options.stop};
}

LaneChain* CpuExecutor::chain_with(std::size_t op, Kernels kernels) {
  if (kernels != Kernels::Lab) return nullptr;
  const auto found = std::find_if(chains_.begin(), chains_.end(), [op](const LaneChain& chain) {
    return chain.first() <= op && op < chain.last();
  });
  return found == chains_.end() ? nullptr : &*found;
}

void CpuExecutor::forward(const BatchMemory& memory, std::int64_t batch, bool training,
                          const PassOptions& options) {
  const Pass pass = make_pass(memory, batch, training, options);
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

BatchResult CpuExecutor::loss(const BatchMemory& memory, std::int64_t batch,
                              std::optional<double> divisor) {
  const Value& z = *plan_.ops.back()->output;
  const std::int64_t classes = z.shape.size();
  pool_.parallel_for(batch, 64, [&](std::int64_t begin, std::int64_t end) {
    simd::softmax_cross_entropy({.logits = z.data + begin * classes,
                                 .labels = memory.labels + begin,
                                 .rows = end - begin,
                                 .classes = classes,
                                 .smoothing = divisor ? kernels_.label_smoothing : 0,
                                 .losses = memory.losses + begin,
                                 .predicted = memory.predicted + begin,
                                 .confidence = memory.confidence + begin,
                                 .d_logits = divisor ? z.grad + begin * classes : nullptr,
                                 .divisor = divisor.value_or(1)});
  });
  BatchResult result;
  for (std::int64_t i = 0; i < batch; ++i) {
    result.loss_sum += memory.losses[i];
    result.correct += memory.predicted[i] == memory.labels[i] ? 1 : 0;
  }
  return result;
}

void CpuExecutor::backward(const BatchMemory& memory, std::int64_t batch,
                           const PassOptions& options) {
  const Pass pass = make_pass(memory, batch, true, options);
  for (std::size_t end = plan_.ops.size(); end > 0;) {
    std::size_t begin = end - 1;
    if (LaneChain* chain = chain_with(begin, options.kernels)) {
      chain->backward(pass, options.observer);
      begin = chain->first();
    } else if (plan_.ops[begin]->has_backward()) {
      Op& op = *plan_.ops[begin];
      observed(options.observer, StepPhase::Backward, begin, [&] {
        for (const Input& input : op.inputs) {
          if (input.restored_by != nullptr) input.restored_by->restore_output(pass);
        }
        op.backward(pass);
      });
    }
    throw_if_cancelled(options.stop);  // otherwise gradients would be incomplete
    while (end > begin) report_gradients(*plan_.ops[--end], options);
    after_op(options);
  }
}

void CpuExecutor::queue_step(const BatchMemory& memory, std::int64_t batch, double divisor,
                             const PassOptions& options, const std::function<void()>& update) {
  forward(memory, batch, /*training=*/true, options);
  observed(options.observer, StepPhase::Loss, 0, [&] { step_ = loss(memory, batch, divisor); });
  backward(memory, batch, options);
  if (update) update();
}

}  // namespace

std::unique_ptr<Executor> make_cpu_executor(NetworkPlan& plan, DeviceContext& device,
                                            const KernelOptions& kernels) {
  return std::make_unique<CpuExecutor>(plan, device, kernels);
}

}  // namespace lab::nn
