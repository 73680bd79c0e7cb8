#include "compute/cuda/matmul/r00_naive.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kNaiveTiling>) naive_kernel(MatmulArgs args) {
  naive_body<kNaiveTiling>(args);
}

}  // namespace

RungCode naive_code() {
  return rung_code<kNaiveTiling, float, naive_kernel>();
}

}  // namespace lab::cuda_matmul
