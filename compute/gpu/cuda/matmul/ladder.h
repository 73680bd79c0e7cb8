#pragma once
// The host-side view of the CUDA ladder, part of every build: its entries, and the products that a
// rung cannot compute.
#include <optional>
#include <span>
#include <string>

#include "compute/core/events/event.h"
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

// The lab's own rungs, in ladder order.
std::span<const CudaRung> cuda_ladder();

// The description of an entry.
RungInfo info_of(const CudaRung& rung);

// All rungs as GpuMatmul presents them: the lab's own, then cuBLAS and cublasLt in each precision.
std::span<const RungInfo> cuda_rungs();

// The lab's own rung with the name of `rung`; null for a library.
const CudaRung* own_rung(const RungInfo& rung);

// Returns why `rung` cannot compute this product on this GPU, or nothing if it can. For a library,
// only the GPU's capabilities are checked, not whether the library loads. Throws
// Error(InvalidArgument) naming the shapes if no rung can compute the product.
std::optional<std::string> unsupported(const RungInfo& rung, const GpuProduct& product,
                                       const GpuProperties& gpu);

}  // namespace lab
