#include "compute/nn/network_memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/nn/network.h"

namespace lab::nn {
namespace {

bool live_together(const ArenaRequest& a, const ArenaRequest& b) {
  return a.first <= b.last && b.first <= a.last;
}

// `placed` is sorted by offset.
std::int64_t lowest_gap(const ArenaRequest& request, const std::vector<ArenaRequest*>& placed) {
  std::int64_t offset = 0;
  for (const ArenaRequest* other : placed) {
    if (!live_together(request, *other)) continue;
    if (offset + request.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

// Places the requests in descending order of rank(request).
template <typename Rank>
std::int64_t place_by(const Rank& rank, std::vector<ArenaRequest>& requests) {
  std::vector<ArenaRequest*> order;
  order.reserve(requests.size());
  for (ArenaRequest& request : requests) order.push_back(&request);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return rank(*a) > rank(*b); });
  std::vector<ArenaRequest*> placed;
  std::int64_t total = 0;
  for (ArenaRequest* request : order) {
    request->offset = lowest_gap(*request, placed);
    total = std::max(total, request->offset + request->bytes);
    const auto at =
        std::upper_bound(placed.begin(), placed.end(), request,
                         [](const auto* a, const auto* b) { return a->offset < b->offset; });
    placed.insert(at, request);
  }
  return total;
}

}  // namespace

std::int64_t plan_arena(std::vector<ArenaRequest>& requests) {
  for (ArenaRequest& request : requests) request.bytes = (request.bytes + 63) / 64 * 64;
  const auto size = [](const ArenaRequest& r) { return r.bytes; };
  const auto area = [](const ArenaRequest& r) { return r.bytes * (r.last - r.first + 1); };
  std::vector<ArenaRequest> by_size = requests;
  const std::int64_t bytes = place_by(size, by_size), bytes_by_area = place_by(area, requests);
  if (bytes_by_area < bytes) return bytes_by_area;
  requests = std::move(by_size);
  return bytes;
}

namespace {

constexpr std::int64_t kSlackBytes = 64;  // vectors may be stored past an array's end

}  // namespace

void Network::place_parameters() {
  if (device_.gpu() != nullptr) {
    gpu_state_ = std::make_unique<GpuState>(plan_, device_);
    return;
  }
  const std::vector<std::int64_t> offsets = plan_.parameter_offsets();
  const std::int64_t bytes = offsets.back() * 4;
  parameter_memory_ = named_buffer(device_, bytes, trf("{} parameters", name()));
  gradient_memory_ = named_buffer(device_, bytes, trf("{} gradients", name()));
  std::memset(parameter_memory_.data(), 0, static_cast<std::size_t>(bytes));
  std::memset(gradient_memory_.data(), 0, static_cast<std::size_t>(bytes));
  for (std::size_t p = 0; p < plan_.parameters.size(); ++p) {
    plan_.parameters[p].value = flat_parameters().data() + offsets[p];
    plan_.parameters[p].grad = flat_gradients().data() + offsets[p];
  }
}

// Backward runs from the last operation to the first: the first to reach an input's gradient writes
// it, later ones accumulate.
void Network::mark_accumulating_inputs() {
  std::set<const Value*> written;
  for (auto op = plan_.ops.rbegin(); op != plan_.ops.rend(); ++op) {
    for (Input& input : (*op)->inputs) {
      if (input.value == (*op)->output || !input.needs_grad) continue;
      input.accumulate = !written.insert(input.value).second;
    }
    for (const Input& input : (*op)->inputs) {
      if (input.accumulate && !(*op)->can_accumulate()) {
        throw Error(Errc::Internal,
                    trf("{}: {} cannot add to its input's gradient", name(), (*op)->kind()));
      }
    }
  }
}

namespace {

struct Span {
  int first = -1, last = -1;
  void cover(int tick) {
    first = first < 0 ? tick : std::min(first, tick);
    last = std::max(last, tick);
  }
};

struct Lifetime {
  Value* value = nullptr;
  Span data, grad;
  Span restored;           // of the copy for backward, if the value is computed again
  Op* producer = nullptr;  // the operation that computes it again; null if the value is kept
  bool inside = false;     // an inner value of a chain
  // The value in whose gradient's memory this one's lies, and whose `grad` covers both. Null if
  // this one has its own.
  const Value* shared = nullptr;
};

// For each operation, the first and last operation that run together with it: itself, or its
// chain's.
std::vector<std::pair<int, int>> run_together(const NetworkPlan& plan,
                                              std::span<const LaneChain> chains) {
  std::vector<std::pair<int, int>> together;
  together.reserve(plan.ops.size());
  for (int i = 0; i < static_cast<int>(plan.ops.size()); ++i) together.emplace_back(i, i);
  for (const LaneChain& chain : chains) {
    for (std::size_t i = chain.first(); i < chain.last(); ++i) {
      together[i] = {static_cast<int>(chain.first()), static_cast<int>(chain.last()) - 1};
    }
  }
  return together;
}

// Finds the values that are computed again for backward: those of an operation that can, unless
// others change them or read them in a chain.
void find_restored(const NetworkPlan& plan, std::span<const std::pair<int, int>> together,
                   std::map<const Value*, Lifetime*>& lives) {
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    Op& op = *plan.ops[i];
    const bool alone = together[i].first == together[i].second;
    if (alone && op.can_restore_output() && !op.saved_values().output) {
      lives[op.output]->producer = &op;
    }
    for (const Input& input : op.inputs) {
      const bool changed = input.value == op.output || op.changes_input();
      if (changed || !alone) lives[input.value]->producer = nullptr;
    }
  }
}

// Lets gradients be computed in place. A value's gradient is last read by the operation that
// produces the value, so the one written there takes over its memory.
void share_gradients(const NetworkPlan& plan, std::span<const std::pair<int, int>> together,
                     std::map<const Value*, Lifetime*>& lives) {
  for (std::size_t i = plan.ops.size(); i-- > 0;) {
    const Op& op = *plan.ops[i];
    const std::optional<std::size_t> k = op.gradient_in_place();
    const bool alone = together[i].first == together[i].second;
    if (!alone || !k.has_value() || !op.inputs[*k].needs_grad || op.inputs[*k].accumulate) continue;
    Lifetime& input = *lives[op.inputs[*k].value];
    Lifetime* owner = lives[op.output];
    if (owner->shared != nullptr) owner = lives[owner->shared];
    input.shared = owner->value;
    owner->grad.cover(input.grad.first);
    owner->grad.cover(input.grad.last);
  }
}

// Ticks: operation i of n runs forward at tick i and backward at 2n - i; the loss is at tick n. The
// operations of a chain run at all ticks of the chain.
std::vector<Lifetime> lifetimes(NetworkPlan& plan, std::span<const LaneChain> chains, bool on_gpu) {
  std::vector<Lifetime> lives(plan.values.size());
  std::map<const Value*, Lifetime*> of;
  for (std::size_t v = 0; v < lives.size(); ++v) {
    lives[v].value = &plan.values[v];
    of[lives[v].value] = &lives[v];
  }
  const int n = static_cast<int>(plan.ops.size());
  const std::vector<std::pair<int, int>> together = run_together(plan, chains);
  if (!on_gpu) find_restored(plan, together, of);
  lives.front().data.cover(0);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = *plan.ops[i];
    const Op::SavedValues saved = on_gpu ? op.gpu_saved_values() : op.saved_values();
    const int first = together[i].first, last = together[i].second;
    const auto forward = [first, last](Span& span) {
      span.cover(first);
      span.cover(last);
    };
    const auto backward = [n, first, last](Span& span) {
      span.cover(2 * n - last);
      span.cover(2 * n - first);
    };
    Lifetime& out = *of[op.output];
    forward(out.data);
    backward(out.grad);
    if (saved.output) backward(out.data);
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const Input& input = op.inputs[k];
      Lifetime& from = *of[input.value];
      forward(from.data);
      if (k < saved.inputs) backward(from.producer == nullptr ? from.data : from.restored);
      if (input.needs_grad) backward(from.grad);
    }
  }
  for (const LaneChain& chain : chains) {
    for (std::size_t i = chain.first(); i + 1 < chain.last(); ++i) {
      of[plan.ops[i]->output]->inside = true;
    }
  }
  Lifetime& logits = *of[plan.ops.back()->output];
  logits.data.cover(n);
  logits.grad.cover(n);
  if (!on_gpu) share_gradients(plan, together, of);
  return lives;
}

