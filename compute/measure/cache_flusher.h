#pragma once
// Evicts a device's caches by streaming over a buffer of four times its last-level cache.
#include <cstdint>
#include <memory>
#include <span>

#include "compute/core/events/device_info.h"
#include "compute/machine/machine.h"

namespace lab {

class CacheFlusher {
 public:
  // Allocates max(4 * last_level_bytes, 8 MiB per thread) once, in the account of a CPU device,
  // which must outlive the flusher. Throws Error(OutOfMemory) with the requested and the available
  // bytes.
  CacheFlusher(DeviceContext& device, std::int64_t last_level_bytes);
  ~CacheFlusher();
  CacheFlusher(const CacheFlusher&) = delete;
  CacheFlusher& operator=(const CacheFlusher&) = delete;

  // Each thread rewrites its part of the buffer, so that private caches are evicted too. Must not
  // be called from inside pool.run().
  void flush();

  std::int64_t bytes() const { return bytes_; }

 private:
  std::span<std::uint64_t> part_of(int thread);

  DeviceContext& device_;
  const std::int64_t bytes_;
  const std::unique_ptr<std::uint64_t[]> words_;
  const TensorId booked_;
};

// Returns the total size of a device's last-level caches; 32 MiB if it is unknown.
std::int64_t last_level_cache_bytes(const DeviceInfo& info);

}  // namespace lab
