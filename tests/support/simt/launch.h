#pragma once
// Launching a kernel's body on the CPU.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/simt/global_array.h"
#include "tests/support/simt/index.h"

namespace lab::simt {

struct LaunchOptions {
  Extent grid;
  Extent block;
  std::size_t dynamic_shared_bytes = 0;
  // The global memory the kernel may touch, through global(). With none given, global() checks
  // nothing, and what is wrong there is left to the address sanitizer.
  std::vector<ArrayRef> arrays = {};
  // Two threads that write one element of `arrays` (not by atomics) are a fault.
  bool one_writer = true;
  // The order in which threads of a block run between barriers; results must not depend on it.
  bool last_thread_first = false;
};

// Runs `body` once for each thread of each block, block after block. Throws Fault for the first
// thing that is wrong, and whatever else `body` throws. Not from inside a kernel.
void launch(const LaunchOptions& options, const std::function<void()>& body);

}  // namespace lab::simt
