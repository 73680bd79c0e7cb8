#include "compute/gpu/cuda/matmul/ladder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "compute/core/error.h"

namespace lab {
namespace {

constexpr std::int64_t kMostBlocks = 2147483647;  // of one launch
// Kernels count rows, columns and terms in 32 bits, rounded up to whole tiles.
constexpr std::int64_t kLongestSide = 2147483647 - 1024;

// Of a rung: see CudaRung.
constexpr bool kOnlyThat = true, kWholePieces = true;

constexpr std::array kLadder = {
    CudaRung{{"naive", "One thread an element",
              "The definition, one thread an element of C: the lanes of a warp stand in different "
              "rows, so every load of A and every store touches 32 separate pieces of memory.",
              Precision::F32},
             CudaKernel::Naive,
             kNaiveTiling,
             7,
             5},
    CudaRung{
        {"coalesced", "Coalesced",
         "The lanes of a warp go along a row of C instead: they read 32 neighbours of B in one "
         "piece and share one number of A, so memory moves what is used.",
         Precision::F32},
        CudaKernel::Coalesced,
        kCoalescedTiling,
        7,
        5},
    CudaRung{{"shared", "Shared-memory tiles",
              "A block first copies a tile of A and one of B into shared memory: each number comes "
              "from global memory once for 32 uses.",
              Precision::F32},
             CudaKernel::Shared,
             kSharedTiling,
             7,
             5},
    CudaRung{
        {"column", "1-D block tile",
         "Each thread computes 8 elements of a column of C: a number of B, once in a register, "
         "is used 8 times, so shared memory is asked half as often.",
         Precision::F32},
        CudaKernel::Column,
        kColumnTiling,
        7,
        5},
    CudaRung{
        {"square", "2-D block tile",
         "Each thread computes 8x8 elements: 16 numbers loaded give 64 multiply-adds, four for "
         "each load instead of one.",
         Precision::F32},
        CudaKernel::Square,
        kSquareTiling,
        7,
        5},
    CudaRung{{"vector", "Vectorised, A transposed",
              "Loads are 16 bytes wide, from global memory and, as A's tile lies transposed, from "
              "shared memory too; neighbouring lanes take neighbouring pieces, so no two of them "
              "want the same bank.",
              Precision::F32},
             CudaKernel::Vector,
             kVectorTiling,
             7,
             5},
    CudaRung{
        {"warp", "Warp tile",
         "Each warp has a square tile of 64x64, each thread 8x16 of it: its lanes share what they "
         "read from shared memory, 128 numbers for 4096 multiply-adds instead of 144 for 2048.",
         Precision::F32},
        CudaKernel::Warp,
        kWarpTiling,
        7,
        5},
    CudaRung{{"async", "Double-buffered, cp.async",
              "Tiles are copied into shared memory by cp.async while earlier ones are multiplied, "
              "and fragments are loaded one term ahead: the multipliers no longer wait for memory.",
              Precision::F32},
             CudaKernel::Async,
             kAsyncTiling,
             8},
    CudaRung{{"mma_tf32", "Tensor cores, tf32",
              "Factors are rounded to tf32 (11 bits) and multiplied by tensor cores with mma.sync: "
              "one instruction of a warp does 1024 multiply-adds instead of 32.",
              Precision::TF32},
             CudaKernel::Tf32,
             kTf32Tiling,
             8},
    CudaRung{{"mma_bf16", "Tensor cores, bf16",
              "Factors are bf16: half the bytes through every memory, and an mma.sync does 2048 "
              "multiply-adds; ldmatrix brings its operands without a bank conflict.",
              Precision::BF16},
             CudaKernel::Bf16,
             kBf16Tiling,
             8},
    CudaRung{{"wgmma", "Hopper: TMA and wgmma",
              "The copy engine fills stages with whole boxes for one thread that asks, and a "
              "warpgroup multiplies straight from shared memory: the tensor cores' full rate.",
              Precision::BF16},
             CudaKernel::Wgmma,
             kWgmmaTiling,
             9,
             0,
             kOnlyThat,
             kWholePieces},
    CudaRung{{"wgmma_producer", "Hopper: producer and consumers",
              "One warpgroup only orders copies and two multiply, each waiting for no more than "
              "the stage it needs, so no barrier of the block stops them all.",
              Precision::BF16},
             CudaKernel::Producer,
             kProducerTiling,
             9,
             0,
             kOnlyThat,
             kWholePieces},
    CudaRung{
        {"wgmma_persistent", "Hopper: persistent grid",
         "As many blocks as the GPU holds stay and take tile after tile: the next tile's stages "
         "are filled while this one's sums are written.",
         Precision::BF16},
        CudaKernel::Persistent,
        kPersistentTiling,
        9,
        0,
        kOnlyThat,
        kWholePieces},
    CudaRung{{"wgmma_cluster", "Hopper: clusters share B",
              "Two blocks, one above the other in C, run as a cluster: each copies half of the B "
              "that both need into the shared memory of both, a third fewer bytes from the cache.",
              Precision::BF16},
             CudaKernel::Cluster,
             kClusterTiling,
             9,
             0,
             kOnlyThat,
             kWholePieces},
};

constexpr std::array kLibraries = {
    GpuRung{"cublas", "cuBLAS, f32",
            "NVIDIA's library without tensor cores: what the rungs from naive to async are "
            "measured against.",
            Precision::F32, true},
    GpuRung{"cublas", "cuBLAS, tf32",
            "The library rounds f32 factors to tf32 for the tensor cores, as mma_tf32 does.",
            Precision::TF32, true},
    GpuRung{"cublas", "cuBLAS, bf16",
            "The library's kernels for bf16 factors: what the rungs from mma_bf16 on are measured "
            "against.",
            Precision::BF16, true},
    GpuRung{"cublaslt", "cublasLt, f32",
            "The kernel is chosen by the library's heuristics before the product is timed; a "
            "product then is its launch alone.",
            Precision::F32, true},
    GpuRung{"cublaslt", "cublasLt, tf32",
            "The heuristics choose among kernels that round f32 factors to tf32.", Precision::TF32,
            true},
    GpuRung{"cublaslt", "cublasLt, bf16",
            "The heuristics choose among bf16 kernels, those with clusters and TMA included.",
            Precision::BF16, true},
};

constexpr auto kRungs = [] {
  std::array<GpuRung, kLadder.size() + kLibraries.size()> all{};
  std::copy(kLadder.begin(), kLadder.end(), all.begin());
  std::copy(kLibraries.begin(), kLibraries.end(), all.begin() + kLadder.size());
  return all;
}();

void check_shapes(const GpuProduct& product) {
  const auto& [m, n, k, a, lda, b, ldb, c, ldc] = product;
  if (m >= 0 && n >= 0 && k >= 0 && lda >= k && ldb >= n && ldc >= n) return;
  throw Error(
      Errc::InvalidArgument,
      fmt::format("matmul: [{},{}] times [{},{}] with lda {}, ldb {}, ldc {}: sizes must not "
                  "be negative, and a leading dimension not below its row's length",
                  m, k, k, n, lda, ldb, ldc));
}

std::optional<std::string> missing_capability(const GpuProperties& gpu, int major, int minor,
                                              bool no_later) {
  const int needs = major * 10 + minor;
  const int has = gpu.compute_major * 10 + gpu.compute_minor;
  if (has == needs || (has > needs && !no_later)) return std::nullopt;
  return fmt::format("needs compute capability {}.{}{}; {} has {}.{}", major, minor,
                     no_later ? " itself" : "", gpu.name, gpu.compute_major, gpu.compute_minor);
}

std::optional<std::string> refusal(const CudaRung& rung, const GpuProduct& product,
                                   const GpuProperties& gpu) {
  if (auto why = missing_capability(gpu, rung.compute_major, rung.compute_minor, rung.no_later)) {
    return why;
  }
  if (rung.whole_pieces && !in_whole_pieces(product, rung.tiling.element_bytes)) {
    return fmt::format(
        "copies 16 bytes at a time: lda {}, ldb {} and N {} must be multiples of {}, "
        "ldc {} of 4, and A, B and C begin at multiples of 16 bytes",
        product.lda, product.ldb, product.n, 16 / rung.tiling.element_bytes, product.ldc);
  }
  for (const std::int64_t side : {product.m, product.n, product.k}) {
    if (side > kLongestSide)
      return fmt::format("counts up to {} a side, not {}", kLongestSide, side);
  }
  const auto launch = launch_of(rung, product.m, product.n);
  if (launch.shared_bytes > gpu.shared_bytes_per_block) {
    return fmt::format("needs {} bytes of shared memory a block; {} has {}", launch.shared_bytes,
                       gpu.name, gpu.shared_bytes_per_block);
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

std::span<const GpuRung> cuda_rungs() {
  return kRungs;
}

const CudaRung* own_rung(const GpuRung& rung) {
  const auto found = std::find_if(kLadder.begin(), kLadder.end(), [&](const CudaRung& own) {
    return std::string_view(own.name) == rung.name;
  });
  return found == kLadder.end() ? nullptr : &*found;
}

CudaLaunch launch_of(const CudaRung& rung, std::int64_t m, std::int64_t n) {
  return {blocks_of(rung.tiling, m, n), rung.tiling.threads(), rung.tiling.shared_bytes()};
}

std::optional<std::string> unsupported(const GpuRung& rung, const GpuProduct& product,
                                       const GpuProperties& gpu) {
  check_shapes(product);
  if (const CudaRung* own = own_rung(rung)) return refusal(*own, product, gpu);
  // Tensor cores for tf32 and bf16 came with 8.0.
  if (rung.precision == Precision::F32) return std::nullopt;
  return missing_capability(gpu, 8, 0, false);
}

}  // namespace lab
