#include "compute/machine/memory_account.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace {

// Smaller requests do not query the machine's free memory: the query would not be worth its cost.
constexpr std::int64_t kMinQueryBytes = 16 * kMiB;

TensorId next_id() {
  static std::atomic<TensorId> last = 0;
  return ++last;
}

[[noreturn]] void refuse(const std::string& text, bool holds_tensors) {
  throw Error(Errc::OutOfMemory,
              holds_tensors
                  ? trf("{}; free some tensors, or choose a smaller size or another device", text)
                  : trf("{}; choose a smaller size or another device", text));
}

}  // namespace

MemoryAccount::MemoryAccount(Device device, std::int64_t limit_bytes,
                             std::function<std::int64_t()> available)
    : device_(device), limit_bytes_(limit_bytes), available_(std::move(available)) {}

TensorId MemoryAccount::reserve(std::int64_t bytes, TensorInfo info) {
  if (bytes < 0) {
    throw Error(Errc::InvalidArgument, trf("{}: {} bytes requested; a size cannot be negative",
                                           to_string(device_), bytes));
  }
  const std::int64_t machine_bytes =
      bytes >= kMinQueryBytes && available_ ? available_() : limit_bytes_;
  const std::lock_guard lock(mutex_);
  const std::int64_t free_bytes = limit_bytes_ - used_bytes_;
  if (bytes > free_bytes) {
    const auto [requested, free] = format_bytes_apart(bytes, free_bytes);
    refuse(trf("{}: {} requested, {} free of {}", to_string(device_), requested, free,
               format_bytes(limit_bytes_)),
           !live_.empty());
  }
  if (bytes > machine_bytes && bytes >= kMinQueryBytes) {
    const auto [requested, free] = format_bytes_apart(bytes, machine_bytes);
    refuse(trf("{}: {} requested, but only {} of the machine's memory is free", to_string(device_),
               requested, free),
           !live_.empty());
  }
  const TensorId id = next_id();
  info.id = id;
  info.device = device_;
  info.bytes = bytes;
  live_.emplace(id, std::move(info));
  used_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return id;
}

std::int64_t MemoryAccount::free_bytes() const {
  const std::int64_t machine_bytes = available_ ? available_() : limit_bytes_;
  return std::max<std::int64_t>(0, std::min(machine_bytes, limit_bytes_ - used_bytes()));
}

void MemoryAccount::release(TensorId id) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  used_bytes_ -= found->second.bytes;
  live_.erase(found);
}

void MemoryAccount::describe(TensorId id, const TensorInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  TensorInfo& entry = found->second;
  entry.name = info.name;
  entry.shape = info.shape;
  entry.dtype = info.dtype;
  entry.owned_by_page = info.owned_by_page;
  entry.preview = info.preview;
}

std::int64_t MemoryAccount::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

std::int64_t MemoryAccount::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

std::vector<TensorInfo> MemoryAccount::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<TensorInfo> tensors;
  tensors.reserve(live_.size());
  for (const auto& [id, info] : live_) tensors.push_back(info);
  return tensors;
}

}  // namespace lab
