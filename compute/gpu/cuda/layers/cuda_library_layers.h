#pragma once
// GpuLayers by cuDNN and cuBLAS for a CUDA GPU.
#include <memory>

#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

// Opens the libraries and creates their handles on `gpu`. `gpu` and `own`, the layers by the lab's
// kernels, must outlive the layers. Throws the errors of GpuDevice::library_layers().
std::unique_ptr<GpuLayers> make_library_layers(const CudaContext& gpu, const GpuProperties& facts,
                                               GpuLayers& own);

}  // namespace lab::cuda
