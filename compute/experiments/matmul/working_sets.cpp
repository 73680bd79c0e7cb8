#include "compute/experiments/matmul/working_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compute/core/units.h"

namespace lab {
namespace {

constexpr int kUsualLevels = 3;
constexpr std::int64_t kGrain = 1024;  // loops over it have no odd end
constexpr std::int64_t kLeastMemory = 64 * kMiB;
constexpr std::int64_t kUnknownCaches = 32 * kMiB;  // where the machine shows none

// The caches of one level; sizes differ where cores do.
struct CacheLevel {
  std::int64_t all_bytes = 0;
  std::int64_t smallest_bytes = std::numeric_limits<std::int64_t>::max();
};

CacheLevel level_of(std::span<const CacheInfo> caches, int level) {
  CacheLevel found;
  for (const CacheInfo& cache : caches) {
    if (cache.level != level || cache.size_bytes <= 0) continue;
    found.all_bytes += cache.size_bytes * std::max(cache.instances, 1);
    found.smallest_bytes = std::min(found.smallest_bytes, cache.size_bytes);
  }
  return found;
}

std::int64_t whole_grains(std::int64_t bytes) {
  return bytes / kGrain * kGrain;
}

WorkingSet cache_set(const std::string& name, const CacheLevel& level, std::int64_t share,
                     std::int64_t below, const std::string& below_name) {
  WorkingSet set{.name = name, .cache_bytes = level.all_bytes};
  const std::int64_t wanted = share / 2 + (below > share / 4 ? below : 0);
  if (wanted <= share) {
    set.bytes_per_thread = whole_grains(wanted);
    return set;
  }
  set.skip_reason = fmt::format(
      "a thread's share of {} is {}, too little beside the {} of {} below it to read from {} alone",
      name, format_bytes(share), format_bytes(below), below_name, name);
  return set;
}

WorkingSet memory_set(std::int64_t last_level, int threads, std::int64_t free_bytes) {
  WorkingSet set{.name = "memory"};
  const std::int64_t bytes = std::min(std::max(4 * last_level, kLeastMemory), free_bytes);
  if (bytes >= 2 * last_level) {
    set.bytes_per_thread = whole_grains(bytes / threads);
    return set;
  }
  set.skip_reason =
      fmt::format("{} would have to be read to pass by the caches, but {} can be allocated",
                  format_bytes(2 * last_level), format_bytes(std::max<std::int64_t>(bytes, 0)));
  return set;
}

}  // namespace

std::vector<WorkingSet> choose_working_sets(std::span<const CacheInfo> caches, int threads,
                                            std::int64_t free_bytes) {
  int levels = kUsualLevels;
  for (const CacheInfo& cache : caches) levels = std::max(levels, cache.level);
  std::vector<WorkingSet> sets;
  std::int64_t below = 0, last_level = 0;
  std::string below_name = "none";
  for (int l = 1; l <= levels; ++l) {
    const std::string name = fmt::format("L{}", l);
    const CacheLevel level = level_of(caches, l);
    if (level.all_bytes == 0) {
      sets.push_back(
          {.name = name, .skip_reason = fmt::format("the machine shows no {} cache", name)});
      continue;
    }
    const std::int64_t share = std::min(level.all_bytes / threads, level.smallest_bytes);
    sets.push_back(cache_set(name, level, share, below, below_name));
    below = share;
    below_name = name;
    last_level = level.all_bytes;
  }
  sets.push_back(memory_set(last_level > 0 ? last_level : kUnknownCaches, threads, free_bytes));
  return sets;
}

}  // namespace lab
