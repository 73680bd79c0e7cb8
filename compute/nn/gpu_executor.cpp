// Queues a network's operations on a GPU. A training step is recorded once per batch size and then
// launched as one graph, or as one graph per group of parameters whose gradients are reported.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compute/core/backoff.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/machine/machine.h"
#include "compute/nn/executor.h"
#include "compute/nn/gpu_state.h"

namespace lab::nn {
namespace {

// Shares of a batch that change from time to time would otherwise collect graphs.
constexpr std::size_t kMaxGraphs = 8;

// Times operations by events, without waiting for each of them.
class GpuTimes {
 public:
  explicit GpuTimes(GpuDevice& gpu) : gpu_(gpu) {}

  void begin(StepObserver* observer) {
    observer_ = observer;
    parts_.clear();
    next_ = 0;
    if (observer_ != nullptr) record();
  }
  // The operations queued since the previous call were this part.
  void end_part(StepPhase phase, std::size_t op) {
    if (observer_ == nullptr) return;
    record();
    parts_.push_back({phase, op});
  }
  // All recorded work is complete.
  void report() {
    if (parts_.empty()) return;
    double at_s = monotonic_s() - events_[parts_.size()]->seconds_since(*events_[0]);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double end_s = at_s + events_[i + 1]->seconds_since(*events_[i]);
      observer_->ran(parts_[i].phase, parts_[i].op, at_s, end_s);
      at_s = end_s;
    }
    parts_.clear();
  }

 private:
  struct Part {
    StepPhase phase;
    std::size_t op;
  };
  void record() {
    if (next_ == events_.size()) events_.push_back(gpu_.make_event());
    events_[next_++]->record(gpu_.main_stream());
  }

  GpuDevice& gpu_;
  StepObserver* observer_ = nullptr;
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<GpuEvent>> events_;
  std::size_t next_ = 0;
};

class GpuExecutor final : public Executor {
 public:
  GpuExecutor(NetworkPlan& plan, DeviceContext& device, const KernelOptions& kernels,
              GpuState& state)
      : plan_(plan),
        gpu_(*device.gpu()),
        kernels_(kernels),
        state_(state),
        sums_(gpu_.allocate_pinned(kSlots * sizeof(GpuLossSum))),
        begin_(gpu_.make_event()),
        side_(gpu_),
        times_(gpu_) {
    for (Slot& slot : slots_) slot.end = gpu_.make_event();
  }

  void prepare(std::int64_t max_batch) override;
  std::int64_t scratch_bytes() const override { return workspace_bytes_; }
  std::span<const std::int64_t> kept_bytes() const override { return kept_bytes_; }
  void group_gradients(std::span<const std::size_t> first_parameters) override;
  void forward(const BatchMemory& memory, std::int64_t batch, bool training,
               const PassOptions& options) override;
  BatchResult loss(const BatchMemory& memory, std::int64_t batch,
                   std::optional<double> divisor) override;
  void backward(const BatchMemory& memory, std::int64_t batch, const PassOptions& options) override;
  void begin_steps() override {
    begin_->record(stream());
    next_begin_ = begin_.get();
  }
  void queue_step(const BatchMemory& memory, std::int64_t batch, double divisor,
                  const PassOptions& options, const std::function<void()>& update) override;
  bool step_done() override { return slots_[first_ % kSlots].end->done(); }
  BatchResult finish_step(const PassOptions& options) override;
  std::span<const std::uint8_t> on_host(const std::uint8_t* values, std::int64_t n) override {
    return copied_to_host(values, n, bytes_);
  }
  std::span<const float> on_host(const float* values, std::int64_t n) override {
    return copied_to_host(values, n, floats_);
  }

