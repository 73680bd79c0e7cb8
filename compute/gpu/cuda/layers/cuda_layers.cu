#include "compute/gpu/cuda/layers/cuda_layers.h"

#include <cudaTypedefs.h>

#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "compute/gpu/cuda/device/driver_function.h"
#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/cuda/kernel/copy_engine.h"
#include "compute/gpu/cuda/layers/layers.cuh"
#include "compute/gpu/cuda/layers/wgmma_layers.cuh"
#include "compute/gpu/cuda/matmul/rungs/launch.h"

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

constexpr auto kElements = CU_TENSOR_MAP_DATA_TYPE_UINT16;
constexpr cuuint64_t kElementBytes = 2;
constexpr cuuint32_t kRowElements = simt::kBoxRowBytes / kElementBytes;

// The driver's parameter is a mutable pointer, whatever the kernels do with the map.
void* mutable_pointer(const std::uint16_t* elements) {
  return const_cast<std::uint16_t*>(elements);
}

CUresult encode(CUtensorMap& map, const simt::PixelBoxes& boxes) {
  static const auto kEncode =
      driver_function<PFN_cuTensorMapEncodeIm2col_v12000>("cuTensorMapEncodeIm2col", 12000);
  if (kEncode == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const auto channels = static_cast<cuuint64_t>(boxes.channels);
  const auto width = static_cast<cuuint64_t>(boxes.width);
  const auto height = static_cast<cuuint64_t>(boxes.height);
  const cuuint64_t sizes[] = {channels, width, height, static_cast<cuuint64_t>(boxes.images)};
  const cuuint64_t bytes[] = {channels * kElementBytes, width * channels * kElementBytes,
                              height * width * channels * kElementBytes};
  const int first[] = {boxes.first_x, boxes.first_y};
  const int last[] = {boxes.first_x + (boxes.grid_width - 1) * boxes.step - (boxes.width - 1),
                      boxes.first_y + (boxes.grid_height - 1) * boxes.step - (boxes.height - 1)};
  const auto step = static_cast<cuuint32_t>(boxes.step);
  const cuuint32_t steps[] = {1, step, step, 1};
  return kEncode(&map, kElements, 4, mutable_pointer(boxes.elements), sizes, bytes, first, last,
                 kRowElements, static_cast<cuuint32_t>(boxes.box_rows), steps,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

CUresult encode(CUtensorMap& map, const simt::WeightBoxes& boxes) {
  static const auto kEncode =
      driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled", 12000);
  if (kEncode == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const auto channels = static_cast<cuuint64_t>(boxes.channels);
  const auto taps = static_cast<cuuint64_t>(boxes.taps);
  const cuuint64_t sizes[] = {channels, taps, static_cast<cuuint64_t>(boxes.rows)};
  const cuuint64_t bytes[] = {channels * kElementBytes, taps * channels * kElementBytes};
  const cuuint32_t box[] = {kRowElements, 1, static_cast<cuuint32_t>(boxes.box_rows)};
  const cuuint32_t every[] = {1, 1, 1};
  return kEncode(&map, kElements, 3, mutable_pointer(boxes.elements), sizes, bytes, box, every,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

class CudaLauncher {
 public:
  CudaLauncher(const CudaContext& gpu, int multiprocessors)
      : gpu_(gpu), multiprocessors_(multiprocessors), loaded_(std::make_unique<Loaded>()) {}

  int multiprocessors() const { return multiprocessors_; }

  template <class Boxes>
  simt::BoxMap map(const Boxes& boxes) const {
    gpu_.use();
    simt::BoxMap made{};
    const CUresult result = encode(made.map, boxes);
    gpu_.check(result == CUDA_SUCCESS               ? cudaSuccess
               : result == CUDA_ERROR_NOT_SUPPORTED ? cudaErrorNotSupported
                                                    : cudaErrorInvalidValue,
               "the driver's tensor map of a convolution");
    return made;
  }

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
    bool wait_note = false;
  };

  // The first launch of a kernel would load it, which may wait for the GPU.
  void load(const void* kernel, int shared_bytes, const char* name) {
    const std::lock_guard lock(loaded_->mutex);
    if (loaded_->kernels.contains(kernel)) return;
    const RelaxedCapture relaxed;
    cudaFuncAttributes attributes{};
    gpu_.check(cudaFuncGetAttributes(&attributes, kernel), name);
    if (shared_bytes > 0) {
      set_wait_note(name);
      gpu_.check(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          name);
    }
    loaded_->kernels.insert(kernel);
  }

  void set_wait_note(const char* name) {
    if (loaded_->wait_note) return;
    std::uint32_t* note = nullptr;
    gpu_.check(cuda_matmul::make_wait_note(note), name);
    gpu_.check(cudaMemcpyToSymbol(cuda_matmul::hopper::wait_note, &note, sizeof note), name);
    loaded_->wait_note = true;
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
