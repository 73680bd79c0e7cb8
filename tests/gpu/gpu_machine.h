#pragma once
// The machine with its GPUs, for tests that need one.
#include <gtest/gtest.h>

#include <string>

#include "compute/machine/machine.h"

namespace lab::test {

// Opened with the first call and kept until the last test has run, or end_gpu_machine().
Machine& gpu_machine();

// Before the program's exit, when libraries that the machine holds handles of are still there.
void end_gpu_machine();

// Why there are fewer than `GPUs` usable GPUs; empty when there are enough.
std::string why_no_gpu(int gpus = 1);

}  // namespace lab::test

// Leaves the test as skipped, with the reason, where the machine has not so many usable GPUs.
#define LAB_REQUIRE_GPUS(gpus)                                                     \
  if (const std::string lab_why = ::lab::test::why_no_gpu(gpus); !lab_why.empty()) \
  GTEST_SKIP() << lab_why
#define LAB_REQUIRE_GPU() LAB_REQUIRE_GPUS(1)
