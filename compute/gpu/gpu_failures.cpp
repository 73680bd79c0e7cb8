#include "compute/gpu/gpu_failures.h"

#include <fmt/format.h>

#include "compute/core/units.h"

namespace lab {

Error gpu_out_of_memory(Device device, std::int64_t asked_bytes, const GpuMemory& memory) {
  return {Errc::OutOfMemory,
          fmt::format("{}: {} asked for, but the GPU has {} free of {}; this process's pool holds "
                      "{}, {} of it in use; free some tensors, choose a smaller size or another "
                      "device",
                      to_string(device), format_bytes(asked_bytes), format_bytes(memory.free_bytes),
                      format_bytes(memory.total_bytes), format_bytes(memory.pool_reserved_bytes),
                      format_bytes(memory.pool_used_bytes))};
}

Error pinned_out_of_memory(std::int64_t asked_bytes, const std::string& why) {
  return {Errc::OutOfMemory,
          fmt::format("pinned memory: the system refused {} ({}); choose a smaller size, or raise "
                      "the limit on locked memory",
                      format_bytes(asked_bytes), why)};
}

Error gpu_failure(Device device, const std::string& operation, const std::string& why) {
  return {Errc::Cuda, fmt::format("{}: {} failed: {}", to_string(device), operation, why)};
}

void GpuHealth::require_usable() const {
  const std::lock_guard lock(mutex_);
  if (!lost_.empty()) throw Error(Errc::DeviceLost, lost_);
}

Error GpuHealth::lose(const std::string& operation, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (lost_.empty()) {
    lost_ = fmt::format(
        "{} is lost: {} failed with {}; what was on the GPU is gone, and it can be used again "
        "after device-lab is started anew",
        to_string(device_), operation, why);
  }
  return {Errc::DeviceLost, lost_};
}

std::string GpuHealth::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace lab
