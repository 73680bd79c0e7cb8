#include "compute/train/ranks/host_cores.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "compute/machine/core_division.h"
#include "compute/machine/cpu_topology.h"

namespace lab {
namespace {

bool disjoint(const std::vector<std::vector<int>>& sets) {
  std::vector<int> all;
  for (const auto& set : sets) all.insert(all.end(), set.begin(), set.end());
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}

std::vector<int> together(const std::vector<std::vector<int>>& sets) {
  std::vector<int> all;
  for (const auto& set : sets) all.insert(all.end(), set.begin(), set.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<int> numbers_in(const std::vector<std::byte>& bytes) {
  std::vector<int> numbers(bytes.size() / sizeof(int));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(int));
  return numbers;
}

}  // namespace

std::vector<int> processors_of(int index, const std::vector<std::vector<int>>& allowed,
                               const std::vector<CpuCore>& cores) {
  if (disjoint(allowed) || cores.empty()) return allowed[static_cast<std::size_t>(index)];
  std::vector<int> own;
  for (const CpuCore& core : split_cores(cores, index, static_cast<int>(allowed.size()))) {
    own.insert(own.end(), core.hardware_threads.begin(), core.hardware_threads.end());
  }
  std::sort(own.begin(), own.end());
  return own;
}

void take_own_cores(RankSession& session, const RankWait& wait) {
  RankGroup& ranks = session.ranks();
  if (ranks.single()) return;
  const std::vector<int> before = thread_affinity();
  const auto all = ranks.all_gather(std::as_bytes(std::span(before)), wait);
  std::vector<std::vector<int>> allowed;
  int index = 0;
  for (const int rank : session.host_ranks()) {
    if (rank == ranks.rank()) index = static_cast<int>(allowed.size());
    allowed.push_back(numbers_in(all[static_cast<std::size_t>(rank)]));
  }
  if (allowed.size() < 2 || disjoint(allowed)) return;
  // read_topology() covers the processors that this thread may use: for a moment, all of them.
  if (!set_thread_affinity(together(allowed))) return;
  if (!set_thread_affinity(processors_of(index, allowed, read_topology().cores))) {
    set_thread_affinity(before);
  }
}

}  // namespace lab
