#pragma once
// Block sizes of the packed GEMM, derived from the caches of this processor.
#include <cstdint>
#include <string>

namespace lab {

struct CacheSizes {
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 512 << 10;
  std::int64_t l3_bytes = 8 << 20;
};

// Returns the smallest caches of any core, as reported in the sysfs folder `cpus`: a thread may run
// on each kind of core. Cores that share L1 or L2 have equal parts of it. If L1 or L2 is not
// reported, the default above applies; if L3 is not, the L2 size.
CacheSizes read_cache_sizes(const std::string& cpus);

// Those of this machine; read once.
const CacheSizes& cache_sizes();

// Sizes in 32-bit words: kc * nc of B are used from L2, mc * kc of A, if it is packed, from L3.
struct CacheBlocks {
  std::int64_t mc = 0;  // a multiple of mr
  std::int64_t nc = 0;  // a multiple of nr
};
CacheBlocks cache_blocks(const CacheSizes& caches, std::int64_t kc, int mr, int nr);

// a / b, rounded up.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Cuts `total` into the fewest pieces of at most `limit`, of equal length except for rounding up to
// `multiple`. Returns the length of a piece (0 if total is 0).
std::int64_t even_piece(std::int64_t total, std::int64_t limit, std::int64_t multiple);

// Cuts `total` into pieces of at most `limit`, of equal length except for rounding up, whose number
// is a multiple of `threads`: at least `fewest` for each thread, if `total` suffices.
std::int64_t piece_for_threads(std::int64_t total, std::int64_t limit, int threads,
                               std::int64_t fewest);

}  // namespace lab
