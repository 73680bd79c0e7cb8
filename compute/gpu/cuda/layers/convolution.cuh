#pragma once
// Convolutions as matrix products.
#include <cstdint>

#include "compute/core/error.h"
#include "compute/gpu/cuda/layers/columns.cuh"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

inline std::int64_t convolution_workspace_bytes(const GpuConvolution&) {
  return 0;
}

template <class Launcher>
void convolution_forward(Launcher&, const GpuConvolution&, GpuStream&) {
  throw Error(Errc::Unsupported, "convolution");
}
template <class Launcher>
void convolution_input_gradient(Launcher&, const GpuConvolution&, GpuStream&) {
  throw Error(Errc::Unsupported, "convolution");
}
template <class Launcher>
void convolution_weight_gradient(Launcher&, const GpuConvolution&, GpuStream&) {
  throw Error(Errc::Unsupported, "convolution");
}

}  // namespace lab::cuda
