// The layers of networks on an emulated GPU: the kernels and the host code of
// compute/gpu/cuda/layers.
#include "compute/gpu/cuda/layers/layers.cuh"

#include "compute/gpu/emulator/device/emulated_device.h"
#include "compute/gpu/emulator/device/emulated_launcher.h"

namespace lab::emulated {

std::unique_ptr<GpuLayers> make_layers(EmulatedDevice& device) {
  return std::make_unique<cuda::Layers<EmulatedLauncher>>(EmulatedLauncher(device));
}

}  // namespace lab::emulated
