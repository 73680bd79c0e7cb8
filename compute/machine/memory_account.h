#pragma once
// Tracks this process's memory on one device exactly, and refuses allocations before the device is
// full.
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "compute/core/events/event.h"

namespace lab {

class MemoryAccount {
 public:
  // `available` returns the machine's free memory at the time of the call. Large requests beyond it
  // are also refused, because other programs may hold memory that the limit allows. Empty: only the
  // limit applies.
  MemoryAccount(Device device, std::int64_t limit_bytes,
                std::function<std::int64_t()> available = {});

  // Books `bytes` under a new id, before anything is allocated. Throws Error(OutOfMemory) naming
  // the requested and the free bytes, and Error(InvalidArgument) for a negative size. `info`
  // describes the tensor for the live list; its id, device and bytes are set here.
  TensorId reserve(std::int64_t bytes, TensorInfo info);
  void release(TensorId id) noexcept;

  // Updates a booked tensor's name, shape, type, owner and preview in the list; unknown ids are
  // ignored.
  void describe(TensorId id, const TensorInfo& info);

  // The largest size that reserve() accepts now.
  std::int64_t free_bytes() const;
  std::int64_t used_bytes() const;
  std::int64_t peak_bytes() const;
  std::int64_t limit_bytes() const { return limit_bytes_; }
  std::vector<TensorInfo> list() const;  // oldest first

 private:
  const Device device_;
  const std::int64_t limit_bytes_;
  const std::function<std::int64_t()> available_;
  mutable std::mutex mutex_;
  std::map<TensorId, TensorInfo> live_;
  std::int64_t used_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

}  // namespace lab
