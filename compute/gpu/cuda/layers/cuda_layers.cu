#include "compute/gpu/cuda/layers/cuda_layers.h"

#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/cuda/layers/layers.cuh"

namespace lab::cuda {
namespace {

// The registers of a kernel with kBlocksPerSm must allow this number of blocks per SM.
template <class Kernel>
constexpr int blocks_per_sm() {
  if constexpr (requires { Kernel::kBlocksPerSm; }) {
    return Kernel::kBlocksPerSm;
  } else {
    return 1;
  }
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, blocks_per_sm<Kernel>())
    layer_kernel(const __grid_constant__ typename Kernel::Args args) {
  Kernel::run(args);
}

class CudaLauncher {
 public:
  explicit CudaLauncher(const CudaContext& gpu) : gpu_(gpu) {}

  template <class Kernel>
  void launch(const LaunchGrid& grid, const typename Kernel::Args& args, GpuStream& stream) {
    gpu_.use();
    const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                      static_cast<unsigned>(grid.z));
    layer_kernel<Kernel><<<blocks, Kernel::kThreads, 0, raw(stream)>>>(args);
    gpu_.check(cudaGetLastError(), Kernel::kName);
  }

 private:
  const CudaContext& gpu_;
};

}  // namespace

std::unique_ptr<GpuLayers> make_layers(const CudaContext& gpu) {
  return std::make_unique<Layers<CudaLauncher>>(CudaLauncher(gpu));
}

}  // namespace lab::cuda
