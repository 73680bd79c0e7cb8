#pragma once
// Evicts a device's caches by streaming over a buffer of four times its last-level cache.
#include <cstdint>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/machine/thread_pool.h"

namespace lab {

class CacheFlusher {
 public:
  // Allocates max(4 * last_level_bytes, 8 MiB per thread) once. `pool` must outlive the flusher.
  CacheFlusher(ThreadPool& pool, std::int64_t last_level_bytes);

  // Each thread rewrites its part of the buffer, so that private caches are evicted too. Must not
  // be called from inside pool.run().
  void flush();

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(words_.size() * sizeof(words_[0]));
  }

 private:
  ThreadPool& pool_;
  std::vector<std::uint64_t> words_;
};

// Returns the total size of a device's last-level caches; 32 MiB if it is unknown.
std::int64_t last_level_cache_bytes(const DeviceInfo& info);

}  // namespace lab