 private:
  // A step that differs in any of these needs another graph.
  struct StepKind {
    std::int64_t batch = 0;
    double divisor = 0;
    Kernels kernels = Kernels::Lab;
    bool updates = false;
    auto operator<=>(const StepKind&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  // Recorded once it has run: the first run of an operation may load its kernel, which waits.
  struct StepGraphs {
    bool has_run = false;
    std::vector<std::unique_ptr<GpuGraph>> pieces;
  };
  // A queued pass, and where its sums arrive in host memory.
  struct Slot {
    std::unique_ptr<GpuEvent> end;
    const GpuEvent* begin = nullptr;  // null: not timed
  };
  static constexpr std::size_t kSlots = kMaxQueuedSteps + 1;  // the end of one more is read
  // Operations `begin` to `end` - 1. Their backward completes a group of parameters.
  struct Piece {
    std::size_t begin = 0, end = 0;
  };

  GpuStream& stream() const { return gpu_.main_stream(); }
  void choose_types(std::int64_t max_batch);
  GpuPass make_pass(const BatchMemory& memory, std::int64_t batch, bool training, Kernels kernels);
  void queue_forward(const BatchMemory& memory, std::int64_t batch, bool training, Kernels kernels);
  void queue_loss(const BatchMemory& memory, std::int64_t batch, std::optional<double> divisor);
  void queue_backward(const BatchMemory& memory, std::int64_t batch, Kernels kernels,
                      const Piece& piece);
  void queue_piece(const BatchMemory& memory, const StepKind& kind, const Piece& piece,
                   const std::function<void()>& update);
  std::unique_ptr<GpuGraph> record(FunctionRef<void()> queue);
  void report_piece(const Piece& piece, const PassOptions& options);
  void copy_sum(const BatchMemory& memory, std::size_t slot);
  BatchResult sum_of(std::size_t slot) const;
  void wait_for(const GpuEvent& event, const PassOptions& options);
  void count_batch();
  template <typename T>
  std::span<const T> copied_to_host(const T* values, std::int64_t n, std::vector<T>& to);

  NetworkPlan& plan_;
  GpuDevice& gpu_;
  const KernelOptions kernels_;
  GpuState& state_;
  std::unique_ptr<PinnedMemory> sums_;  // of the slots
  std::array<Slot, kSlots> slots_;
  std::size_t first_ = 0, queued_ = 0;    // the steps first_ to first_ + queued_ - 1 are queued
  std::unique_ptr<GpuEvent> begin_;       // of begin_steps()
  const GpuEvent* next_begin_ = nullptr;  // null before begin_steps()
  SideStream side_;
  GpuTimes times_;
  std::int64_t workspace_bytes_ = 0;
  std::vector<std::int64_t> kept_bytes_;                 // of each operation
  std::vector<Piece> pieces_ = {{0, plan_.ops.size()}};  // in the order of backward
  std::map<StepKind, StepGraphs> graphs_;
  std::vector<std::uint8_t> bytes_;
  std::vector<float> floats_;
};

// Makes bf16 the values that all of their operations take so, if convolutions are among those.
void GpuExecutor::choose_types(std::int64_t max_batch) {
  for (Value& value : plan_.values) value.dtype = DType::F32;
  if (kernels_.products != Precision::BF16 || kernels_.library) return;
  const GpuPass pass = make_pass({}, max_batch, true, Kernels::Lab);
  const bool convolves = std::ranges::any_of(plan_.ops, [&](const std::unique_ptr<Op>& op) {
    return std::string_view(op->kind()) == "convolution" && op->gpu_takes_bf16(pass, *op->output);
  });
  if (!convolves) return;
  for (Value& value : plan_.values) value.dtype = DType::BF16;
  plan_.values.front().dtype = DType::F32;       // of which the batch is made
  plan_.ops.back()->output->dtype = DType::F32;  // of which the loss is made
  const auto refused = [&](const Op& op, Value& value) {
    if (value.dtype == DType::F32 || op.gpu_takes_bf16(pass, value)) return false;
    value.dtype = DType::F32;
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& op : plan_.ops) {
      changed = refused(*op, *op->output) || changed;
      for (const Input& input : op->inputs) changed = refused(*op, *input.value) || changed;
    }
  }
  const auto is_bf16 = [](const Value& value) { return value.dtype == DType::BF16; };
  if (std::ranges::any_of(plan_.values, is_bf16)) state_.keep_bf16_parameters();
}

void GpuExecutor::prepare(std::int64_t max_batch) {
  graphs_.clear();
  choose_types(max_batch);
  workspace_bytes_ = 0;
  kept_bytes_.assign(plan_.ops.size(), 0);
  for (const Kernels kernels : {Kernels::Lab, Kernels::Library}) {
    if (kernels == Kernels::Library && !kernels_.library) continue;
    const GpuPass pass = make_pass({}, max_batch, true, kernels);
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const Op& op = *plan_.ops[i];
      workspace_bytes_ = std::max(workspace_bytes_, op.gpu_workspace_bytes(pass));
      kept_bytes_[i] = std::max(kept_bytes_[i], op.gpu_kept_bytes(pass));
    }
  }
}

void GpuExecutor::group_gradients(std::span<const std::size_t> first_parameters) {
  graphs_.clear();
  pieces_.clear();
  std::size_t end = plan_.ops.size(), begin = end;
  for (const std::size_t first : first_parameters) {
    const auto has_later = [first](const std::unique_ptr<Op>& op) {
      return std::ranges::any_of(op->parameters, [first](std::size_t p) { return p >= first; });
    };
    const auto earliest = std::ranges::find_if(plan_.ops, has_later);
    begin = std::min(begin, static_cast<std::size_t>(earliest - plan_.ops.begin()));
    if (begin < end) pieces_.push_back({begin, end});
    end = begin;
  }
  if (!pieces_.empty()) pieces_.back().begin = 0;
}

GpuPass GpuExecutor::make_pass(const BatchMemory& memory, std::int64_t batch, bool training,
                               Kernels kernels) {
  return {.gpu = gpu_,
          .state = state_,
          .batch = batch,
          .training = training,
          .products = kernels_.products,
          .workspace = memory.scratch,
          .kernels = kernels,
          .side = &side_};
}

// ---- Parts of a step

void GpuExecutor::queue_forward(const BatchMemory& memory, std::int64_t batch, bool training,
                                Kernels kernels) {
  const GpuPass pass = make_pass(memory, batch, training, kernels);
  for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
    plan_.ops[i]->gpu_forward(pass);
    times_.end_part(StepPhase::Forward, i);
  }
}

