#include "compute/measure/cache_flusher.h"

#include <algorithm>

#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace {

constexpr std::int64_t kBuffersPerCache = 4;
constexpr std::int64_t kPrivateBytes = 8 * kMiB;  // per thread; exceeds any private L2

std::size_t words_in(std::int64_t bytes) {
  return static_cast<std::size_t>(bytes) / sizeof(std::uint64_t);
}

TensorInfo description(std::int64_t bytes) {
  TensorInfo info;
  info.name = tr("buffer that empties the caches");
  info.shape = {static_cast<std::int64_t>(words_in(bytes))};
  info.dtype = DType::I64;
  return info;
}

}  // namespace

CacheFlusher::CacheFlusher(DeviceContext& device, std::int64_t last_level_bytes)
    : device_(device),
      bytes_(
          std::max(kBuffersPerCache * last_level_bytes, kPrivateBytes * device.threads().size())),
      booking_(device.memory(), bytes_),
      words_(std::make_unique_for_overwrite<std::uint64_t[]>(words_in(bytes_))),
      sums_(static_cast<std::size_t>(device.threads().size())) {
  // Each thread touches its part first, which places it in memory near its core.
  device_.threads().run([this](int thread) { std::ranges::fill(part_of(thread), 0); });
}

CacheFlusher::Booking::Booking(MemoryAccount& account, std::int64_t bytes)
    : account_(account), id_(account.reserve(bytes, description(bytes))) {}

std::span<std::uint64_t> CacheFlusher::part_of(int thread) {
  const std::size_t part = words_in(bytes_) / static_cast<std::size_t>(device_.threads().size());
  return {words_.get() + part * static_cast<std::size_t>(thread), part};
}

// Modified lines would have to be written back while the next operation is timed.
void CacheFlusher::flush() {
  device_.threads().run([this](int thread) {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : part_of(thread)) sum += word;
    sums_[static_cast<std::size_t>(thread)] = sum;  // so that the reads are not left out
  });
}

namespace {

constexpr std::int64_t kUnknownCache_bytes = 32 * kMiB;

std::vector<CacheInfo> last_level_caches(const DeviceInfo& info) {
  std::vector<CacheInfo> last;
  for (const CacheInfo& cache : info.caches) {
    if (cache.size_bytes <= 0) continue;  // some systems do not say
    if (!last.empty() && cache.level > last.front().level) last.clear();
    if (last.empty() || cache.level == last.front().level) last.push_back(cache);
  }
  return last;
}

}  // namespace

std::int64_t last_level_cache_bytes(const DeviceInfo& info) {
  std::int64_t bytes = 0;  // caches of one level may differ in size
  for (const CacheInfo& cache : last_level_caches(info)) {
    bytes += cache.size_bytes * std::max(cache.instances, 1);
  }
  return bytes > 0 ? bytes : kUnknownCache_bytes;
}

std::int64_t smallest_last_level_cache_bytes(const DeviceInfo& info) {
  const std::vector<CacheInfo> caches = last_level_caches(info);
  if (caches.empty()) return kUnknownCache_bytes;
  return std::ranges::min_element(caches, {}, &CacheInfo::size_bytes)->size_bytes;
}

}  // namespace lab
