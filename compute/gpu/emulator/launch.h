#pragma once
// Runs a kernel body on the CPU.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compute/gpu/emulator/index.h"
#include "compute/gpu/emulator/memory/global_array.h"

namespace lab::simt {

struct LaunchOptions {
  Extent grid;
  Extent block;
  std::size_t dynamic_shared_bytes = 0;
  // Global memory that the kernel may access through global(). If empty, global() checks nothing,
  // and only AddressSanitizer detects errors there.
  std::vector<ArrayRef> arrays = {};
  // Further global memory, of the device that runs the kernel; may be null.
  MemorySpace* space = nullptr;
  // Reports a fault if two threads write one element of `arrays` without atomics.
  bool one_writer = true;
  // Reverses the order in which threads of a block run between barriers; results must not depend on
  // it.
  bool last_thread_first = false;
  // Without these checks, races, missing waits and unwritten reads in shared memory are not
  // reported; bounds and alignment are.
  bool check_races = true;
  // Called before each block; once it returns true, the remaining blocks do not run. Empty: never.
  std::function<bool()> interrupted = {};
};

// Runs `body` once per thread of each block, block by block. Throws Fault for the first error
// detected and passes on any other exception of `body`. Must not be called inside a kernel.
void launch(const LaunchOptions& options, const std::function<void()>& body);

}  // namespace lab::simt