// Where a network's activations and the other arrays of a batch lie in the arena.
struct Activations {
  std::vector<Lifetime> lives;
  std::vector<ArenaRequest> requests = {};  // in the order in which place_values() places them
  std::int64_t scratch_bytes = 0;
  std::int64_t bytes = 0;
};

// Whether the gradient has memory of its own. Inside a chain, gradients are in the threads' memory.
bool has_grad(const Lifetime& live, bool library) {
  return live.grad.first >= 0 && live.shared == nullptr && (library || !live.inside);
}

// Prepares the executor for such batches.
Activations plan_activations(NetworkPlan& plan, Executor& executor, std::int64_t max_batch,
                             bool library, bool on_gpu) {
  executor.prepare(max_batch);
  Activations a{.lives = lifetimes(plan, executor.chains(), on_gpu),
                .scratch_bytes = executor.scratch_bytes()};
  const auto request = [&](std::int64_t bytes, Span live) {
    a.requests.push_back({.bytes = bytes + kSlackBytes, .first = live.first, .last = live.last});
  };
  // Inside a chain, blocks are whole.
  const std::int64_t lanes = simd::image_lanes();
  const std::int64_t in_blocks = ceil_div(max_batch, lanes) * lanes;
  for (const Lifetime& live : a.lives) {
    const std::int64_t images = live.inside ? in_blocks : max_batch;
    const std::int64_t bytes = live.value->shape.size() * images * size_of(live.value->dtype);
    request(bytes, live.data);
    if (has_grad(live, library)) request(bytes, live.grad);
    if (live.restored.first >= 0) request(bytes, live.restored);
  }
  const int n = static_cast<int>(plan.ops.size());
  for (int i = 0; const std::int64_t bytes : executor.kept_bytes()) {
    request(bytes, {i, 2 * n - i});
    ++i;
  }
  const Span always{0, 2 * n};
  request(2 * sizeof(std::uint32_t) * plan.values.size(), always);
  request(a.scratch_bytes, always);
  for (const std::int64_t bytes : {1, 1, 4, 4}) request(bytes * max_batch, always);
  request(sizeof(GpuLossSum), always);
  a.bytes = plan_arena(a.requests);
  return a;
}

