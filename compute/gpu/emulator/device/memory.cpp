#include "compute/gpu/emulator/device/memory.h"

#include <cstring>
#include <utility>

#include "compute/gpu/emulator/fault.h"

namespace lab::emulated {
namespace {

constexpr std::size_t kAlignment_bytes = 256;

// The last block that starts at or before `pointer`, or end().
template <typename Blocks>
auto last_before(const Blocks& blocks, const void* pointer) {
  auto after = blocks.upper_bound(static_cast<const std::byte*>(pointer));
  return after == blocks.begin() ? blocks.end() : --after;
}

}  // namespace

HostBlock allocate_block(std::int64_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment_bytes, static_cast<std::size_t>(bytes)) != 0) return {};
  return HostBlock(static_cast<std::byte*>(memory));
}

void PinnedRegistry::add(const std::byte* memory, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  blocks_.emplace(memory, bytes);
}

void PinnedRegistry::remove(const std::byte* memory) {
  const std::lock_guard lock(mutex_);
  blocks_.erase(memory);
}

bool PinnedRegistry::holds(const void* memory, std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto block = last_before(blocks_, memory);
  if (block == blocks_.end()) return false;
  return static_cast<const std::byte*>(memory) + bytes <= block->first + block->second;
}

simt::ArrayRef PinnedRegistry::find(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto block = last_before(blocks_, pointer);
  if (block == blocks_.end() || pointer > block->first + block->second) return {};
  return {"page-locked memory", const_cast<std::byte*>(block->first),
          static_cast<std::size_t>(block->second)};
}

std::byte* DeviceMemory::allocate(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_bytes_ - used_bytes_) return nullptr;
  HostBlock memory = allocate_block(bytes);
  if (!memory) return nullptr;
  if (fills_) std::memset(memory.get(), 0xff, static_cast<std::size_t>(bytes));
  std::byte* const at = memory.get();
  live_.emplace(at, Allocation{std::move(memory), bytes, ++allocations_});
  used_bytes_ += bytes;
  return at;
}

bool DeviceMemory::mark_released(const std::byte* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(memory);
  return found != live_.end() && !std::exchange(found->second.released, true);
}

void DeviceMemory::free(const std::byte* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(memory);
  used_bytes_ -= found->second.bytes;
  live_.erase(found);
}

const DeviceMemory::Allocation* DeviceMemory::containing(const void* memory,
                                                         std::int64_t bytes) const {
  const auto found = last_before(live_, memory);
  if (found == live_.end()) return nullptr;
  const std::byte* end = found->first + found->second.bytes;
  return static_cast<const std::byte*>(memory) + bytes <= end ? &found->second : nullptr;
}

bool DeviceMemory::usable(const void* memory, std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const Allocation* found = containing(memory, bytes);
  return found != nullptr && !found->released;
}

bool DeviceMemory::allocated(const void* memory, std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return containing(memory, bytes) != nullptr;
}

simt::ArrayRef DeviceMemory::find_own(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const Allocation* found = containing(pointer, 0);
  if (found == nullptr) return {};
  return {"allocation " + std::to_string(found->number) + " of " + to_string(device_),
          found->memory.get(), static_cast<std::size_t>(found->bytes)};
}

simt::ArrayRef DeviceMemory::find(const void* pointer) {
  std::set<DeviceMemory*> peers;
  {
    const std::lock_guard lock(mutex_);
    peers = peers_;
  }
  simt::ArrayRef found = find_own(pointer);
  for (const DeviceMemory* peer : peers) {
    if (found.begin == nullptr) found = peer->find_own(pointer);
  }
  if (found.begin == nullptr) found = pinned_.find(pointer);
  if (found.begin == nullptr) {
    throw simt::Fault(
        simt::FaultKind::OutOfBounds,
        "use of memory that is not allocated on " + to_string(device_) + ", or has been released");
  }
  return found;
}

void DeviceMemory::set_access(DeviceMemory& peer, bool on) {
  const std::lock_guard lock(mutex_);
  if (on) {
    peers_.insert(&peer);
  } else {
    peers_.erase(&peer);
  }
}

GpuMemory DeviceMemory::read() const {
  const std::int64_t used = used_bytes();
  return {limit_bytes_ - used, limit_bytes_, used, used};
}

std::int64_t DeviceMemory::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

}  // namespace lab::emulated
