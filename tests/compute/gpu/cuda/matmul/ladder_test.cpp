// What the lab says of the CUDA ladder where no GPU is.
#include "compute/gpu/cuda/matmul/ladder.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "compute/core/error.h"

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

const CudaRung& rung_of(CudaKernel kernel) {
  for (const CudaRung& rung : cuda_ladder()) {
    if (rung.kernel == kernel) return rung;
  }
  throw Error(Errc::NotFound, "no such rung");
}

TEST(CudaLadder, NamesEachRungOnceAndSaysWhatItAdds) {
  std::set<std::pair<std::string, Precision>> names;
  std::set<std::string> own, titles, sentences;
  for (const GpuRung& rung : cuda_rungs()) {
    SCOPED_TRACE(rung.name);
    EXPECT_TRUE(names.insert({rung.name, rung.precision}).second);
    EXPECT_TRUE(rung.library || own.insert(rung.name).second);
    EXPECT_TRUE(titles.insert(rung.title).second);
    EXPECT_TRUE(sentences.insert(rung.sentence).second);
    EXPECT_EQ(std::string(rung.sentence).back(), '.');
  }
  EXPECT_EQ(own.size(), static_cast<std::size_t>(kCudaKernels));
}

TEST(CudaLadder, EndsWithEachLibraryInEachPrecision) {
  const auto rungs = cuda_rungs();
  const std::size_t own = cuda_ladder().size();
  ASSERT_EQ(rungs.size(), own + 6);
  constexpr Precision kEach[] = {Precision::F32, Precision::TF32, Precision::BF16};
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    SCOPED_TRACE(rungs[i].title);
    EXPECT_EQ(rungs[i].library, i >= own);
    EXPECT_EQ(own_rung(rungs[i]), i < own ? &cuda_ladder()[i] : nullptr);
    if (i < own) continue;
    EXPECT_STREQ(rungs[i].name, i < own + 3 ? "cublas" : "cublaslt");
    EXPECT_EQ(rungs[i].precision, kEach[(i - own) % 3]);
  }
}

TEST(CudaLadder, FitsBlocksOfTheGpusItIsFor) {
  for (const CudaRung& rung : cuda_ladder()) {
    SCOPED_TRACE(rung.name);
    EXPECT_EQ(rung.tiling.threads() % 32, 0);
    EXPECT_LE(rung.tiling.threads(), 1024);
    const int kib = rung.compute_major < 8 ? 48 : rung.compute_major < 9 ? 99 : 226;
    EXPECT_LE(rung.tiling.shared_bytes(), kib * 1024);
  }
}

TEST(CudaLadder, LaunchesABlockForEachTile) {
  const CudaLaunch launch = launch_of(rung_of(CudaKernel::Async), 129, 1);
  EXPECT_EQ(launch.blocks, 2);
  EXPECT_EQ(launch.threads, 128);
  EXPECT_EQ(launch.shared_bytes, 64 * 1024);
  EXPECT_EQ(launch_of(rung_of(CudaKernel::Async), 0, 5).blocks, 0);
}

TEST(CudaLadder, LaunchesWholeClusters) {
  const CudaRung& rung = rung_of(CudaKernel::Cluster);
  EXPECT_EQ(rung.tiling.cluster, 2);
  EXPECT_EQ(launch_of(rung, 1, 1).blocks, 2);
  EXPECT_EQ(launch_of(rung, 2 * rung.tiling.m, rung.tiling.n).blocks, 2);
  EXPECT_EQ(launch_of(rung, 2 * rung.tiling.m + 1, rung.tiling.n + 1).blocks, 8);
  EXPECT_EQ(launch_of(rung, 0, 1).blocks, 0);
}

TEST(CudaLadder, TakesAllOfASquareOnAnH200) {
  for (const GpuRung& rung : cuda_rungs()) {
    EXPECT_EQ(unsupported(rung, square(8192), h200()), std::nullopt) << rung.title;
  }
}

