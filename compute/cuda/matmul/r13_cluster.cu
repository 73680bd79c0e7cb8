#include "compute/cuda/matmul/r13_cluster.cuh"

#include "compute/cuda/matmul/hopper_launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kClusterTiling>, 1)
    cluster_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   Bf16MatmulArgs args) {
  cluster_body<kClusterTiling>(a, b, args);
}

}  // namespace

RungCode cluster_code() {
  return hopper_code<kClusterTiling, cluster_kernel, true>();
}

}  // namespace lab::cuda_matmul
