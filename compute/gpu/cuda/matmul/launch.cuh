#pragma once
// What the launches of the portable rungs have in common. For .cu files.
#include "compute/gpu/cuda/matmul/launch.h"
#include "compute/gpu/cuda/matmul/load_kernels.cuh"

namespace lab::cuda_matmul {

template <class T>
using MatmulKernel = void (*)(MatmulOf<T>);

// A rung of two kernels: for operands in whole pieces of 16 bytes, and for any. One block for each
// tile of C; kDynamicBytes: shared memory beyond what the kernels declare.
template <Tiling kTile, class T, MatmulKernel<T> kWide, MatmulKernel<T> kAny = kWide,
          int kDynamicBytes = 0>
RungCode rung_code() {
  return {.load = [] { return load_kernels(kDynamicBytes, kWide, kAny); },
          .launch =
              [](const GpuProduct& product, cudaStream_t stream) {
                const std::int64_t blocks = blocks_of(kTile, product.m, product.n);
                if (blocks == 0) return cudaSuccess;
                const auto kernel = in_whole_pieces(product, kTile.element_bytes) ? kWide : kAny;
                kernel<<<static_cast<unsigned>(blocks), kThreads<kTile>, kDynamicBytes, stream>>>(
                    args_of<T>(product));
                return cudaGetLastError();
              }};
}

}  // namespace lab::cuda_matmul
