#pragma once
// Operations in a row that a block of images passes through before the next block begins: its
// values lie side by side (LaneOp in op.h) and stay in the cache of the thread that has the block.
// The chain's input and output lie in the network's order; inner values keep the blocks' order,
// block b of a value of n floats an image at data + b * n * image_lanes().
#include <array>
#include <cstdint>
#include <vector>

#include "compute/nn/network_plan.h"
#include "compute/nn/op.h"

namespace lab::nn {

class LaneChain {
 public:
  // Operations [first, last) of `plan`, which must outlive the chain. All have lanes(). The first
  // works on a copy of its input, so it must not be one in place.
  LaneChain(const NetworkPlan& plan, std::size_t first, std::size_t last);

  std::size_t first() const { return first_; }
  std::size_t last() const { return first_ + parts_.size(); }  // behind the last
  std::int64_t scratch_bytes(int threads) const { return thread_bytes_ * threads; }

  // As the operations' own, on all of the batch. The time of the whole is told as its operations',
  // in proportion to what the calling thread spent on each: what they share (preparing, waiting for
  // the other threads, sums over them) is divided in the same way.
  void forward(const Pass& pass, StepObserver* observer);
  void backward(const Pass& pass, StepObserver* observer);

 private:
  struct Part {
    const Op* op = nullptr;
    const LaneOp* lanes = nullptr;
    std::int64_t offset = 0;  // of its memory in a thread's, in bytes
    std::int64_t bytes = 0;
    double seconds = 0;  // in this pass
  };
  struct Memory;
  Memory memory_of(const Pass& pass, int thread) const;
  void begin(Direction direction, const Memory& memory) const;
  void forward_block(const Pass& pass, const Memory& memory, std::int64_t block, bool timed);
  void backward_block(const Pass& pass, const Memory& memory, std::int64_t block, bool timed);
  float* input_of(std::size_t part, const Memory& memory, std::int64_t block) const;
  void load_input(const Pass& pass, const Memory& memory, std::int64_t block) const;
  template <typename Work>
  void timed_if(bool timed, std::size_t part, const Work& work);
  template <typename Block>
  void run(const Pass& pass, Direction direction, StepObserver* observer, const Block& block);
  void tell(StepObserver& observer, Direction direction, double seconds) const;

  std::size_t first_;
  std::vector<Part> parts_;
  std::int64_t in_floats_ = 0, out_floats_ = 0;   // of a block of the chain's input and output
  std::array<std::int64_t, 2> grad_floats_ = {};  // of the inputs of even and of odd parts
  std::int64_t thread_bytes_ = 0;
};

// The chains of a plan whose operations are prepared: at least two operations, the first a
// convolution, which is not in place, each the only reader of the one before it. None where a batch
// has fewer blocks than there are threads, or where a block's values are far too large for a cache.
std::vector<LaneChain> find_lane_chains(const NetworkPlan& plan, std::int64_t max_batch,
                                        int threads);

}  // namespace lab::nn
