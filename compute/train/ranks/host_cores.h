#pragma once
// Division of a host's cores among its ranks.
#include <vector>

#include "compute/machine/cpu_topology.h"
#include "compute/train/ranks/rank_session.h"

namespace lab {

// Returns the processors of rank `index`; `allowed` holds the processors of each rank of one host,
// sorted. Disjoint sets are returned unchanged: the launcher has bound the ranks. Otherwise
// `cores`, those of all ranks together, are divided into contiguous parts; ranks share cores if
// there are too few.
std::vector<int> processors_of(int index, const std::vector<std::vector<int>>& allowed,
                               const std::vector<CpuCore>& cores);

// Binds this process to its part of the host's cores. Collective; must be called before any thread
// of a device starts.
void take_own_cores(RankSession& session, const RankWait& wait);

}  // namespace lab
