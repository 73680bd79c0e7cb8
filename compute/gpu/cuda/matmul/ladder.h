#pragma once
// The CUDA ladder as host code sees it, in builds without CUDA too: its entries, and which products
// a rung cannot compute.
#include <optional>
#include <span>
#include <string>

#include "compute/gpu/cuda/matmul/cuda_rung.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

// The lab's own in ladder order.
std::span<const CudaRung> cuda_ladder();

// The same as the seam shows them, then cuBLAS and cublasLt in each precision.
std::span<const GpuRung> cuda_rungs();

// The lab's own rung of that name; null for a library.
const CudaRung* own_rung(const GpuRung& rung);

// Why `rung` cannot compute this product on this GPU, or nothing. Of a library, what the GPU
// lacks alone: whether it can be opened is asked elsewhere. Throws Error(InvalidArgument) naming
// the shapes where no rung could.
std::optional<std::string> unsupported(const GpuRung& rung, const GpuProduct& product,
                                       const GpuProperties& gpu);

}  // namespace lab