TEST(CudaLadder, SaysWhichComputeCapabilityIsMissing) {
  GpuProperties gpu = h200();
  gpu.name = "Quadro RTX 4000";
  gpu.compute_major = 7;
  gpu.compute_minor = 5;
  EXPECT_EQ(unsupported(rung_of(CudaKernel::Async), square(64), gpu),
            "needs compute capability 8.0; Quadro RTX 4000 has 7.5");
  EXPECT_EQ(unsupported(rung_of(CudaKernel::Warp), square(64), gpu), std::nullopt);
  for (const GpuRung& rung : cuda_rungs()) {
    if (!rung.library) continue;
    EXPECT_EQ(unsupported(rung, square(64), gpu).has_value(), rung.precision != Precision::F32);
  }
}

TEST(CudaLadder, KeepsHoppersOwnInstructionsToHopper) {
  GpuProperties gpu = h200();
  gpu.name = "NVIDIA B200";
  gpu.compute_major = 10;
  const GpuProduct args{.m = 8, .n = 8, .k = 8, .lda = 8, .ldb = 8, .ldc = 8};
  EXPECT_EQ(unsupported(rung_of(CudaKernel::Wgmma), args, gpu),
            "needs compute capability 9.0 itself; NVIDIA B200 has 10.0");
  EXPECT_EQ(unsupported(rung_of(CudaKernel::Bf16), args, gpu), std::nullopt);
}

TEST(CudaLadder, SaysWhichRowsTheCopyEngineCannotTake) {
  const GpuProduct args{.m = 8, .n = 8, .k = 7, .lda = 7, .ldb = 8, .ldc = 8};
  const auto why = unsupported(rung_of(CudaKernel::Wgmma), args, h200());
  ASSERT_TRUE(why.has_value());
  EXPECT_NE(why->find("lda 7"), std::string::npos) << *why;
  EXPECT_EQ(unsupported(rung_of(CudaKernel::Bf16), args, h200()), std::nullopt);
}

TEST(CudaLadder, SaysHowMuchSharedMemoryIsMissing) {
  GpuProperties gpu = h200();
  gpu.shared_bytes_per_block = 49152;
  EXPECT_EQ(unsupported(rung_of(CudaKernel::Async), square(64), gpu),
            "needs 65536 bytes of shared memory a block; NVIDIA H200 has 49152");
}

TEST(CudaLadder, SaysThatASideIsTooLong) {
  GpuProduct args = square(64);
  args.k = args.lda = std::int64_t{1} << 31;
  EXPECT_TRUE(unsupported(rung_of(CudaKernel::Naive), args, h200()).has_value());
}

TEST(CudaLadder, RefusesRowsLongerThanTheirDistance) {
  GpuProduct args = square(64);
  args.ldb = 63;
  for (const GpuRung& rung : cuda_rungs()) {
    EXPECT_THROW((void)unsupported(rung, args, h200()), Error) << rung.title;
  }
}

TEST(CudaLadder, RefusesNegativeSizes) {
  GpuProduct args = square(64);
  args.k = -1;
  EXPECT_THROW((void)unsupported(rung_of(CudaKernel::Naive), args, h200()), Error);
}

TEST(CudaLadder, MovesWholePiecesOnlyWhereAllIsAligned) {
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
  EXPECT_TRUE(in_whole_pieces(args, 4));
  EXPECT_FALSE(in_whole_pieces(args, 2));  // 4 numbers of bf16 are half a piece
  for (auto* ld : {&args.lda, &args.ldb, &args.ldc, &args.n}) {
    ++*ld;
    EXPECT_FALSE(in_whole_pieces(args, 4));
    --*ld;
  }
  args.a = numbers + 1;
  EXPECT_FALSE(in_whole_pieces(args, 4));
}

}  // namespace
}  // namespace lab::test
