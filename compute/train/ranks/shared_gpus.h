#pragma once
// GPUs that several processes of one host compute on.
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/run/rank_group.h"

namespace lab {

// A GPU as the process that uses it names it.
struct NamedGpu {
  Device device;
  std::string address;  // on the PCI bus of its host: "0000:01:00.0"; empty if it has none
};

// Collective: every process gives the GPUs that it computes on. Returns a sentence that names each
// GPU which two processes of one host share, and the way out; empty if there is none.
std::string shared_gpus(const std::vector<NamedGpu>& mine, RankGroup& ranks, const RankWait& wait);

}  // namespace lab
