#pragma once
// The latency of memory as a GPU sees it: one thread follows a random cycle, each read told by the
// one before.
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/units.h"
#include "compute/experiments/transfers/gpu_case.h"
#include "compute/experiments/transfers/gpu_copy.h"
#include "compute/experiments/transfers/transfer_memory.h"
#include "compute/measure/gated_clock.h"

namespace lab {

inline constexpr std::int64_t kLeastChase_bytes = 256;  // two nodes
inline constexpr std::int64_t kMostChase_bytes = 256 * kMiB;

// A cycle through all of `nodes` nodes, kChaseStride words apart, in random order: the word at a
// node is the index of the following one's. At least two nodes. Sattolo's algorithm; empty once
// `stop` is requested.
std::vector<std::uint32_t> random_cycle(std::int64_t nodes, const std::stop_token& stop);

class GpuChase final : public GpuCase {
 public:
  GpuChase(Machine& machine, const TransferSeries& series, std::int64_t bytes,
           std::stop_token stop);
  double operate(int times) override;
  void spoil() override;
  std::string check() override;

 private:
  void write_position(std::uint32_t value);

  GpuDevice& gpu_;
  const PeerGuard access_;
  const std::vector<std::uint32_t> cycle_;
  TransferMemory nodes_, position_;
  std::int64_t hops_ = 0;  // since spoil()
  GatedClock clock_;
};

}  // namespace lab