// The first operation that reads a restored value in backward has it computed again.
void assign_restoring(NetworkPlan& plan, std::span<const Lifetime> lives) {
  std::map<const Value*, Op*> producers;
  for (const Lifetime& live : lives) {
    if (live.restored.first >= 0) producers[live.value] = live.producer;
  }
  for (auto op = plan.ops.rbegin(); op != plan.ops.rend(); ++op) {
    for (std::size_t k = 0; k < (*op)->inputs.size(); ++k) {
      Input& input = (*op)->inputs[k];
      input.restored_by = nullptr;
      const auto found = producers.find(input.value);
      if (k >= (*op)->saved_values().inputs || found == producers.end()) continue;
      input.restored_by = found->second;
      producers.erase(found);
    }
  }
}

// Gives two numbers of `memory` to each value: to data if its only writer finds the largest
// magnitude, and to grad if its only reader, which writes it, does.
void place_largest(NetworkPlan& plan, std::uint32_t* memory) {
  std::map<const Value*, std::vector<const Op*>> writers, readers;
  for (const auto& op : plan.ops) {
    writers[op->output].push_back(op.get());
    if (op->changes_input()) writers[op->inputs.front().value].push_back(op.get());
    for (const Input& input : op->inputs) readers[input.value].push_back(op.get());
  }
  const auto found = [](const std::vector<const Op*>& ops) {
    return ops.size() == 1 && ops.front()->gpu_finds_largest();
  };
  for (Value& value : plan.values) {
    const std::vector<const Op*>& used = readers[&value];
    const bool first_input = used.size() == 1 && used.front()->inputs.front().value == &value;
    value.largest = found(writers[&value]) ? memory : nullptr;
    value.grad_largest = found(used) && first_input ? memory + 1 : nullptr;
    memory += 2;
  }
}

}  // namespace

void Network::place_values(std::int64_t max_batch) {
  const Activations a =
      plan_activations(plan_, *executor_, max_batch, kernels_.library, device_.gpu() != nullptr);
  arena_ = named_buffer(device_, a.bytes, trf("{} activations", name()));

  std::size_t next = 0;
  const auto place = [&] { return arena_.data() + a.requests[next++].offset; };
  for (const Lifetime& live : a.lives) {
    live.value->data = reinterpret_cast<float*>(place());
    live.value->grad =
        has_grad(live, kernels_.library) ? reinterpret_cast<float*>(place()) : nullptr;
    live.value->saved =
        live.restored.first >= 0 ? reinterpret_cast<float*>(place()) : live.value->data;
  }
  for (const Lifetime& live : a.lives) {
    if (live.shared != nullptr) live.value->grad = live.shared->grad;
  }
  for (std::size_t i = 0; i < executor_->kept_bytes().size(); ++i) plan_.ops[i]->gpu_kept = place();
  place_largest(plan_, reinterpret_cast<std::uint32_t*>(place()));
  assign_restoring(plan_, a.lives);
  batch_memory_.scratch = {place(), a.scratch_bytes};
  batch_memory_.labels = reinterpret_cast<std::uint8_t*>(place());
  batch_memory_.predicted = reinterpret_cast<std::uint8_t*>(place());
  batch_memory_.confidence = reinterpret_cast<float*>(place());
  batch_memory_.losses = reinterpret_cast<float*>(place());
  batch_memory_.sum = reinterpret_cast<GpuLossSum*>(place());
}

std::optional<std::int64_t> Network::activation_bytes(std::int64_t max_batch) {
  std::optional<std::int64_t> bytes;
  try {
    bytes =
        plan_activations(plan_, *executor_, max_batch, kernels_.library, device_.gpu() != nullptr)
            .bytes;
  } catch (const Error& e) {  // arrays of more elements than a GPU's kernels address
    if (e.code() != Errc::InvalidArgument) throw;
  }
  if (max_batch_ > 0) executor_->prepare(max_batch_);
  return bytes;
}

}  // namespace lab::nn
