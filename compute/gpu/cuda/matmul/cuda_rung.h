#pragma once
// What an entry of the CUDA ladder is, and what its kernels take. Host and device code.
#include <array>
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/gpu_matmul.h"

namespace lab {

// How a rung cuts a product. A block computes a tile m x n of C; every thread has
// thread_m x thread_n elements of it in registers. A and B pass through shared memory in tiles of k
// terms, `stages` of them at once (0: no shared memory).
struct Tiling {
  int m = 1, n = 1, k = 1;
  int thread_m = 1, thread_n = 1;
  int stages = 0;
  int element_bytes = 4;
  int pad = 0;               // numbers added to each column of A's tile where it lies transposed
  int straight_steps = 8;    // terms that the async rung multiplies in one piece of straight code
  int blocks_per_sm = 0;     // that registers must leave room for; 0: the compiler decides
  int producer_threads = 0;  // that order copies and compute nothing
  int cluster = 1;           // blocks, one below the other in C, that share what they copy
  int extra_bytes = 0;       // of shared memory beside the stages

  constexpr int threads() const { return (m / thread_m) * (n / thread_n) + producer_threads; }
  constexpr int stage_bytes() const { return ((m + pad) * k + k * n) * element_bytes; }
  constexpr int shared_bytes() const { return stages * stage_bytes() + extra_bytes; }
  // Shared memory that a launch must request: several stages are one array of dynamic size, a
  // single stage is declared in the kernel.
  constexpr int dynamic_bytes() const { return stages > 1 ? shared_bytes() : 0; }
  // The tile that a cluster computes.
  constexpr Tiling of_cluster() const {
    Tiling tiling = *this;
    tiling.m *= cluster;
    return tiling;
  }
};

// Tiles that cover C.
constexpr std::int64_t tiles_of(const Tiling& tiling, std::int64_t m, std::int64_t n) {
  return ((m + tiling.m - 1) / tiling.m) * ((n + tiling.n - 1) / tiling.n);
}

// Blocks of a launch with one for each tile: whole clusters.
constexpr std::int64_t blocks_of(const Tiling& tiling, std::int64_t m, std::int64_t n) {
  return tiles_of(tiling.of_cluster(), m, n) * tiling.cluster;
}

// As a constant, which device code can use without calling a host function.
template <Tiling kTile>
inline constexpr int kThreads = kTile.threads();

// Stages of the Hopper rungs begin at multiples of this, wherever shared memory itself begins.
inline constexpr int kHopperAlignment = 1024;

// Operands that a rung has kernels for; see in_whole_pieces().
enum class Operands {
  Any,               // one kernel for all
  WholePiecesOrAny,  // a kernel that moves whole pieces, and one for all other operands
  WholePieces,       // no others
};

// An entry of the CUDA ladder. Each r*.cuh defines a type with a member of this type, kRung, and a
// function for device code, which is what one block does:
//
//   template <Tiling kTile, bool kAligned>                       // kAligned: in whole pieces
//   void multiply(Type, MatmulArgs args);                        // or Bf16MatmulArgs
//   template <Tiling kTile>                                      // where no_later is set
//   void multiply(Type, const CUtensorMap& a, const CUtensorMap& b, const Bf16MatmulArgs& args);
//
// rungs.h lists the types. Only nvcc compiles the functions, and the tests' emulator those without
// no_later; other host code sees the entry only.
struct CudaRung {
  GpuRung shown;      // as the seam describes it
  Tiling tiling;      // of the launch
  Tiling small = {};  // for tests in the emulator: a tiling with the same loops but fewer threads
  int compute_major;  // lowest compute capability
  int compute_minor = 0;
  bool no_later = false;  // runs on that compute capability only
  Operands operands = Operands::Any;
  bool persistent = false;  // blocks take tile after tile: as many are launched as the GPU holds
};

// The types of several rungs, in ladder order.
template <class... Types>
struct RungTypes {
  static constexpr std::array kRungs = {Types::kRung...};

  // Calls use(Type{}) for each.
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
using Bf16MatmulArgs = MatmulOf<std::uint16_t>;  // A and B are bits of bf16

// What the kernels of a rung of this precision take.
template <Precision kPrecision>
struct KernelArgs {
  using Type = MatmulArgs;
};
template <>
struct KernelArgs<Precision::BF16> {
  using Type = Bf16MatmulArgs;
};
template <class RungType>
using ArgsOf = typename KernelArgs<RungType::kRung.shown.precision>::Type;

// The product as kernels take it. Args: MatmulArgs or Bf16MatmulArgs.
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

// Whether rows of A, B and C can be moved in pieces of 16 bytes: pointers aligned to them, ld* and
// N whole numbers of them. K may be anything.
inline bool in_whole_pieces(const GpuProduct& product, int factor_bytes) {
  constexpr int kBytes = 16;
  const std::int64_t factors = kBytes / factor_bytes, sums = kBytes / int{sizeof(float)};
  const auto aligned = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % kBytes == 0;
  };
  return aligned(product.a) && aligned(product.b) && aligned(product.c) &&
         product.lda % factors == 0 && product.ldb % factors == 0 && product.n % factors == 0 &&
         product.ldc % sums == 0;
}

}  // namespace lab
