#pragma once
// The memory of an emulated GPU, and page-locked host memory: registries of live allocations.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "compute/gpu/emulator/memory/global_array.h"
#include "compute/gpu/gpu_backend.h"

namespace lab::emulated {

// A block of host memory with the alignment of GPU memory and exactly the requested size, so that
// AddressSanitizer detects overruns. Empty if the host has none left.
struct FreeHostMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using HostBlock = std::unique_ptr<std::byte, FreeHostMemory>;
HostBlock allocate_block(std::int64_t bytes);

// Page-locked memory of all emulated GPUs. Thread-safe.
class PinnedRegistry {
 public:
  void add(const std::byte* memory, std::int64_t bytes);
  void remove(const std::byte* memory);
  // Whether one block contains all `bytes` bytes.
  bool holds(const void* memory, std::int64_t bytes) const;
  // As MemorySpace::find; without a name if there is none.
  simt::ArrayRef find(const void* pointer) const;

 private:
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::int64_t> blocks_;
};

// Thread-safe.
class DeviceMemory final : public simt::MemorySpace {
 public:
  DeviceMemory(Device device, std::int64_t limit_bytes, bool fill_with_nan,
               const PinnedRegistry& pinned)
      : device_(device), limit_bytes_(limit_bytes), fills_(fill_with_nan), pinned_(pinned) {}

  // Null if the GPU or the host has not enough memory left.
  std::byte* allocate(std::int64_t bytes);
  // Marks memory as released by the host; false unless it is live and unmarked. Work that is
  // already queued may use it until free().
  bool mark_released(const std::byte* memory);
  void free(const std::byte* memory);

  // Whether one allocation contains the range and the host has not released it.
  bool usable(const void* memory, std::int64_t bytes) const;
  // Whether one allocation contains the range.
  bool allocated(const void* memory, std::int64_t bytes) const;
  // Whether any allocation contains the address.
  bool contains(const void* memory) const { return allocated(memory, 1); }
  // Finds arrays of this GPU, of peers with access, and in page-locked memory.
  simt::ArrayRef find(const void* pointer) override;
  void set_access(DeviceMemory& peer, bool on);

  GpuMemory read() const;
  std::int64_t used_bytes() const;

 private:
  struct Allocation {
    HostBlock memory;
    std::int64_t bytes = 0;
    int number = 0;
    bool released = false;
  };
  const Allocation* containing(const void* memory, std::int64_t bytes) const;
  simt::ArrayRef find_own(const void* pointer) const;

  const Device device_;
  const std::int64_t limit_bytes_;
  const bool fills_;
  const PinnedRegistry& pinned_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, Allocation> live_;
  std::set<DeviceMemory*> peers_;
  std::int64_t used_bytes_ = 0;
  int allocations_ = 0;
};

}  // namespace lab::emulated
