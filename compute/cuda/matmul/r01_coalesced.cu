#include "compute/cuda/matmul/r01_coalesced.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kCoalescedTiling>) coalesced_kernel(MatmulArgs args) {
  coalesced_body<kCoalescedTiling>(args);
}

}  // namespace

cudaError_t launch_coalesced(const MatmulArgs& args, cudaStream_t stream) {
  return start<kCoalescedTiling>(coalesced_kernel, args, stream);
}

}  // namespace lab::cuda_matmul
