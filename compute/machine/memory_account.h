#pragma once
// What this process holds on one device: exact, refused before the device is full.
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "compute/core/events/event.h"

namespace lab {

class MemoryAccount {
 public:
  // `available` tells what the machine has free at this moment; large requests past it are refused
  // too, because other programs may hold what the limit promises. Empty: only the limit counts.
  MemoryAccount(Device device, std::int64_t limit_bytes,
                std::function<std::int64_t()> available = {});

  // Books `bytes` under a new id; throws Error(OutOfMemory) naming what was asked for and what is
  // free, before anything is allocated. `info` describes the tensor for the live list; its id,
  // device and bytes are filled in here.
  TensorId book(std::int64_t bytes, TensorInfo info);
  void release(TensorId id) noexcept;

  // Renames a booked tensor, or changes its shape and preview in the list; unknown ids do nothing.
  void describe(TensorId id, const TensorInfo& info);

  std::int64_t used_bytes() const;
  std::int64_t peak_bytes() const;
  std::int64_t limit_bytes() const { return limit_bytes_; }
  void reset_peak();
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
