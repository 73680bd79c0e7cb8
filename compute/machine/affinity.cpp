#include "compute/machine/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace lab {
namespace {

// The kernel refuses a set with fewer places than it has itself; no kernel has more than these.
constexpr int kFewestPlaces = 1024;
constexpr int kMostPlaces = 1 << 20;

struct SetEnd {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, SetEnd>;

CpuSet empty_set(int places, std::size_t bytes) {
  CpuSet set(CPU_ALLOC(static_cast<std::size_t>(places)));
  if (set) CPU_ZERO_S(bytes, set.get());
  return set;
}

}  // namespace

std::vector<int> thread_affinity() {
  std::vector<int> processors;
  for (int places = kFewestPlaces; places <= kMostPlaces; places *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(places));
    const CpuSet set = empty_set(places, bytes);
    if (!set) return processors;
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      for (int i = 0; i < places; ++i) {
        if (CPU_ISSET_S(static_cast<std::size_t>(i), bytes, set.get())) processors.push_back(i);
      }
      return processors;
    }
    if (errno != EINVAL) return processors;
  }
  return processors;
}

bool set_thread_affinity(std::span<const int> processors) {
  if (processors.empty()) return false;
  const int places = std::max(*std::max_element(processors.begin(), processors.end()) + 1, 1);
  if (places > kMostPlaces) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(places));
  const CpuSet set = empty_set(places, bytes);
  if (!set) return false;
  for (const int p : processors) {
    if (p >= 0) CPU_SET_S(static_cast<std::size_t>(p), bytes, set.get());
  }
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

}  // namespace lab
