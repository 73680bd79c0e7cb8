#pragma once
// On which processors of the machine a thread may run, whatever their number.
#include <span>
#include <vector>

namespace lab {

// Operating-system numbers of those the calling thread may run on, ascending; empty where the
// kernel does not tell.
std::vector<int> thread_affinity();

// Keeps the calling thread on these. False, and nothing has changed, where none of them exists or
// is allowed.
bool set_thread_affinity(std::span<const int> processors);

}  // namespace lab
