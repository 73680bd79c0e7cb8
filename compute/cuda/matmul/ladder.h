#pragma once
// What host code knows of the CUDA ladder, in builds without CUDA too: names, sentences, launch
// shapes, and what a rung cannot take.
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "compute/cuda/matmul/matmul_args.h"
#include "compute/cuda/matmul/tiling.h"
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
  Persistent,
};

// What factors are when they are multiplied. F32 and Tf32 take MatmulArgs, Bf16 Bf16MatmulArgs.
enum class CudaFactors { F32, Tf32, Bf16 };

struct CudaRung {
  CudaKernel kernel;
  const char* name;      // for --kernels
  const char* title;     // for people
  const char* sentence;  // what it adds to the rung before and why that helps
  CudaFactors factors;
  Tiling tiling;
  int compute_major;  // lowest compute capability
  int compute_minor = 0;
  bool no_later = false;      // of that compute capability alone
  bool whole_pieces = false;  // takes only what in_whole_pieces() accepts
  bool emulated = true;       // its body has run in tests without a card
};

// All of them in ladder order.
std::span<const CudaRung> cuda_ladder();

// One dimension of blocks, one of threads; shared memory is all that a block has.
struct CudaLaunch {
  std::int64_t blocks = 0;
  int threads = 0;
  int shared_bytes = 0;
};
CudaLaunch launch_of(const CudaRung& rung, std::int64_t m, std::int64_t n);

// Why `rung` cannot compute this product on this card, or nothing. Throws Error(InvalidArgument)
// naming the shapes where no rung could.
std::optional<std::string> unsupported(const CudaRung& rung, const MatmulArgs& args,
                                       const CardFacts& card);
std::optional<std::string> unsupported(const CudaRung& rung, const Bf16MatmulArgs& args,
                                       const CardFacts& card);

}  // namespace lab
