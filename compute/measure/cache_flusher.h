#pragma once
// Evicts a device's caches by streaming over a buffer of four times its last-level cache.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/machine/machine.h"

namespace lab {

class CacheFlusher {
 public:
  // Allocates max(4 * last_level_bytes, 8 MiB per thread) once, in the account of a CPU device,
  // which must outlive the flusher. Throws Error(OutOfMemory) with the requested and the available
  // bytes, or std::bad_alloc.
  CacheFlusher(DeviceContext& device, std::int64_t last_level_bytes);

  // Each thread reads its part of the buffer, so that private caches are evicted too. Must not be
  // called from inside the device's threads.
  void flush();

  std::int64_t bytes() const { return bytes_; }

 private:
  std::span<std::uint64_t> part_of(int thread);

  class Booking {
   public:
    Booking(MemoryAccount& account, std::int64_t bytes);
    ~Booking() { account_.release(id_); }
    Booking(const Booking&) = delete;
    Booking& operator=(const Booking&) = delete;

   private:
    MemoryAccount& account_;
    const TensorId id_;
  };

  DeviceContext& device_;
  const std::int64_t bytes_;
  const Booking booking_;
  const std::unique_ptr<std::uint64_t[]> words_;
  std::vector<std::uint64_t> sums_;  // one per thread
};

// Returns the total size of a device's last-level caches; 32 MiB if it is unknown.
std::int64_t last_level_cache_bytes(const DeviceInfo& info);
// The smallest of them, which one thread has for certain.
std::int64_t smallest_last_level_cache_bytes(const DeviceInfo& info);

}  // namespace lab
