#pragma once
// Sleeping until a number changes, with a limit, which std::atomic does not offer.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <optional>

namespace lab {

// Sleeps while `number` is `value`, for at most `longest`, or without a limit if empty; may return
// early. futex_wake_all() after a change of the number wakes it.
inline void futex_wait(const std::atomic<std::uint32_t>& number, std::uint32_t value,
                       std::optional<std::chrono::microseconds> longest) {
  static_assert(sizeof number == sizeof value && std::atomic<std::uint32_t>::is_always_lock_free);
  timespec limit{};
  if (longest) {
    limit.tv_sec = static_cast<std::time_t>(longest->count() / 1'000'000);
    limit.tv_nsec = static_cast<long>(longest->count() % 1'000'000 * 1000);
  }
  syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, value, longest ? &limit : nullptr, nullptr, 0);
}

inline void futex_wake_all(const std::atomic<std::uint32_t>& number) {
  syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace lab
