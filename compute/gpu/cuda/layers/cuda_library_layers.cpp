#include "compute/gpu/cuda/layers/cuda_library_layers.h"

#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/library/library_layers.h"

namespace lab::cuda {
namespace {

// A convolution's workspace takes at most a sixteenth of the GPU's memory.
constexpr std::int64_t kWorkspaceShare = 16;

class CudaHost final : public library::LibraryHost {
 public:
  explicit CudaHost(const CudaContext& gpu) : gpu_(gpu) {}
  void use() override { gpu_.use(); }
  bool use_quietly() noexcept override { return gpu_.use_quietly(); }
  void* native(GpuStream& stream) override { return raw(stream); }
  bool recorded(GpuStream& stream) override {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    gpu_.check(cudaStreamIsCapturing(raw(stream), &capture), "cudaStreamIsCapturing");
    return capture != cudaStreamCaptureStatusNone;
  }
  [[noreturn]] void fail(const std::string& call, const std::string& why) override {
    gpu_.fail(call, why);
  }

 private:
  const CudaContext& gpu_;
};

}  // namespace

std::unique_ptr<GpuLayers> make_library_layers(const CudaContext& gpu, const GpuProperties& facts,
                                               GpuLayers& own) {
  library::LibraryFiles files;
  files.cublas = library::blas_names("libcublas", CUDART_VERSION / 1000);
  return std::make_unique<library::LibraryLayers>(library::open_layer_libraries(files),
                                                  std::make_unique<CudaHost>(gpu), own,
                                                  facts.memory_bytes / kWorkspaceShare);
}

}  // namespace lab::cuda
