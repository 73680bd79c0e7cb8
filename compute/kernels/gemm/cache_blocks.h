#pragma once
// Block sizes of the packed GEMM, from the caches of this processor.
#include <cstdint>

namespace lab {

struct CacheSizes {
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 512 << 10;
  std::int64_t l3_bytes = 8 << 20;
};

// Those of core 0 as the kernel shows them; the defaults above where it does not. Read once.
const CacheSizes& cache_sizes();

// Sizes in words of 32 bits: mc * kc of A and strips of kc * nr of B are used from the second
// cache, kc * nc of B from the third.
struct CacheBlocks {
  std::int64_t kc = 0;
  std::int64_t mc = 0;  // a multiple of mr
  std::int64_t nc = 0;  // a multiple of nr
};
CacheBlocks cache_blocks(const CacheSizes& caches, int mr, int nr);

// a / b, rounded up.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// `total` cut into as few pieces as `limit` allows, equal but for rounding up to `multiple`: the
// length of a piece (0 when total is 0).
std::int64_t even_piece(std::int64_t total, std::int64_t limit, std::int64_t multiple);

}  // namespace lab
