// The description of the CUDA ladder, on machines without a GPU.
#include "compute/gpu/cuda/matmul/ladder.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "compute/core/error.h"
#include "compute/gpu/cuda/matmul/stalled_wait.h"

namespace lab::test {
namespace {

GpuProperties h200() {
  GpuProperties gpu;
  gpu.name = "NVIDIA H200";
  gpu.compute_major = 9;
  gpu.multiprocessors = 132;
  gpu.shared_bytes_per_block = 232448;
  return gpu;
}

GpuProduct square(std::int64_t n) {
  return {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
}

const CudaRung& own(std::string_view name) {
  for (const CudaRung& rung : cuda_ladder()) {
    if (rung.name == name) return rung;
  }
  throw Error(Errc::NotFound, "no such rung");
}

// Returns the reason why the lab's own rung cannot compute the product.
std::optional<std::string> refused(std::string_view name, const GpuProduct& product,
                                   const GpuProperties& gpu) {
  return unsupported(info_of(own(name)), product, gpu);
}

TEST(CudaLadder, NamesAndDescribesEachRungUniquely) {
  std::set<std::pair<std::string, Precision>> names;
  std::set<std::string> own_names, titles, sentences;
  for (const RungInfo& rung : cuda_rungs()) {
    SCOPED_TRACE(rung.name);
    EXPECT_TRUE(names.insert({rung.name, rung.takes.front()}).second);
    EXPECT_TRUE(rung.library || own_names.insert(rung.name).second);
    EXPECT_TRUE(titles.insert(rung.title).second);
    EXPECT_TRUE(sentences.insert(rung.sentence).second);
    EXPECT_EQ(rung.sentence.back(), '.');
  }
  EXPECT_EQ(own_names.size(), cuda_ladder().size());
}

TEST(CudaLadder, EndsWithEachLibraryInEachPrecision) {
  const auto rungs = cuda_rungs();
  const std::size_t ours = cuda_ladder().size();
  ASSERT_EQ(rungs.size(), ours + 6);
  constexpr Precision kEach[] = {Precision::F32, Precision::TF32, Precision::BF16};
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    SCOPED_TRACE(rungs[i].title);
    EXPECT_EQ(rungs[i].library, i >= ours);
    EXPECT_EQ(own_rung(rungs[i]), i < ours ? &cuda_ladder()[i] : nullptr);
    if (i < ours) continue;
    EXPECT_EQ(rungs[i].name, i < ours + 3 ? "cublas" : "cublaslt");
    EXPECT_EQ(rungs[i].takes, std::vector{kEach[(i - ours) % 3]});
  }
}

TEST(CudaLadder, BlocksFitTheTargetGpus) {
  for (const CudaRung& rung : cuda_ladder()) {
    SCOPED_TRACE(rung.name);
    EXPECT_EQ(rung.tiling.threads() % 32, 0);
    EXPECT_LE(rung.tiling.threads(), 1024);
    const int kib = rung.compute_major < 8 ? 48 : rung.compute_major < 9 ? 99 : 226;
    EXPECT_LE(rung.tiling.shared_bytes(), kib * 1024);
  }
}

TEST(CudaLadder, LaunchesOneBlockPerTile) {
  const Tiling& tiling = own("async").tiling;
  EXPECT_EQ(tiling.threads(), 128);
  EXPECT_EQ(tiling.dynamic_bytes(), 64 * 1024);
  EXPECT_EQ(blocks_of(tiling, 129, 1), 2);
  EXPECT_EQ(blocks_of(tiling, 0, 5), 0);
}

TEST(CudaLadder, LaunchesWholeClusters) {
  const Tiling& tiling = own("wgmma_cluster").tiling;
  EXPECT_EQ(tiling.cluster, 2);
  EXPECT_EQ(blocks_of(tiling, 1, 1), 2);
  EXPECT_EQ(blocks_of(tiling, 2 * tiling.m, tiling.n), 2);
  EXPECT_EQ(blocks_of(tiling, 2 * tiling.m + 1, tiling.n + 1), 8);
  EXPECT_EQ(blocks_of(tiling, 0, 1), 0);
}

TEST(CudaLadder, SupportsSquaresOnH200) {
  for (const RungInfo& rung : cuda_rungs()) {
    EXPECT_EQ(unsupported(rung, square(8192), h200()), std::nullopt) << rung.title;
  }
}

TEST(CudaLadder, ReportsRequiredComputeCapability) {
  GpuProperties gpu = h200();
  gpu.name = "Quadro RTX 4000";
  gpu.compute_major = 7;
  gpu.compute_minor = 5;
  EXPECT_EQ(refused("async", square(64), gpu),
            "needs compute capability 8.0; Quadro RTX 4000 has 7.5");
  EXPECT_EQ(refused("warp", square(64), gpu), std::nullopt);
  for (const RungInfo& rung : cuda_rungs()) {
    if (!rung.library) continue;
    EXPECT_EQ(unsupported(rung, square(64), gpu).has_value(), rung.takes.front() != Precision::F32);
  }
}

TEST(CudaLadder, RestrictsHopperInstructionsToHopper) {
  GpuProperties gpu = h200();
  gpu.name = "NVIDIA B200";
  gpu.compute_major = 10;
  const GpuProduct args{.m = 8, .n = 8, .k = 8, .lda = 8, .ldb = 8, .ldc = 8};
  EXPECT_EQ(refused("wgmma", args, gpu),
            "needs compute capability 9.0 exactly; NVIDIA B200 has 10.0");
  EXPECT_EQ(refused("mma_bf16", args, gpu), std::nullopt);
}

TEST(CudaLadder, ReportsRowsThatTmaCannotCopy) {
  const GpuProduct args{.m = 8, .n = 8, .k = 7, .lda = 7, .ldb = 8, .ldc = 8};
  const auto why = refused("wgmma", args, h200());
  ASSERT_TRUE(why.has_value());
  EXPECT_NE(why->find("lda 7"), std::string::npos) << *why;
  EXPECT_EQ(refused("mma_bf16", args, h200()), std::nullopt);
}

TEST(CudaLadder, ReportsRequiredSharedMemory) {
  GpuProperties gpu = h200();
  gpu.shared_bytes_per_block = 49152;
  EXPECT_EQ(refused("async", square(64), gpu),
            "needs 65536 bytes of shared memory per block; NVIDIA H200 has 49152");
}

TEST(CudaLadder, ReportsSidesThatAreTooLong) {
  GpuProduct args = square(64);
  args.k = args.lda = std::int64_t{1} << 31;
  EXPECT_TRUE(refused("naive", args, h200()).has_value());
}

TEST(CudaLadder, RejectsRowsLongerThanLeadingDimension) {
  GpuProduct args = square(64);
  args.ldb = 63;
  for (const RungInfo& rung : cuda_rungs()) {
    EXPECT_THROW((void)unsupported(rung, args, h200()), Error) << rung.title;
  }
}

TEST(CudaLadder, RejectsNegativeSizes) {
  GpuProduct args = square(64);
  args.k = -1;
  EXPECT_THROW((void)refused("naive", args, h200()), Error);
}

TEST(CudaLadder, VectorizesOnlyAlignedCopies) {
  alignas(16) float numbers[32] = {};
  GpuProduct args{.m = 1,
                  .n = 4,
                  .k = 3,
                  .a = numbers,
                  .lda = 4,
                  .b = numbers,
                  .ldb = 8,
                  .c = numbers,
                  .ldc = 4};
  EXPECT_TRUE(is_vector_aligned(args, 4));
  EXPECT_FALSE(is_vector_aligned(args, 2));  // 4 bf16 elements are half a piece
  for (auto* ld : {&args.lda, &args.ldb, &args.ldc, &args.n}) {
    ++*ld;
    EXPECT_FALSE(is_vector_aligned(args, 4));
    --*ld;
  }
  args.a = numbers + 1;
  EXPECT_FALSE(is_vector_aligned(args, 4));
}

TEST(StalledWait, NamesTheBarrierAndTheBlock) {
  using namespace cuda_matmul;
  EXPECT_EQ(describe_stalled_wait(0), "");
  EXPECT_EQ(describe_stalled_wait(stalled_wait(WaitFor::Full, 0)),
            "the wait for barrier \"full\" in block 0 of a wgmma kernel timed out");
  EXPECT_EQ(describe_stalled_wait(stalled_wait(WaitFor::Empty, 0) | 131),
            "the wait for barrier \"empty\" in block 131 of a wgmma kernel timed out");
  EXPECT_EQ(describe_stalled_wait(stalled_wait(WaitFor::Weights, 5)),
            "the wait for barrier \"weights\" in block 5 of a wgmma kernel timed out");
}

}  // namespace
}  // namespace lab::test
