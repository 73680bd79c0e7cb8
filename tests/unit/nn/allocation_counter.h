#pragma once
// Replaces the program's operator new to count its calls.
#include <cstdint>

namespace lab::test {

// Since the program started, on all threads.
std::int64_t allocations();

}  // namespace lab::test
