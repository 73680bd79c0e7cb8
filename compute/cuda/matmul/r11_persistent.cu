#include "compute/cuda/matmul/r11_persistent.cuh"

#include "compute/cuda/matmul/hopper_launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kPersistentTiling>, 1)
    persistent_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      Bf16MatmulArgs args) {
  persistent_body<kPersistentTiling>(a, b, args);
}

}  // namespace

cudaError_t launch_persistent(const Bf16MatmulArgs& args, cudaStream_t stream) {
  int card = 0, multiprocessors = 0;
  auto status = cudaGetDevice(&card);
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, card);
  }
  if (status != cudaSuccess) return status;
  return start_hopper<kPersistentTiling>(persistent_kernel, args, multiprocessors, stream);
}

}  // namespace lab::cuda_matmul
