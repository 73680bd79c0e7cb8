#pragma once
// What host code knows of the CUDA ladder, in builds without CUDA too: names, sentences, launch
// shapes, and what a rung cannot take.
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "compute/gpu/cuda/matmul/matmul_args.h"
#include "compute/gpu/cuda/matmul/tiling.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

enum class CudaKernel {
  Naive,
  Coalesced,
  Shared,
  Column,
  Square,
  Vector,
  Warp,
  Async,
  Tf32,
  Bf16,
  Wgmma,
  Producer,
  Persistent,
  Cluster,
};
inline constexpr int kCudaKernels = 14;

// A rung of the lab's own.
struct CudaRung : GpuRung {
  CudaKernel kernel;
  Tiling tiling;
  int compute_major;  // lowest compute capability
  int compute_minor = 0;
  bool no_later = false;      // of that compute capability alone
  bool whole_pieces = false;  // takes only what in_whole_pieces() accepts
};

// The lab's own in ladder order.
std::span<const CudaRung> cuda_ladder();

// The same as the seam shows them, then cuBLAS and cublasLt in each precision.
std::span<const GpuRung> cuda_rungs();

// The lab's own rung of that name; null for a library.
const CudaRung* own_rung(const GpuRung& rung);

// One dimension of blocks, one of threads; shared memory is all that a block has.
struct CudaLaunch {
  std::int64_t blocks = 0;
  int threads = 0;
  int shared_bytes = 0;
};
CudaLaunch launch_of(const CudaRung& rung, std::int64_t m, std::int64_t n);

// Why `rung` cannot compute this product on this GPU, or nothing. Of a library, what the GPU
// lacks alone: whether it can be opened is asked elsewhere. Throws Error(InvalidArgument) naming
// the shapes where no rung could.
std::optional<std::string> unsupported(const GpuRung& rung, const GpuProduct& product,
                                       const GpuProperties& gpu);

}  // namespace lab
