// The layers of networks on an emulated GPU: the kernels and the host code of
// compute/gpu/cuda/layers.
#include "compute/gpu/cuda/layers/layers.cuh"

#include "compute/gpu/emulator/device/emulated_device.h"

namespace lab::emulated {
namespace {

class EmulatedLauncher {
 public:
  explicit EmulatedLauncher(EmulatedDevice& gpu) : gpu_(gpu) {}

  int multiprocessors() const { return 1; }

  template <class Kernel>
  void launch(const cuda::LaunchGrid& grid, const typename Kernel::Args& args, GpuStream& stream) {
    gpu_.launch(
        Kernel::kName, {grid.x, grid.y, grid.z}, {Kernel::kThreads}, [args] { Kernel::run(args); },
        stream);
  }

 private:
  EmulatedDevice& gpu_;
};

}  // namespace

std::unique_ptr<GpuLayers> make_layers(EmulatedDevice& device) {
  return std::make_unique<cuda::Layers<EmulatedLauncher>>(EmulatedLauncher(device));
}

}  // namespace lab::emulated
