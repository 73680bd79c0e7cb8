// The kernels of the portable rungs as they are launched; their bodies are in r*.cuh. One
// translation unit: most of its compile time is the headers that all rungs share.
#include "compute/gpu/cuda/matmul/launch.cuh"
#include "compute/gpu/cuda/matmul/r00_naive.cuh"
#include "compute/gpu/cuda/matmul/r01_coalesced.cuh"
#include "compute/gpu/cuda/matmul/r02_shared.cuh"
#include "compute/gpu/cuda/matmul/r03_column.cuh"
#include "compute/gpu/cuda/matmul/r04_square.cuh"
#include "compute/gpu/cuda/matmul/r05_vector.cuh"
#include "compute/gpu/cuda/matmul/r06_warp.cuh"
#include "compute/gpu/cuda/matmul/r07_async.cuh"
#include "compute/gpu/cuda/matmul/r08_tf32.cuh"
#include "compute/gpu/cuda/matmul/r09_bf16.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kNaiveTiling>) naive_kernel(MatmulArgs args) {
  naive_body<kNaiveTiling>(args);
}

__global__ void __launch_bounds__(kThreads<kCoalescedTiling>) coalesced_kernel(MatmulArgs args) {
  coalesced_body<kCoalescedTiling>(args);
}

__global__ void __launch_bounds__(kThreads<kSharedTiling>) shared_kernel(MatmulArgs args) {
  shared_body<kSharedTiling>(args);
}

__global__ void __launch_bounds__(kThreads<kColumnTiling>) column_kernel(MatmulArgs args) {
  column_body<kColumnTiling>(args);
}

__global__ void __launch_bounds__(kThreads<kSquareTiling>) square_kernel(MatmulArgs args) {
  square_body<kSquareTiling>(args);
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kVectorTiling>, kVectorTiling.blocks_per_sm)
    vector_kernel(MatmulArgs args) {
  vector_body<kVectorTiling, kAligned>(args);
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kWarpTiling>, kWarpTiling.blocks_per_sm)
    warp_kernel(MatmulArgs args) {
  warp_body<kWarpTiling, kAligned>(args);
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kAsyncTiling>, kAsyncTiling.blocks_per_sm)
    async_kernel(MatmulArgs args) {
  async_body<kAsyncTiling, kAligned>(args);
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kTf32Tiling>, kTf32Tiling.blocks_per_sm)
    tf32_kernel(MatmulArgs args) {
  tf32_body<kTf32Tiling, kAligned>(args);
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kBf16Tiling>, kBf16Tiling.blocks_per_sm)
    bf16_kernel(Bf16MatmulArgs args) {
  bf16_body<kBf16Tiling, kAligned>(args);
}

}  // namespace

RungCode naive_code() {
  return rung_code<kNaiveTiling, float, naive_kernel>();
}

RungCode coalesced_code() {
  return rung_code<kCoalescedTiling, float, coalesced_kernel>();
}

RungCode shared_code() {
  return rung_code<kSharedTiling, float, shared_kernel>();
}

RungCode column_code() {
  return rung_code<kColumnTiling, float, column_kernel>();
}

RungCode square_code() {
  return rung_code<kSquareTiling, float, square_kernel>();
}

RungCode vector_code() {
  return rung_code<kVectorTiling, float, vector_kernel<true>, vector_kernel<false>>();
}

RungCode warp_code() {
  return rung_code<kWarpTiling, float, warp_kernel<true>, warp_kernel<false>>();
}

RungCode async_code() {
  return rung_code<kAsyncTiling, float, async_kernel<true>, async_kernel<false>,
                   kAsyncTiling.shared_bytes()>();
}

RungCode tf32_code() {
  return rung_code<kTf32Tiling, float, tf32_kernel<true>, tf32_kernel<false>,
                   kTf32Tiling.shared_bytes()>();
}

RungCode bf16_code() {
  return rung_code<kBf16Tiling, std::uint16_t, bf16_kernel<true>, bf16_kernel<false>,
                   kBf16Tiling.shared_bytes()>();
}

}  // namespace lab::cuda_matmul
