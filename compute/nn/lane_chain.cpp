#include "compute/nn/lane_chain.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/kernels/convolution/lane_convolution.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/machine/slice.h"
#include "compute/nn/layers/convolution.h"

namespace lab::nn {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

// One thread's scratch memory.
struct LaneChain::Memory {
  float* in = nullptr;
  float* out = nullptr;              // the chain's output in forward, its gradient in backward
  std::array<float*, 2> grads = {};  // of inner values, used alternately
  std::byte* parts = nullptr;
  std::int64_t bytes = 0;

  static Memory carve(Scratch scratch, std::int64_t in, std::int64_t out,
                      const std::array<std::int64_t, 2>& grads, std::int64_t parts) {
    ScratchCursor cursor(scratch);
    Memory m;
    m.in = cursor.take<float>(in);
    m.out = cursor.take<float>(out);
    for (std::size_t i = 0; i < grads.size(); ++i) m.grads[i] = cursor.take<float>(grads[i]);
    m.parts = cursor.take<std::byte>(parts);
    m.bytes = cursor.used_bytes();
    return m;
  }
  Scratch of(const Part& part) const { return {parts + part.offset, part.bytes}; }
};

LaneChain::LaneChain(const NetworkPlan& plan, std::size_t first, std::size_t last) : first_(first) {
  const std::int64_t lanes = simd::image_lanes();
  std::int64_t bytes = 0;
  for (std::size_t i = first; i < last; ++i) {
    const Op& op = *plan.ops[i];
    if (op.lanes() == nullptr) {
      throw Error(Errc::Internal, trf("{} cannot be part of a chain", op.kind()));
    }
    Part part{.op = &op, .lanes = op.lanes(), .offset = bytes};
    part.bytes =
        std::max(part.lanes->bytes(Direction::Forward), part.lanes->bytes(Direction::Backward));
    bytes += ceil_div(part.bytes, 64) * 64;
    part.sums_offset = sum_bytes_;
    part.sum_bytes = part.lanes->sum_bytes();
    sum_bytes_ += ceil_div(part.sum_bytes, 64) * 64;
    std::int64_t& grad = grad_floats_[parts_.size() % 2];
    grad = std::max(grad, op.inputs[0].value->shape.size() * lanes);
    parts_.push_back(part);
  }
  in_floats_ = parts_.front().op->inputs[0].value->shape.size() * lanes;
  out_floats_ = parts_.back().op->output->shape.size() * lanes;
  thread_bytes_ = Memory::carve({}, in_floats_, out_floats_, grad_floats_, bytes).bytes;
}

LaneChain::Memory LaneChain::memory_of(const Pass& pass, int thread) const {
  const Scratch scratch{pass.scratch.data + thread * thread_bytes_, thread_bytes_};
  const Part& last = parts_.back();
  return Memory::carve(scratch, in_floats_, out_floats_, grad_floats_, last.offset + last.bytes);
}

// Sums of part `batch_part` of the batch; they follow the threads' memory.
Scratch LaneChain::sums_of(const Pass& pass, const Part& part, std::int64_t batch_part) const {
  return {pass.scratch.data + pass.pool.size() * thread_bytes_ + batch_part * sum_bytes_ +
              part.sums_offset,
          part.sum_bytes};
}

void LaneChain::begin(const Pass& pass, Direction direction, int thread) const {
  const Memory memory = memory_of(pass, thread);
  for (const Part& part : parts_) part.lanes->begin(direction, memory.of(part));
}

template <typename Work>
void LaneChain::timed_if(bool timed, std::size_t part, const Work& work) {
  if (!timed) return work();
  const Clock::time_point begin = Clock::now();
  work();
  parts_[part].seconds += seconds_since(begin);
}

float* LaneChain::input_of(std::size_t part, const Memory& memory, std::int64_t block) const {
  if (part == 0) return memory.in;
  const Value& value = *parts_[part].op->inputs[0].value;
  return value.data + block * value.shape.size() * simd::image_lanes();
}

namespace {

// Location of block `block` of a value in the network's layout.
template <typename Float>
simd::ImageRuns<Float> images_of(const Pass& pass, const ImageShape& shape, Float* data,
                                 std::int64_t block) {
  const std::int64_t lanes = simd::image_lanes(), first = block * lanes;
  return {data + first * shape.size(), shape.size(), std::min(lanes, pass.batch - first),
          shape.size()};
}

}  // namespace

void LaneChain::load_input(const Pass& pass, const Memory& memory, std::int64_t block) const {
  const Value& x = *parts_.front().op->inputs[0].value;
  simd::images_to_lanes(images_of<const float>(pass, x.shape, x.data, block), memory.in);
}

void LaneChain::forward_block(const Pass& pass, const Memory& memory, std::int64_t block,
                              bool timed) {
  const std::size_t last = parts_.size() - 1;
  timed_if(timed, 0, [&] { load_input(pass, memory, block); });
  for (std::size_t i = 0; i <= last; ++i) {
    float* y = i == last ? memory.out : input_of(i + 1, memory, block);
    timed_if(timed, i, [&] {
      parts_[i].lanes->forward(input_of(i, memory, block), y, memory.of(parts_[i]));
    });
  }
  const Value& out = *parts_.back().op->output;
  timed_if(timed, last, [&] {
    simd::lanes_to_images(memory.out, images_of(pass, out.shape, out.data, block),
                          /*accumulate=*/false);
  });
}

void LaneChain::backward_block(const Pass& pass, const Memory& memory, std::int64_t block,
                               bool timed) {
  const std::size_t last = parts_.size() - 1;
  const Input& in = parts_.front().op->inputs[0];
  const Value& out = *parts_.back().op->output;
  timed_if(timed, last, [&] {
    simd::images_to_lanes(images_of<const float>(pass, out.shape, out.grad, block), memory.out);
  });
  timed_if(timed, 0, [&] { load_input(pass, memory, block); });
  const float* dy = memory.out;
  for (std::size_t i = parts_.size(); i-- > 0;) {
    float* dx = i > 0 || in.needs_grad ? memory.grads[i % 2] : nullptr;
    timed_if(timed, i, [&] {
      parts_[i].lanes->backward(input_of(i, memory, block), dy, dx, memory.of(parts_[i]));
    });
    dy = dx;
  }
  if (!in.needs_grad) return;
  timed_if(timed, 0, [&] {
    simd::lanes_to_images(dy, images_of(pass, in.value->shape, in.value->grad, block),
                          in.accumulate);
  });
}

std::int64_t LaneChain::scratch_bytes(int threads, std::int64_t max_batch) const {
  return thread_bytes_ * threads + sum_bytes_ * lane_gradient_parts(max_batch);
}

void LaneChain::run_forward(const Pass& pass, bool timed) {
  pass.pool.run_parts(
      lane_blocks(pass.batch), [&](int thread) { begin(pass, Direction::Forward, thread); },
      [&](std::int64_t block, int thread) {
        if (pass.stop.stop_requested()) return;
        forward_block(pass, memory_of(pass, thread), block, timed && block == 0);
      });
}

void LaneChain::run_backward(const Pass& pass, bool timed) {
  const std::int64_t blocks = lane_blocks(pass.batch), parts = lane_gradient_parts(pass.batch);
  pass.pool.run_parts(
      parts, [&](int thread) { begin(pass, Direction::Backward, thread); },
      [&](std::int64_t part, int thread) {
        const Memory memory = memory_of(pass, thread);
        for (const Part& op : parts_) op.lanes->begin_part(memory.of(op));
        const Slice slice = slice_of(blocks, parts, part);
        for (std::int64_t b = slice.begin; b < slice.end && !pass.stop.stop_requested(); ++b) {
          backward_block(pass, memory, b, timed && part == 0);
        }
        for (const Part& op : parts_) op.lanes->end_part(memory.of(op), sums_of(pass, op, part));
      });
  for (const Part& op : parts_) op.lanes->finish(sums_of(pass, op, 0), sum_bytes_, parts);
}

void LaneChain::run(const Pass& pass, Direction direction, StepObserver* observer) {
  const Clock::time_point start = Clock::now();
  for (Part& part : parts_) part.seconds = 0;
  const bool timed = observer != nullptr;
  if (direction == Direction::Forward) {
    run_forward(pass, timed);
  } else {
    run_backward(pass, timed);
  }
  if (timed) report(*observer, direction, seconds_since(start));
}

void LaneChain::report(StepObserver& observer, Direction direction, double seconds) const {
  double own = 0;
  for (const Part& part : parts_) own += part.seconds;
  const double factor = own > 0 ? seconds / own : 0;
  double at_s = monotonic_s() - seconds;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool forward = direction == Direction::Forward;
    const std::size_t at = forward ? i : parts_.size() - 1 - i;
    const double end_s = at_s + factor * parts_[at].seconds;
    observer.ran(forward ? StepPhase::Forward : StepPhase::Backward, first_ + at, at_s, end_s);
    at_s = end_s;
  }
}

