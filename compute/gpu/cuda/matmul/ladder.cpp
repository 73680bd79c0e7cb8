#include "compute/gpu/cuda/matmul/ladder.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/gpu/cuda/matmul/rungs/rungs.h"
#include "compute/gpu/cuda/matmul/stalled_wait.h"

namespace lab {
namespace {

constexpr std::int64_t kMaxBlocks = 2147483647;  // per launch
// Kernels index rows, columns and terms with 32 bits, rounded up to whole tiles.
constexpr std::int64_t kLongestSide = 2147483647 - 1024;

constexpr const auto& kLadder = cuda_matmul::Ladder::kRungs;

std::vector<RungInfo> all_rungs() {
  std::vector<RungInfo> all;
  all.reserve(kLadder.size());
  for (const CudaRung& rung : kLadder) all.push_back(info_of(rung));
  const auto add_library = [&](const char* name, const char* title, Precision precision,
                               const char* sentence) {
    all.push_back({{}, name, title, sentence, true, {precision}});
  };
  add_library("cublas", "cuBLAS, f32", Precision::F32,
              LAB_TEXT("NVIDIA's library without tensor cores: the reference for the rungs from "
                       "naive to async."));
  add_library(
      "cublas", "cuBLAS, tf32", Precision::TF32,
      LAB_TEXT("The library rounds f32 operands to tf32 for the tensor cores, as mma_tf32 does."));
  add_library("cublas", "cuBLAS, bf16", Precision::BF16,
              LAB_TEXT("The library's kernels for bf16 operands: the reference for the rungs from "
                       "mma_bf16 on."));
  add_library("cublaslt", "cublasLt, f32", Precision::F32,
              LAB_TEXT("The library's heuristics choose the kernel before timing starts, so only "
                       "its launch is timed."));
  add_library("cublaslt", "cublasLt, tf32", Precision::TF32,
              LAB_TEXT("The heuristics choose among kernels that round f32 operands to tf32."));
  add_library(
      "cublaslt", "cublasLt, bf16", Precision::BF16,
      LAB_TEXT("The heuristics choose among bf16 kernels, including those with clusters and TMA."));
  return all;
}

void check_shapes(const GpuProduct& product) {
  const auto& [m, n, k, a, lda, b, ldb, c, ldc] = product;
  if (m >= 0 && n >= 0 && k >= 0 && lda >= k && ldb >= n && ldc >= n) return;
  throw Error(Errc::InvalidArgument,
              trf("matmul: [{},{}] times [{},{}] with lda {}, ldb {}, ldc {}: sizes must not be "
                  "negative, and a leading dimension must not be smaller than its row",
                  m, k, k, n, lda, ldb, ldc));
}

std::optional<std::string> missing_capability(const GpuProperties& gpu, int major, int minor,
                                              bool exact_capability) {
  const int needs = major * 10 + minor;
  const int has = gpu.compute_major * 10 + gpu.compute_minor;
  if (has == needs || (has > needs && !exact_capability)) return std::nullopt;
  return exact_capability ? trf("needs compute capability {}.{} exactly; {} has {}.{}", major,
                                minor, gpu.name, gpu.compute_major, gpu.compute_minor)
                          : trf("needs compute capability {}.{}; {} has {}.{}", major, minor,
                                gpu.name, gpu.compute_major, gpu.compute_minor);
}

std::optional<std::string> refusal(const CudaRung& rung, const GpuProduct& product,
                                   const GpuProperties& gpu) {
  if (auto why =
          missing_capability(gpu, rung.compute_major, rung.compute_minor, rung.exact_capability)) {
    return why;
  }
  if (rung.operands == Operands::VectorAligned &&
      !is_vector_aligned(product, rung.tiling.element_bytes)) {
    return trf(
        "copies 16 bytes at a time: lda {}, ldb {} and N {} must be multiples of {}, ldc {} of 4, "
        "and A, B and C must be aligned to 16 bytes",
        product.lda, product.ldb, product.n, 16 / rung.tiling.element_bytes, product.ldc);
  }
  for (const std::int64_t side : {product.m, product.n, product.k}) {
    if (side > kLongestSide) return trf("supports up to {} per side, not {}", kLongestSide, side);
  }
  const int shared_bytes = rung.tiling.shared_bytes();
  if (shared_bytes > gpu.shared_bytes_per_block) {
    return trf("needs {} bytes of shared memory per block; {} has {}", shared_bytes, gpu.name,
               gpu.shared_bytes_per_block);
  }
  const std::int64_t blocks = blocks_of(rung.tiling, product.m, product.n);
  if (blocks > kMaxBlocks) {
    return trf("would need {} blocks; one launch has at most {}", blocks, kMaxBlocks);
  }
  return std::nullopt;
}

}  // namespace

std::span<const CudaRung> cuda_ladder() {
  return kLadder;
}

RungInfo info_of(const CudaRung& rung) {
  return {{}, rung.name, rung.title, rung.sentence, false, {rung.precision}};
}

std::span<const RungInfo> cuda_rungs() {
  static const std::vector<RungInfo> kRungs = all_rungs();
  return kRungs;
}

const CudaRung* own_rung(const RungInfo& rung) {
  const auto found = std::find_if(kLadder.begin(), kLadder.end(),
                                  [&](const CudaRung& own) { return own.name == rung.name; });
  return found == kLadder.end() ? nullptr : &*found;
}

std::optional<std::string> unsupported(const RungInfo& rung, const GpuProduct& product,
                                       const GpuProperties& gpu) {
  check_shapes(product);
  if (const CudaRung* own = own_rung(rung)) return refusal(*own, product, gpu);
  // tf32 and bf16 tensor cores require compute capability 8.0.
  if (rung.takes.front() == Precision::F32) return std::nullopt;
  return missing_capability(gpu, 8, 0, false);
}

std::string cuda_matmul::describe_stalled_wait(std::uint32_t note) {
  if (note == 0) return {};
  constexpr const char* kNames[] = {"full", "empty", "weights", "?"};
  return trf("the wait for barrier \"{}\" in block {} of a wgmma kernel timed out",
             kNames[note >> 29 & 3], note & 0x1fffffffU);
}

}  // namespace lab
