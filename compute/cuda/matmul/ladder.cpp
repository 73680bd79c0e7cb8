#include "compute/cuda/matmul/ladder.h"

#include <fmt/core.h>

#include <array>

#include "compute/types/error.h"

namespace lab {
namespace {

constexpr std::int64_t kMostBlocks = 2147483647;  // of one launch
// Kernels count rows, columns and terms in 32 bits, rounded up to whole tiles.
constexpr std::int64_t kLongestSide = 2147483647 - 1024;

constexpr std::array kLadder = {
    CudaRung{CudaKernel::Naive, "naive", "One thread an element",
             "The definition, one thread an element of C: the lanes of a warp stand in different "
             "rows, so every load of A and every store touches 32 separate pieces of memory.",
             CudaFactors::F32, kNaiveTiling, 7, 5},
    CudaRung{CudaKernel::Coalesced, "coalesced", "Coalesced",
             "The lanes of a warp go along a row of C instead: they read 32 neighbours of B in one "
             "piece and share one number of A, so memory moves what is used.",
             CudaFactors::F32, kCoalescedTiling, 7, 5},
    CudaRung{CudaKernel::Shared, "shared", "Shared-memory tiles",
             "A block first copies a tile of A and one of B into shared memory: each number comes "
             "from global memory once for 32 uses.",
             CudaFactors::F32, kSharedTiling, 7, 5},
    CudaRung{CudaKernel::Column, "column", "1-D block tile",
             "Each thread computes 8 elements of a column of C: a number of B, once in a register, "
             "is used 8 times, so shared memory is asked half as often.",
             CudaFactors::F32, kColumnTiling, 7, 5},
    CudaRung{CudaKernel::Square, "square", "2-D block tile",
             "Each thread computes 8x8 elements: 16 numbers loaded give 64 multiply-adds, four for "
             "each load instead of one.",
             CudaFactors::F32, kSquareTiling, 7, 5},
    CudaRung{CudaKernel::Vector, "vector", "Vectorised, A transposed",
             "Loads are 16 bytes wide, from global memory and, as A's tile lies transposed, from "
             "shared memory too; neighbouring lanes take neighbouring pieces, so no two of them "
             "want the same bank.",
             CudaFactors::F32, kVectorTiling, 7, 5},
    CudaRung{
        CudaKernel::Warp, "warp", "Warp tile",
        "Each warp has a square tile of 64x64, each thread 8x16 of it: its lanes share what they "
        "read from shared memory, 128 numbers for 4096 multiply-adds instead of 144 for 2048.",
        CudaFactors::F32, kWarpTiling, 7, 5},
    CudaRung{CudaKernel::Async, "async", "Double-buffered, cp.async",
             "Tiles are copied into shared memory by cp.async while earlier ones are multiplied, "
             "and fragments are loaded one term ahead: the multipliers no longer wait for memory.",
             CudaFactors::F32, kAsyncTiling, 8},
    CudaRung{CudaKernel::Tf32, "mma_tf32", "Tensor cores, tf32",
             "Factors are rounded to tf32 (11 bits) and multiplied by tensor cores with mma.sync: "
             "one instruction of a warp does 1024 multiply-adds instead of 32.",
             CudaFactors::Tf32, kTf32Tiling, 8},
    CudaRung{CudaKernel::Bf16, "mma_bf16", "Tensor cores, bf16",
             "Factors are bf16: half the bytes through every memory, and an mma.sync does 2048 "
             "multiply-adds; ldmatrix brings its operands without a bank conflict.",
             CudaFactors::Bf16, kBf16Tiling, 8},
    CudaRung{CudaKernel::Wgmma, "wgmma", "Hopper: TMA and wgmma",
             "The copy engine fills stages with whole boxes for one thread that asks, and a "
             "warpgroup multiplies straight from shared memory: the tensor cores' full rate.",
             CudaFactors::Bf16, kWgmmaTiling, 9, 0, true, true, false},
    CudaRung{CudaKernel::Persistent, "wgmma_persistent", "Hopper: producer, persistent grid",
             "One warpgroup only orders copies and two multiply, each waiting for no more than the "
             "stage it needs; blocks stay, so the next tile loads while this one is written.",
             CudaFactors::Bf16, kPersistentTiling, 9, 0, true, true, false},
};

template <class T>
void check_shapes(const MatmulOf<T>& args) {
  if (args.m >= 0 && args.n >= 0 && args.k >= 0 && args.lda >= args.k && args.ldb >= args.n &&
      args.ldc >= args.n) {
    return;
  }
  throw Error(
      Errc::InvalidArgument,
      fmt::format("matmul: [{},{}] times [{},{}] with lda {}, ldb {}, ldc {}: sizes must not "
                  "be negative, and a leading dimension not below its row's length",
                  args.m, args.k, args.k, args.n, args.lda, args.ldb, args.ldc));
}

template <class T>
std::optional<std::string> refusal(const CudaRung& rung, const MatmulOf<T>& args,
                                   const CardFacts& card) {
  check_shapes(args);
  const int needs = rung.compute_major * 10 + rung.compute_minor;
  const int has = card.compute_major * 10 + card.compute_minor;
  if (has < needs || (rung.no_later && has > needs)) {
    return fmt::format("needs compute capability {}.{}{}; {} has {}.{}", rung.compute_major,
                       rung.compute_minor, rung.no_later ? " itself" : "", card.name,
                       card.compute_major, card.compute_minor);
  }
  if (rung.whole_pieces && !in_whole_pieces(args)) {
    return fmt::format(
        "copies 16 bytes at a time: lda {}, ldb {} and N {} must be multiples of 8, "
        "ldc {} of 4, and A, B and C begin at multiples of 16 bytes",
        args.lda, args.ldb, args.n, args.ldc);
  }
  const auto launch = launch_of(rung, args.m, args.n);
  if (launch.shared_bytes > card.shared_bytes_per_block) {
    return fmt::format("needs {} bytes of shared memory a block; {} has {}", launch.shared_bytes,
                       card.name, card.shared_bytes_per_block);
  }
  for (const std::int64_t side : {args.m, args.n, args.k}) {
    if (side > kLongestSide)
      return fmt::format("counts up to {} a side, not {}", kLongestSide, side);
  }
  if (launch.blocks > kMostBlocks) {
    return fmt::format("would need {} blocks; one launch has at most {}", launch.blocks,
                       kMostBlocks);
  }
  return std::nullopt;
}

}  // namespace

std::span<const CudaRung> cuda_ladder() {
  return kLadder;
}

CudaLaunch launch_of(const CudaRung& rung, std::int64_t m, std::int64_t n) {
  return {tiles_of(rung.tiling, m, n), rung.tiling.threads(), rung.tiling.shared_bytes()};
}

std::optional<std::string> unsupported(const CudaRung& rung, const MatmulArgs& args,
                                       const CardFacts& card) {
  if (rung.factors == CudaFactors::Bf16) return "multiplies bf16, not f32";
  return refusal(rung, args, card);
}

std::optional<std::string> unsupported(const CudaRung& rung, const Bf16MatmulArgs& args,
                                       const CardFacts& card) {
  if (rung.factors != CudaFactors::Bf16) return "multiplies f32, not bf16";
  return refusal(rung, args, card);
}

}  // namespace lab
