#pragma once
// Launches of kernels that take tensor maps. For .cu files.
#include <algorithm>

#include "compute/gpu/cuda/matmul/launch.h"
#include "compute/gpu/cuda/matmul/load_kernels.cuh"
#include "compute/gpu/cuda/matmul/tensor_map.h"

namespace lab::cuda_matmul {

using HopperKernel = void (*)(CUtensorMap, CUtensorMap, Bf16MatmulArgs);

// The boxes that kTile's stages are made of.
template <Tiling kTile>
cudaError_t make_tensor_maps(CUtensorMap& a, CUtensorMap& b, const Bf16MatmulArgs& args) {
  const auto status = make_tensor_map(a, {args.a, args.m, args.k, args.lda}, kTile.m);
  if (status != cudaSuccess) return status;
  return make_tensor_map(b, {args.b, args.k, args.n, args.ldb}, kTile.k);
}

// Blocks that stay, one on each multiprocessor, in whole clusters.
template <Tiling kTile>
cudaError_t count_resident(std::int64_t& blocks) {
  int gpu = 0, multiprocessors = 0;
  auto status = cudaGetDevice(&gpu);
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu);
  }
  blocks = std::max(1, multiprocessors / kTile.cluster) * kTile.cluster;
  return status;
}

// Without terms there is nothing to describe to the copy engine: C is set to zeros.
inline cudaError_t clear(const Bf16MatmulArgs& args, cudaStream_t stream) {
  constexpr std::size_t kBytes = sizeof(float);
  return cudaMemset2DAsync(args.c, static_cast<std::size_t>(args.ldc) * kBytes, 0,
                           static_cast<std::size_t>(args.n) * kBytes,
                           static_cast<std::size_t>(args.m), stream);
}

template <Tiling kTile>
cudaError_t start_hopper(HopperKernel kernel, const Bf16MatmulArgs& args, std::int64_t blocks,
                         cudaStream_t stream) {
  CUtensorMap a{}, b{};
  const auto status = make_tensor_maps<kTile>(a, b, args);
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(kTile.cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = kThreads<kTile>;
  config.dynamicSmemBytes = kTile.shared_bytes();
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = kTile.cluster > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, a, b, args);
}

// kResident: the kernel's blocks take tile after tile, so that as many are launched as the GPU
// holds; else one for each tile.
template <Tiling kTile, HopperKernel kKernel, bool kResident>
RungCode hopper_code() {
  return {.load = [] { return load_kernels(kTile.shared_bytes(), kKernel); },
          .launch =
              [](const GpuProduct& product, cudaStream_t stream) {
                const auto args = args_of<std::uint16_t>(product);
                std::int64_t blocks = blocks_of(kTile, args.m, args.n);
                if (blocks == 0) return cudaSuccess;
                if (args.k == 0) return clear(args, stream);
                if (kResident) {
                  std::int64_t most = 0;
                  const auto status = count_resident<kTile>(most);
                  if (status != cudaSuccess) return status;
                  blocks = std::min(blocks, most);
                }
                return start_hopper<kTile>(kKernel, args, blocks, stream);
              }};
}

}  // namespace lab::cuda_matmul
