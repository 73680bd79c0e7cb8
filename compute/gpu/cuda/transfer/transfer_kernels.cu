#include "compute/gpu/cuda/transfer/transfer_kernels.cuh"

#include "compute/gpu/cuda/transfer/transfer_launch.h"

namespace lab::cuda {
namespace {

constexpr unsigned kGateSleep_ns = 1000;

// The host writes the word at any time: it is read anew at each look, and between them the thread
// sleeps, so that looking does not load the link.
struct LookAtHost {
  const volatile std::uint32_t* open;
  __device__ bool operator()() const {
    if (*open != 0) return true;
    __nanosleep(kGateSleep_ns);
    return false;
  }
};

__global__ void gate_kernel(const std::uint32_t* open, GateArgs args) {
  gate_body(args, LookAtHost{open});
}
__global__ void __launch_bounds__(kTransferThreads) copy_kernel(WordCopyArgs args) {
  copy_body(args);
}
__global__ void __launch_bounds__(kTransferThreads) fill_kernel(PatternArgs args) {
  fill_body(args);
}
__global__ void __launch_bounds__(kTransferThreads) mismatches_kernel(MismatchArgs args) {
  mismatches_body(args);
}
__global__ void chase_kernel(ChaseArgs args) {
  chase_body(args);
}
__global__ void __launch_bounds__(kTransferThreads) work_kernel(WorkArgs args) {
  work_body(args);
}

template <typename... Kernels>
cudaError_t load(Kernels*... kernels) {
  cudaFuncAttributes told{};
  cudaError_t status = cudaSuccess;
  const auto load_one = [&](const void* kernel) {
    if (status == cudaSuccess) status = cudaFuncGetAttributes(&told, kernel);
  };
  (load_one(reinterpret_cast<const void*>(kernels)), ...);
  return status;
}

}  // namespace

cudaError_t load_transfer_kernels() {
  return load(gate_kernel, copy_kernel, fill_kernel, mismatches_kernel, chase_kernel, work_kernel);
}

cudaError_t launch_gate(const std::uint32_t* open, const GateArgs& args, cudaStream_t stream) {
  gate_kernel<<<1, 1, 0, stream>>>(open, args);
  return cudaGetLastError();
}

cudaError_t launch_copy(const WordCopyArgs& args, int blocks, cudaStream_t stream) {
  if (args.words == 0) return cudaSuccess;
  copy_kernel<<<blocks, kTransferThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_fill(const PatternArgs& args, int blocks, cudaStream_t stream) {
  if (args.words == 0) return cudaSuccess;
  fill_kernel<<<blocks, kTransferThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_mismatches(const MismatchArgs& args, int blocks, cudaStream_t stream) {
  if (args.words == 0) return cudaSuccess;
  mismatches_kernel<<<blocks, kTransferThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_chase(const ChaseArgs& args, cudaStream_t stream) {
  chase_kernel<<<1, 1, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_work(const WorkArgs& args, int blocks, cudaStream_t stream) {
  work_kernel<<<blocks, kTransferThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace lab::cuda
