#pragma once
// The machine with its GPUs, for tests that need one.
#include <gtest/gtest.h>

#include <string>

#include "compute/machine/machine.h"

namespace lab::test {

// Opened by the first call; closed after the last test or by end_gpu_machine().
Machine& gpu_machine();

// Must run before the program exits, while the libraries whose handles the machine holds are still
// loaded.
void end_gpu_machine();

// Returns why fewer than `gpus` GPUs are usable; empty if there are enough.
std::string why_no_gpu(int gpus = 1);

}  // namespace lab::test

// Skips the test, with the reason, if the machine has fewer than `gpus` usable GPUs.
#define LAB_REQUIRE_GPUS(gpus)                                                     \
  if (const std::string lab_why = ::lab::test::why_no_gpu(gpus); !lab_why.empty()) \
  GTEST_SKIP() << lab_why
#define LAB_REQUIRE_GPU() LAB_REQUIRE_GPUS(1)
