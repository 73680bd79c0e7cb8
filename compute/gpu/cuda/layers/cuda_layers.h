#pragma once
// GpuLayers for a CUDA GPU.
#include <memory>

#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

// `gpu` must outlive the layers.
std::unique_ptr<GpuLayers> make_layers(const CudaContext& gpu, int multiprocessors);

}  // namespace lab::cuda
