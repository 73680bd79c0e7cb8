#pragma once
// Kernels of the CUDA ladder under the emulator.
#include <cstdint>
#include <ostream>
#include <vector>

#include "compute/gpu/cuda/matmul/matmul_args.h"
#include "compute/gpu/cuda/matmul/tiling.h"
#include "tests/support/matmul_factors.h"

namespace lab::test {

// The launch of one kernel's body.
template <class T>
struct Kernel {
  const char* name;
  Tiling tiling;
  bool dynamic_shared;  // asks for its shared memory at launch
  bool aligned;         // takes only what in_whole_pieces() accepts
  void (*body)(MatmulOf<T>);
};
template <class T>
void PrintTo(const Kernel<T>& kernel, std::ostream* out) {
  *out << kernel.name;
}

struct Order {
  bool last_thread_first = false;
};

// C with its rows `ldc` apart. Fails the test where the emulator finds a fault or an element around
// C has changed.
template <class T>
std::vector<float> run(const Kernel<T>& kernel, const Factors<T>& in, const Order& order = {});

// Whether `kernel` can take these factors, laid out as run() does.
template <class T>
bool takes(const Kernel<T>& kernel, const Factors<T>& in);

}  // namespace lab::test
