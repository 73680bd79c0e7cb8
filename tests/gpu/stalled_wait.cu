#include "tests/gpu/stalled_wait.h"

#include <cuda_runtime.h>

#include "compute/gpu/cuda/matmul/rungs/hopper.cuh"

namespace lab::test {
namespace {

namespace hopper = cuda_matmul::hopper;

__global__ void wait_in_vain() {
  constexpr std::int64_t kLimit_clocks = 1'000'000;
  __shared__ hopper::Barrier barrier;
  if (threadIdx.x == 0) {
    hopper::init(&barrier, 1);
    hopper::publish_barriers();
  }
  __syncthreads();
  hopper::wait<cuda_matmul::WaitFor::Empty, kLimit_clocks>(&barrier, 0);
}

}  // namespace

std::uint32_t stall_at_a_barrier() {
  std::uint32_t* note = nullptr;
  if (cudaHostAlloc(&note, sizeof *note, cudaHostAllocPortable) != cudaSuccess) return 0;
  *note = 0;
  if (cudaMemcpyToSymbol(hopper::wait_note, &note, sizeof note) != cudaSuccess) return 0;
  wait_in_vain<<<1, 128>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : *static_cast<volatile std::uint32_t*>(note);
}

}  // namespace lab::test
