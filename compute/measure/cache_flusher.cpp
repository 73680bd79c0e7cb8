#include "compute/measure/cache_flusher.h"

#include <algorithm>

#include "compute/core/units.h"

namespace lab {
namespace {

constexpr std::int64_t kBuffersPerCache = 4;
constexpr std::int64_t kPrivateBytes = 8 * kMiB;  // per thread; exceeds any private L2

}  // namespace

CacheFlusher::CacheFlusher(ThreadPool& pool, std::int64_t last_level_bytes) : pool_(pool) {
  const std::int64_t bytes =
      std::max(kBuffersPerCache * last_level_bytes, kPrivateBytes * pool.size());
  words_.resize(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t));
}

void CacheFlusher::flush() {
  pool_.run([this](int thread) {
    const std::size_t part = words_.size() / static_cast<std::size_t>(pool_.size());
    const std::size_t begin = part * static_cast<std::size_t>(thread);
    for (std::size_t i = begin; i < begin + part; ++i) words_[i] += 1;
  });
}

std::int64_t last_level_cache_bytes(const DeviceInfo& info) {
  int level = 0;
  std::int64_t bytes = 32 * kMiB;
  for (const CacheInfo& cache : info.caches) {
    if (cache.level < level) continue;
    if (cache.level > level) bytes = 0;  // caches of one level may differ in size
    level = cache.level;
    bytes += cache.size_bytes * std::max(cache.instances, 1);
  }
  return bytes;
}

}  // namespace lab