void LaneChain::forward(const Pass& pass, StepObserver* observer) {
  run(pass, Direction::Forward, observer);
}

void LaneChain::backward(const Pass& pass, StepObserver* observer) {
  run(pass, Direction::Backward, observer);
}

namespace {

bool is_read_once(const NetworkPlan& plan, const Value* value) {
  std::int64_t readers = 0;
  for (const auto& op : plan.ops) {
    readers += std::count_if(op->inputs.begin(), op->inputs.end(),
                             [&](const Input& input) { return input.value == value; });
  }
  return readers == 1;
}

// Returns whether operation `i` can extend a chain that ends with the one before it.
bool extends_chain(const NetworkPlan& plan, std::size_t i) {
  const Op& op = *plan.ops[i];
  const Value* between = plan.ops[i - 1]->output;
  return op.lanes() != nullptr && op.inputs.size() == 1 && op.inputs[0].value == between &&
         op.output != between && is_read_once(plan, between);
}

}  // namespace

std::vector<LaneChain> find_lane_chains(const NetworkPlan& plan) {
  constexpr std::int64_t kMaxThreadBytes = std::int64_t{2} * 1024 * 1024;
  std::vector<LaneChain> chains;
  for (std::size_t first = 0; first < plan.ops.size();) {
    const auto* start = dynamic_cast<const Convolution*>(plan.ops[first].get());
    std::size_t last = first + 1;
    if (start != nullptr && start->lanes() != nullptr) {
      while (last < plan.ops.size() && extends_chain(plan, last)) ++last;
    }
    if (last - first > 1) {
      LaneChain chain(plan, first, last);
      if (chain.thread_bytes() <= kMaxThreadBytes) chains.push_back(std::move(chain));
    }
    first = last;
  }
  return chains;
}

}  // namespace lab::nn
