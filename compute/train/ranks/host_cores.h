#pragma once
// Which cores of a host belong to which of its ranks.
#include <vector>

#include "compute/machine/cpu_topology.h"
#include "compute/train/ranks/rank_session.h"

namespace lab {

// The processors of rank `index` where the ranks of one host may run on `allowed`, each sorted.
// Disjoint sets stay as they are: the launcher has bound the ranks. Otherwise `cores`, those of all
// of them together, are divided into contiguous parts, which ranks share where there are too few.
std::vector<int> processors_of(int index, const std::vector<std::vector<int>>& allowed,
                               const std::vector<CpuCore>& cores);

// Keeps this process on its part of the host's cores. Every rank at once, before any thread of a
// device starts.
void take_own_cores(RankSession& session, const RankWait& wait);

}  // namespace lab
