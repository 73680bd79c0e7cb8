#pragma once
// Prefetches by address.
#include <hwy/cache_control.h>

#include <cstdint>

namespace lab::simd {

inline constexpr std::int64_t kLineFloats = 16;  // of a cache line

// Fetches the cache line at `address`, which may be outside any array.
HWY_INLINE void prefetch_address(std::uintptr_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): no pointer may point outside an array
  hwy::Prefetch(reinterpret_cast<const float*>(address));
}

}  // namespace lab::simd
