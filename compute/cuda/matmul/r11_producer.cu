#include "compute/cuda/matmul/r11_producer.cuh"

#include "compute/cuda/matmul/hopper_launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kProducerTiling>, 1)
    producer_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    Bf16MatmulArgs args) {
  producer_body<kProducerTiling>(a, b, args);
}

}  // namespace

RungCode producer_code() {
  return hopper_code<kProducerTiling, producer_kernel, false>();
}

}  // namespace lab::cuda_matmul
