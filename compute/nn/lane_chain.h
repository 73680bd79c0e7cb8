#pragma once
// A sequence of operations that a block of images passes through before the next block starts, so
// that the block's values stay in the cache of one thread. Images of a block are interleaved
// (LaneOp in op.h). The chain's input and output are in the network's layout; inner values stay in
// blocks: block b of a value with n floats per image starts at data + b * n * image_lanes().
#include <array>
#include <cstdint>
#include <vector>

#include "compute/nn/network_plan.h"
#include "compute/nn/op.h"

namespace lab::nn {

class LaneChain {
 public:
  // Chains operations [first, last) of `plan`, which must outlive the chain. All must have lanes().
  // The first works on a copy of its input, so it must not be in place.
  LaneChain(const NetworkPlan& plan, std::size_t first, std::size_t last);

  std::size_t first() const { return first_; }
  std::size_t last() const { return first_ + parts_.size(); }  // one past the last
  std::int64_t scratch_bytes(int threads, std::int64_t max_batch) const;
  std::int64_t thread_bytes() const { return thread_bytes_; }

  // Run all operations on the whole batch. The total time is attributed to the operations in
  // proportion to their times in the first block, or part of the batch, which some thread always
  // runs; shared costs (setup, waiting for other threads, sums over the parts of the batch) are
  // divided in the same way.
  void forward(const Pass& pass, StepObserver* observer);
  void backward(const Pass& pass, StepObserver* observer);

 private:
  struct Part {
    const Op* op = nullptr;
    const LaneOp* lanes = nullptr;
    std::int64_t offset = 0;  // of its memory within a thread's, in bytes
    std::int64_t bytes = 0;
    std::int64_t sums_offset = 0, sum_bytes = 0;
    double seconds = 0;  // in this pass
  };
  struct Memory;
  Memory memory_of(const Pass& pass, int thread) const;
  Scratch sums_of(const Pass& pass, const Part& part, std::int64_t batch_part) const;
  void begin(const Pass& pass, Direction direction, int thread) const;
  void forward_block(const Pass& pass, const Memory& memory, std::int64_t block, bool timed);
  void backward_block(const Pass& pass, const Memory& memory, std::int64_t block, bool timed);
  float* input_of(std::size_t part, const Memory& memory, std::int64_t block) const;
  void load_input(const Pass& pass, const Memory& memory, std::int64_t block) const;
  template <typename Work>
  void timed_if(bool timed, std::size_t part, const Work& work);
  void run(const Pass& pass, Direction direction, StepObserver* observer);
  void run_forward(const Pass& pass, bool timed);
  void run_backward(const Pass& pass, bool timed);
  void report(StepObserver& observer, Direction direction, double seconds) const;

  std::size_t first_;
  std::vector<Part> parts_;
  std::int64_t in_floats_ = 0, out_floats_ = 0;   // per block of the chain's input and output
  std::array<std::int64_t, 2> grad_floats_ = {};  // of the inputs of even and of odd parts
  std::int64_t thread_bytes_ = 0;
  std::int64_t sum_bytes_ = 0;  // of one part of a batch
};

// Returns the chains of a plan whose operations are prepared. A chain has at least two operations
// and starts with a convolution, which is not in place; each operation is the only reader of the
// one before it. Returns none whose working set per block is far too large for a cache.
std::vector<LaneChain> find_lane_chains(const NetworkPlan& plan);

}  // namespace lab::nn
