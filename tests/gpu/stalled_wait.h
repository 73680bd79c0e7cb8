#pragma once
// A planted fault for tests: a kernel that waits for a barrier that never completes.
#include <cstdint>

namespace lab::test {

// Runs the kernel on the current GPU, which must have compute capability 9.0, and loses the GPU's
// context. Returns the note that the kernel left, or 0.
std::uint32_t stall_at_a_barrier();

}  // namespace lab::test
