#pragma once
// The kernels that measure transfers: what they are given. Words are of four bytes.
#include <cstdint>

namespace lab::cuda {

struct GateArgs {
  std::uint32_t* gave_up = nullptr;  // pinned; set to 1 when nobody opened in time
  std::int64_t most_looks = 0;
};
struct WordCopyArgs {
  const std::uint32_t* from = nullptr;  // [words], 16-byte aligned
  std::uint32_t* to = nullptr;          // [words], 16-byte aligned
  std::int64_t words = 0;
};
struct PatternArgs {
  std::uint32_t* to = nullptr;  // [words]
  std::int64_t words = 0;
  std::uint32_t seed = 0;
};
struct MismatchArgs {
  const std::uint32_t* at = nullptr;  // [words]
  std::int64_t words = 0;
  std::uint32_t seed = 0;
  std::uint64_t* count = nullptr;  // [1], added to
};
struct ChaseArgs {
  const std::uint32_t* next = nullptr;  // a cycle of indices
  std::uint32_t* position = nullptr;    // [1], where the chase starts and ends
  std::int64_t hops = 0;
};
struct WorkArgs {
  float* sink = nullptr;  // [blocks * kTransferThreads]
  std::int64_t rounds = 0;
};

inline constexpr int kTransferThreads = 256;

}  // namespace lab::cuda
