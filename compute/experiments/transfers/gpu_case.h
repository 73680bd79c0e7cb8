#pragma once
// What the cases with a GPU share: how they are timed, and the cycle that a chase follows.
#include <cstdint>
#include <stop_token>
#include <vector>

#include "compute/experiments/transfers/transfer_case.h"

namespace lab {

class GpuCase : public TransferCase {
 public:
  // Seconds of one operation, from `times` of them in a row. Once a stop is requested it returns
  // early and the figure means nothing.
  virtual double repeat(int times) = 0;
  // Whether the GPU runs the operations by itself once they are queued, behind a gate; else the
  // host takes part in each of them.
  virtual bool gated() const { return true; }

  void operate() final { repeat(1); }
  // As nvbandwidth: four operations to warm up, then the median of samples of 16 operations each,
  // or of fewer where those would take more than 0.4 s behind a gate or 0.05 s elsewhere, so that
  // a cancel does not wait longer. Samples go on until the median's spread is under 2 % (see
  // measure.h) or the budget is over, at least three of them.
  Timing time(const RunContext& ctx, const SampleSettings& settings) final;
  Conditions conditions() const final;
};

// A cycle through all of `nodes` nodes, kChaseStride words apart, in random order: the word at a
// node is the index of the following one's. At least two nodes. Sattolo's algorithm; empty once
// `stop` is requested.
std::vector<std::uint32_t> random_cycle(std::int64_t nodes, const std::stop_token& stop);

}  // namespace lab
