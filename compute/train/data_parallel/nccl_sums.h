#pragma once
// Sums over GPUs by NCCL.
#include <memory>
#include <span>

#include "compute/gpu/nccl/nccl_library.h"
#include "compute/train/data_parallel/gpu_sums.h"

namespace lab {

// NCCL chooses the order of the sums: results repeat on the same GPUs with the same version of
// NCCL, but their last bits differ from those of make_peer_sums(). Throws Error(Cuda) naming the
// call if NCCL fails.
std::unique_ptr<GpuSums> make_nccl_sums(const nccl::Library& library,
                                        std::span<const GpuArray> arrays);

}  // namespace lab
