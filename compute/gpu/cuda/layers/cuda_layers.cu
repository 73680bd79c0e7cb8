#include "compute/gpu/cuda/layers/cuda_layers.h"

#include <mutex>
#include <unordered_set>
#include <utility>

#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/cuda/layers/layers.cuh"
#include "compute/gpu/cuda/layers/wgmma_layers.cuh"

namespace lab::cuda {
namespace {

#ifdef LAB_CUDA_HAS_90A
constexpr bool kBuiltFor90a = true;
#else
constexpr bool kBuiltFor90a = false;
#endif

// The registers of a kernel with kBlocksPerSm must allow this number of blocks per SM.
template <class Kernel>
constexpr int blocks_per_sm() {
  if constexpr (requires { Kernel::kBlocksPerSm; }) {
    return Kernel::kBlocksPerSm;
  } else {
    return 1;
  }
}

// Kernels with dynamic shared memory have instructions of sm_90a and are launched there only.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, blocks_per_sm<Kernel>())
    layer_kernel(const __grid_constant__ typename Kernel::Args args) {
#if !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if constexpr (dynamic_bytes<Kernel>() > 0) {
    __trap();
  } else {
    Kernel::run(args);
  }
#else
  Kernel::run(args);
#endif
}

// Allows loading code, which a recording on this thread otherwise forbids.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

class CudaLauncher {
 public:
  CudaLauncher(const CudaContext& gpu, int multiprocessors)
      : gpu_(gpu), multiprocessors_(multiprocessors), loaded_(std::make_unique<Loaded>()) {}

  int multiprocessors() const { return multiprocessors_; }

  template <class Kernel>
  void launch(const LaunchGrid& grid, const typename Kernel::Args& args, GpuStream& stream) {
    gpu_.use();
    load(reinterpret_cast<const void*>(layer_kernel<Kernel>), dynamic_bytes<Kernel>(),
         Kernel::kName);
    const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                      static_cast<unsigned>(grid.z));
    layer_kernel<Kernel><<<blocks, Kernel::kThreads, dynamic_bytes<Kernel>(), raw(stream)>>>(args);
    gpu_.check(cudaGetLastError(), Kernel::kName);
  }

 private:
  struct Loaded {
    std::mutex mutex;
    std::unordered_set<const void*> kernels;
  };

  // The first launch of a kernel would load it, which may wait for the GPU.
  void load(const void* kernel, int shared_bytes, const char* name) {
    const std::lock_guard lock(loaded_->mutex);
    if (loaded_->kernels.contains(kernel)) return;
    const RelaxedCapture relaxed;
    cudaFuncAttributes attributes{};
    gpu_.check(cudaFuncGetAttributes(&attributes, kernel), name);
    if (shared_bytes > 0) {
      gpu_.check(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          name);
    }
    loaded_->kernels.insert(kernel);
  }

  const CudaContext& gpu_;
  int multiprocessors_;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace

std::unique_ptr<GpuLayers> make_layers(const CudaContext& gpu, int multiprocessors) {
  CudaLauncher launcher(gpu, multiprocessors);
  if (kBuiltFor90a && gpu.compute_capability() == 90) {
    return std::make_unique<WgmmaLayers<CudaLauncher>>(std::move(launcher));
  }
  return std::make_unique<Layers<CudaLauncher>>(std::move(launcher));
}

}  // namespace lab::cuda
