#pragma once
// Launches of kernels that take tensor maps. For .cu files.
#include <cuda_runtime.h>

#include <algorithm>

#include "compute/cuda/matmul/matmul_args.h"
#include "compute/cuda/matmul/tensor_map.h"
#include "compute/cuda/matmul/tiling.h"

namespace lab::cuda_matmul {

using HopperKernel = void (*)(CUtensorMap, CUtensorMap, Bf16MatmulArgs);

// At most `most_blocks` blocks of `kernel`. Without terms there is nothing to describe to the copy
// engine: C is set to zeros.
template <Tiling kTile>
cudaError_t start_hopper(HopperKernel kernel, const Bf16MatmulArgs& args, std::int64_t most_blocks,
                         cudaStream_t stream) {
  const std::int64_t blocks = std::min(tiles_of(kTile, args.m, args.n), most_blocks);
  if (blocks == 0) return cudaSuccess;
  if (args.k == 0) {
    constexpr std::size_t kBytes = sizeof(float);
    return cudaMemset2DAsync(args.c, static_cast<std::size_t>(args.ldc) * kBytes, 0,
                             static_cast<std::size_t>(args.n) * kBytes,
                             static_cast<std::size_t>(args.m), stream);
  }
  CUtensorMap a{}, b{};
  auto status = make_tensor_map(a, {args.a, args.m, args.k, args.lda}, kTile.m);
  if (status == cudaSuccess) {
    status = make_tensor_map(b, {args.b, args.k, args.n, args.ldb}, kTile.k);
  }
  if (status == cudaSuccess) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kTile.shared_bytes());
  }
  if (status != cudaSuccess) return status;
  kernel<<<static_cast<unsigned>(blocks), kThreads<kTile>, kTile.shared_bytes(), stream>>>(a, b,
                                                                                           args);
  return cudaGetLastError();
}

}  // namespace lab::cuda_matmul
