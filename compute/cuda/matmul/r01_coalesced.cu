#include "compute/cuda/matmul/r01_coalesced.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kCoalescedTiling>) coalesced_kernel(MatmulArgs args) {
  coalesced_body<kCoalescedTiling>(args);
}

}  // namespace

RungCode coalesced_code() {
  return rung_code<kCoalescedTiling, float, coalesced_kernel>();
}

}  // namespace lab::cuda_matmul
