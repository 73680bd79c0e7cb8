#pragma once
// Base class of the transfer cases with a GPU: their timing, and the cycle that a chase follows.
#include <cstdint>
#include <stop_token>
#include <vector>

#include "compute/experiments/transfers/transfer_case.h"

namespace lab {

class GpuCase : public TransferCase {
 public:
  // Performs `times` operations back to back and returns the seconds per operation. Once a stop is
  // requested it returns early with an undefined value.
  virtual double repeat(int times) = 0;
  // True if the GPU runs queued operations by itself, so that they can wait behind a gate; false if
  // the host takes part in each of them.
  virtual bool gated() const { return true; }
  // Number of copies or kernels that one operation queues.
  virtual int queued() const { return 1; }

  void operate() final { repeat(1); }
  // Follows nvbandwidth: four warm-up operations, then the median of samples of 16 operations each,
  // or of fewer if 16 would take more than 0.4 s behind a gate or 0.05 s otherwise, which bounds
  // the delay of a cancel, or if the queue behind a gate does not hold them. Sampling ends when the
  // median's spread is at most 2 % (see measure.h) or, after at least three samples, when the
  // budget is spent.
  Timing time(const RunContext& ctx, const SampleSettings& settings) final;
  Conditions conditions() const final;
};

// Returns a cycle through all `nodes` nodes in random order (Sattolo's algorithm). Nodes are
// kChaseStride words apart; the word at a node is the index of the next node's word. Requires at
// least two nodes. Empty once `stop` is requested.
std::vector<std::uint32_t> random_cycle(std::int64_t nodes, const std::stop_token& stop);

}  // namespace lab
