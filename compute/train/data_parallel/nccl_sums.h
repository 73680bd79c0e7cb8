#pragma once
// Sums over GPUs by NCCL.
#include <memory>
#include <span>

#include "compute/gpu/nccl/nccl_library.h"
#include "compute/train/data_parallel/gpu_sums.h"

namespace lab {

// NCCL chooses the order of the sums: their last bits differ from those of make_peer_sums(), and
// repeat on the same GPUs only if NCCL chooses the same algorithm and that one repeats. Sums inside
// an NVSwitch (NVLS) may not. Throws Error(Cuda) naming the call if NCCL fails.
// Source   https://github.com/NVIDIA/nccl/issues/1497
std::unique_ptr<GpuSums> make_nccl_sums(const nccl::Library& library,
                                        std::span<const GpuArray> arrays);

}  // namespace lab
