#pragma once
// Launches the kernels of compute/gpu/cuda/layers on an emulated GPU (launch_grid.h).
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/emulator/copy_engine.h"
#include "compute/gpu/emulator/device/emulated_device.h"

namespace lab::emulated {

class EmulatedLauncher {
 public:
  explicit EmulatedLauncher(EmulatedDevice& gpu) : gpu_(gpu) {}

  int multiprocessors() const { return 1; }
  template <class Boxes>
  simt::BoxMap map(const Boxes& boxes) const {
    return {boxes};
  }

  template <class Kernel>
  void launch(const cuda::LaunchGrid& grid, const typename Kernel::Args& args, GpuStream& stream) {
    gpu_.launch(
        Kernel::kName, {grid.x, grid.y, grid.z}, {Kernel::kThreads}, [args] { Kernel::run(args); },
        stream, cuda::dynamic_bytes<Kernel>());
  }

 private:
  EmulatedDevice& gpu_;
};

}  // namespace lab::emulated
