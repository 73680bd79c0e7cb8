// The kernels of the rungs that need sm_90a as they are launched; their bodies are in r*.cuh.
#include "compute/gpu/cuda/matmul/hopper_launch.cuh"
#include "compute/gpu/cuda/matmul/r10_wgmma.cuh"
#include "compute/gpu/cuda/matmul/r11_producer.cuh"
#include "compute/gpu/cuda/matmul/r12_persistent.cuh"
#include "compute/gpu/cuda/matmul/r13_cluster.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kWgmmaTiling>, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 Bf16MatmulArgs args) {
  wgmma_body<kWgmmaTiling>(a, b, args);
}

__global__ void __launch_bounds__(kThreads<kProducerTiling>, 1)
    producer_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    Bf16MatmulArgs args) {
  producer_body<kProducerTiling>(a, b, args);
}

__global__ void __launch_bounds__(kThreads<kPersistentTiling>, 1)
    persistent_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      Bf16MatmulArgs args) {
  persistent_body<kPersistentTiling>(a, b, args);
}

__global__ void __launch_bounds__(kThreads<kClusterTiling>, 1)
    cluster_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   Bf16MatmulArgs args) {
  cluster_body<kClusterTiling>(a, b, args);
}

}  // namespace

RungCode wgmma_code() {
  return hopper_code<kWgmmaTiling, wgmma_kernel, false>();
}

RungCode producer_code() {
  return hopper_code<kProducerTiling, producer_kernel, false>();
}

RungCode persistent_code() {
  return hopper_code<kPersistentTiling, persistent_kernel, true>();
}

RungCode cluster_code() {
  return hopper_code<kClusterTiling, cluster_kernel, true>();
}

}  // namespace lab::cuda_matmul