void GpuExecutor::queue_loss(const BatchMemory& memory, std::int64_t batch,
                             std::optional<double> divisor) {
  const Value& z = *plan_.ops.back()->output;
  gpu_.layers().loss({.images = batch,
                      .classes = z.shape.size(),
                      .logits = z.data,
                      .labels = memory.labels,
                      .smoothing = divisor ? kernels_.label_smoothing : 0,
                      .divisor = divisor.value_or(1),
                      .dlogits = divisor ? z.grad : nullptr,
                      .losses = memory.losses,
                      .predicted = memory.predicted,
                      .confidence = memory.confidence,
                      .sum = memory.sum,
                      .fault = divisor ? state_.fault() : nullptr},
                     stream());
  times_.end_part(StepPhase::Loss, 0);
}

void GpuExecutor::queue_backward(const BatchMemory& memory, std::int64_t batch, Kernels kernels,
                                 const Piece& piece) {
  const GpuPass pass = make_pass(memory, batch, true, kernels);
  for (std::size_t i = piece.end; i-- > piece.begin;) {
    if (!plan_.ops[i]->has_backward()) continue;
    plan_.ops[i]->gpu_backward(pass);
    times_.end_part(StepPhase::Backward, i);
  }
}

void GpuExecutor::report_piece(const Piece& piece, const PassOptions& options) {
  for (std::size_t i = piece.end; i-- > piece.begin;) report_gradients(*plan_.ops[i], options);
}

void GpuExecutor::copy_sum(const BatchMemory& memory, std::size_t slot) {
  gpu_.copy(GpuCopy::DeviceToHost, sums_->data() + slot * sizeof(GpuLossSum), memory.sum,
            sizeof(GpuLossSum), stream());
}

// Its copy has arrived.
BatchResult GpuExecutor::sum_of(std::size_t slot) const {
  GpuLossSum sum;
  std::memcpy(&sum, sums_->data() + slot * sizeof(GpuLossSum), sizeof sum);
  return {.loss_sum = sum.loss, .correct = sum.correct};
}

void GpuExecutor::wait_for(const GpuEvent& event, const PassOptions& options) {
  if (options.gradient_ready) {
    Backoff backoff;
    after_op(options);
    while (!event.done()) {
      backoff.pause();
      after_op(options);
    }
  } else {
    event.synchronise();
    after_op(options);
  }
  times_.report();
}

void GpuExecutor::count_batch() {
  for (RunningStatistics& running : plan_.running) ++running.batches;
}

// ---- Passes one by one

void GpuExecutor::forward(const BatchMemory& memory, std::int64_t batch, bool training,
                          const PassOptions& options) {
  times_.begin(options.observer);
  queue_forward(memory, batch, training, options.kernels);
  if (training) count_batch();
  after_op(options);
}

