#pragma once
// How the operations of a network are launched. Host and device code.
//
// A kernel is a type that its launcher instantiates:
//
//   struct Kernel {
//     struct Args { ... };                          // plain pointers and numbers
//     static constexpr const char* kName = "loss";  // for messages
//     static constexpr int kThreads = 256;          // per block, along x
//     static constexpr int kDynamicBytes = 98304;   // optional: dynamic shared memory of a block
//     static LAB_DEVICE void run(const Args& args);
//   };
//
// A launcher starts a grid of such blocks, asynchronously on a stream, and throws the error of the
// launch (gpu_backend.h):
//
//   launcher.template launch<Kernel>(LaunchGrid grid, const Kernel::Args& args, GpuStream& stream);
//   launcher.multiprocessors()   of the GPU; for blocks that compute several tiles
//   launcher.map(boxes)          the BoxMap of PixelBoxes or WeightBoxes (copy_engine.h), for
//                                kernels of compute capability 9.0
#include <cstdint>

namespace lab::cuda {

struct LaunchGrid {
  int x = 1, y = 1, z = 1;  // y and z at most 65535
};

template <class Kernel>
constexpr int dynamic_bytes() {
  if constexpr (requires { Kernel::kDynamicBytes; }) {
    return Kernel::kDynamicBytes;
  } else {
    return 0;
  }
}

// Number of blocks or tiles of `size` that cover `count` elements, at most 2^31 - 1 of them.
constexpr int tiles_of(std::int64_t count, std::int64_t size) {
  return static_cast<int>((count + size - 1) / size);
}

}  // namespace lab::cuda
