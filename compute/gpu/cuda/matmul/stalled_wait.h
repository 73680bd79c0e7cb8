#pragma once
// The note that a kernel leaves in host memory before it ends because a wait for an mbarrier timed
// out. A kernel with wgmma cannot print: a function call would serialise its instructions.
#include <cstdint>
#include <string>

namespace lab::cuda_matmul {

enum class WaitFor : std::uint32_t {
  Full,     // copies into a stage
  Empty,    // the readers of a stage
  Weights,  // copies of a convolution's weights
};

// About 10 s at 2 GHz, in SM clocks: much longer than any phase, also under compute-sanitizer.
constexpr std::int64_t kLongestWait_clocks = 20'000'000'000;

// Packs a note into a word that is not 0; `block` is a bit field of its own, which a kernel may or
// into the word.
constexpr std::uint32_t stalled_wait(WaitFor what, std::uint32_t block) {
  return 1U << 31 | static_cast<std::uint32_t>(what) << 29 | block;
}

// The statement of a note; empty for 0.
std::string describe_stalled_wait(std::uint32_t note);

}  // namespace lab::cuda_matmul