BatchResult GpuExecutor::loss(const BatchMemory& memory, std::int64_t batch,
                              std::optional<double> divisor) {
  queue_loss(memory, batch, divisor);
  copy_sum(memory, 0);
  stream().synchronise();
  times_.report();
  return sum_of(0);
}

void GpuExecutor::backward(const BatchMemory& memory, std::int64_t batch,
                           const PassOptions& options) {
  times_.begin(options.observer);
  for (const Piece& piece : pieces_) {
    queue_backward(memory, batch, options.kernels, piece);
    report_piece(piece, options);
  }
  Slot& slot = slots_[0];
  slot.end->record(stream());
  wait_for(*slot.end, options);
}

// ---- Whole steps

// The first piece includes forward and loss, the last one the update.
void GpuExecutor::queue_piece(const BatchMemory& memory, const StepKind& kind, const Piece& piece,
                              const std::function<void()>& update) {
  if (piece.end == plan_.ops.size()) {
    queue_forward(memory, kind.batch, /*training=*/true, kind.kernels);
    queue_loss(memory, kind.batch, kind.divisor);
  }
  queue_backward(memory, kind.batch, kind.kernels, piece);
  if (kind.updates && piece.begin == 0) update();
}

std::unique_ptr<GpuGraph> GpuExecutor::record(FunctionRef<void()> queue) {
  gpu_.begin_recording(stream());
  try {
    queue();
    return gpu_.end_recording(stream());
  } catch (...) {
    gpu_.abandon_recording(stream());
    throw;
  }
}

void GpuExecutor::queue_step(const BatchMemory& memory, std::int64_t batch, double divisor,
                             const PassOptions& options, const std::function<void()>& update) {
  if (queued_ == kMaxQueuedSteps) {
    throw Error(Errc::Internal, fmt::format("{}: {} steps are queued", plan_.name, queued_));
  }
  const std::size_t at = (first_ + queued_) % kSlots;
  Slot& slot = slots_[at];
  times_.begin(options.observer);
  const StepKind kind{
      .batch = batch, .divisor = divisor, .kernels = options.kernels, .updates = bool(update)};
  if (graphs_.size() >= kMaxGraphs && !graphs_.contains(kind)) graphs_.clear();
  StepGraphs& graphs = graphs_[kind];
  const bool recorded = options.observer == nullptr && graphs.has_run;
  graphs.pieces.resize(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    std::unique_ptr<GpuGraph>& graph = graphs.pieces[i];
    const auto queue = [&] { queue_piece(memory, kind, pieces_[i], update); };
    if (recorded) {
      if (!graph) graph = record(queue);
      graph->launch(stream());
    } else {
      queue();
    }
    report_piece(pieces_[i], options);
  }
  graphs.has_run = true;
  count_batch();
  copy_sum(memory, at);
  slot.end->record(stream());
  slot.begin = next_begin_;
  if (next_begin_ != nullptr) next_begin_ = slot.end.get();
  ++queued_;
}

// A step whose wait is cancelled is no longer queued.
BatchResult GpuExecutor::finish_step(const PassOptions& options) {
  if (queued_ == 0) throw Error(Errc::Internal, fmt::format("{}: no step is queued", plan_.name));
  const std::size_t at = first_ % kSlots;
  const Slot& slot = slots_[at];
  ++first_;
  --queued_;
  wait_for(*slot.end, options);
  BatchResult result = sum_of(at);
  if (slot.begin != nullptr) result.gpu_s = slot.end->seconds_since(*slot.begin);
  return result;
}

template <typename T>
std::span<const T> GpuExecutor::copied_to_host(const T* values, std::int64_t n,
                                               std::vector<T>& to) {
  to.resize(static_cast<std::size_t>(n));
  gpu_.copy(GpuCopy::DeviceToHost, to.data(), values, n * static_cast<std::int64_t>(sizeof(T)),
            stream());
  stream().synchronise();
  return to;
}

}  // namespace

std::unique_ptr<Executor> make_gpu_executor(NetworkPlan& plan, DeviceContext& device,
                                            const KernelOptions& kernels, GpuState& state) {
  return std::make_unique<GpuExecutor>(plan, device, kernels, state);
}

}  // namespace lab::nn
