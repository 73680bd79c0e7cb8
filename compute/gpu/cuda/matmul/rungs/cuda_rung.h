#pragma once
// The entry type of the CUDA ladder and the kernels' argument types. Host and device code.
#include <array>
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/gpu_matmul.h"

namespace lab {

// How a rung partitions a product. A block computes an m x n tile of C, of which each thread holds
// thread_m x thread_n elements in registers. A and B pass through shared memory in tiles of k
// terms, of which `stages` are resident at once (0: no shared memory).
struct Tiling {
  int m = 1, n = 1, k = 1;
  int thread_m = 1, thread_n = 1;
  int stages = 0;
  int element_bytes = 4;
  int pad = 0;               // padding elements per column of A's tile if it is stored transposed
  int unrolled_steps = 8;    // terms per run of straight-line code in the async rung
  int blocks_per_sm = 0;     // resident blocks that registers must allow; 0: compiler's choice
  int producer_threads = 0;  // threads that issue copies and compute nothing
  int cluster = 1;           // adjacent tiles of C whose blocks share their copies
  bool beside = false;       // these are in one row of tiles, not in one column
  int extra_bytes = 0;       // shared memory in addition to the stages

  constexpr int threads() const { return (m / thread_m) * (n / thread_n) + producer_threads; }
  constexpr int stage_bytes() const { return ((m + pad) * k + k * n) * element_bytes; }
  constexpr int shared_bytes() const { return stages * stage_bytes() + extra_bytes; }
  // Shared memory that a launch must request: several stages form one array of dynamic size, a
  // single stage is declared in the kernel.
  constexpr int dynamic_bytes() const { return stages > 1 ? shared_bytes() : 0; }
  // The tiling with a cluster's tile in place of a block's.
  constexpr Tiling of_cluster() const {
    Tiling tiling = *this;
    (beside ? tiling.n : tiling.m) *= cluster;
    return tiling;
  }
};

// The number of tiles that cover C.
constexpr std::int64_t tiles_of(const Tiling& tiling, std::int64_t m, std::int64_t n) {
  return ((m + tiling.m - 1) / tiling.m) * ((n + tiling.n - 1) / tiling.n);
}

// The number of blocks of a launch with one block per tile, rounded up to whole clusters.
constexpr std::int64_t blocks_of(const Tiling& tiling, std::int64_t m, std::int64_t n) {
  return tiles_of(tiling.of_cluster(), m, n) * tiling.cluster;
}

// A constant, because device code cannot call the host function.
template <Tiling kTile>
inline constexpr int kThreads = kTile.threads();

// Alignment in bytes of the Hopper rungs' stages, independent of where shared memory begins.
inline constexpr int kHopperAlignment = 1024;

// C passes through shared memory in pieces of this size, two per warpgroup, in rung wgmma_store.
inline constexpr int kCPieceRows = 64, kCPieceColumns = 32;
inline constexpr int kCPieceBytes = kCPieceRows * kCPieceColumns * 4;
inline constexpr int kCStagingBytes = 2 * 2 * kCPieceBytes;

// The operands that a rung's kernels accept; see is_vector_aligned().
enum class Operands {
  Any,                 // one kernel for all operands
  VectorAlignedOrAny,  // one kernel for whole 16-byte pieces, another for the rest
  VectorAligned,       // whole 16-byte pieces only
};

// An entry of the CUDA ladder. Each r*.cuh defines a type with a member kRung of this type and a
// device function that computes one block's work:
//
//   template <Tiling kTile, bool kAligned>                       // kAligned: in whole pieces
//   void multiply(Type, MatmulArgs args);                        // or Bf16MatmulArgs
//   template <Tiling kTile>                                      // if exact_capability is set
//   void multiply(Type, const HopperMaps& maps, const ArgsOf<Type>& args);
//
// rungs.h lists the types. The functions are compiled by nvcc and, except those with
// exact_capability, by the tests' emulator; other host code sees only the entry.
struct CudaRung {
  const char* name;      // for --kernels
  const char* title;     // for display
  const char* sentence;  // what it adds to the previous rung, and why that helps
  Precision precision;
  Tiling tiling;      // tiling of the launch
  Tiling small = {};  // for emulator tests: the same loops with fewer threads
  int compute_major;  // lowest compute capability
  int compute_minor = 0;
  bool exact_capability = false;  // runs only on that compute capability
  Operands operands = Operands::Any;
  bool persistent = false;  // each block computes several tiles; the grid fills the GPU
};

// A list of rung types, in ladder order.
template <class... Types>
struct RungTypes {
  static constexpr std::array kRungs = {Types::kRung...};

  // Calls use(Type{}) for each type.
  template <class Use>
  static constexpr void for_each(const Use& use) {
    (use(Types{}), ...);
  }
};

// C = A*B.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements, at least the row's length;
//   C aliases neither
template <class T>
struct MatmulOf {
  std::int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
};

using MatmulArgs = MatmulOf<float>;
using Bf16MatmulArgs = MatmulOf<std::uint16_t>;  // A and B hold bf16 bit patterns

// The kernel argument type of rungs of this precision.
template <Precision kPrecision>
struct KernelArgs {
  using Type = MatmulArgs;
};
template <>
struct KernelArgs<Precision::BF16> {
  using Type = Bf16MatmulArgs;
};
template <class RungType>
using ArgsOf = typename KernelArgs<RungType::kRung.precision>::Type;

// Converts a product to kernel arguments. Args: MatmulArgs or Bf16MatmulArgs.
template <class Args>
Args args_of(const GpuProduct& product) {
  return {.m = product.m,
          .n = product.n,
          .k = product.k,
          .a = static_cast<decltype(Args::a)>(product.a),
          .lda = product.lda,
          .b = static_cast<decltype(Args::b)>(product.b),
          .ldb = product.ldb,
          .c = product.c,
          .ldc = product.ldc};
}

// Whether rows of A, B and C can be moved in 16-byte pieces: pointers are 16-byte aligned, and each
// ld* and N spans a multiple of 16 bytes. K is unrestricted.
inline bool is_vector_aligned(const GpuProduct& product, int operand_bytes) {
  constexpr int kBytes = 16;
  const std::int64_t operands = kBytes / operand_bytes, sums = kBytes / int{sizeof(float)};
  const auto aligned = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % kBytes == 0;
  };
  return aligned(product.a) && aligned(product.b) && aligned(product.c) &&
         product.lda % operands == 0 && product.ldb % operands == 0 && product.n % operands == 0 &&
         product.ldc % sums == 0;
}

}  // namespace lab
