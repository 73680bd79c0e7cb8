#pragma once
// Which arrays to read so that the bytes come from one level of memory. Pure.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/core/events/device_info.h"

namespace lab {

struct WorkingSet {
  std::string name = {};              // "L2", "memory"
  std::int64_t cache_bytes = 0;       // of all caches of this level; 0: main memory
  std::int64_t bytes_per_thread = 0;  // a multiple of 1024
  std::string skip_reason = {};       // not empty: cannot be measured; the set has no bytes then
};

// One set for each level of `caches` (those of one device, see describe_cores) and one for main
// memory, when `threads` threads read at the same time and `free_bytes` may be allocated:
//   a cache  half of a thread's share of it; and the whole level below on top where that holds more
//            than a quarter of the share, since it would serve much of the half itself. Skipped
//            where that does not fit into the level.
//   memory   four times all last-level caches, as STREAM asks for, and 64 MiB at least. Skipped
//            where less than twice the caches can be allocated.
// Levels 1 to 3 that the machine does not show are skipped with that reason.
std::vector<WorkingSet> choose_working_sets(std::span<const CacheInfo> caches, int threads,
                                            std::int64_t free_bytes);

}  // namespace lab
