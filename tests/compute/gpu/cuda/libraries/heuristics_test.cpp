// The queries that the lab sends to cublasLt's heuristics, and its use of the answers.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/compute/gpu/cuda/libraries/fake_library.h"
#include "tests/support/errors.h"
#include "tests/support/variable.h"

namespace lab::test {
namespace {

class Heuristics : public ::testing::Test {
 protected:
  // A [2,3] matrix times a [3,4] matrix, at addresses aligned to exactly 256 bytes.
  GpuProduct product() {
    return {.m = 2,
            .n = 4,
            .k = 3,
            .a = memory_ + 64,
            .lda = 3,
            .b = memory_ + 192,
            .ldb = 4,
            .c = memory_ + 320,
            .ldc = 4};
  }
  bool supports(const GpuProduct& product, Precision precision = Precision::F32) {
    return !library_.unsupported(precision, product);
  }
  void multiply(const GpuProduct& product, Precision precision = Precision::F32) {
    library_.multiply(precision, product, nullptr);
  }

  alignas(512) float memory_[512] = {};
  const Variable tf32_{"NVIDIA_TF32_OVERRIDE", nullptr};
  const Variable emulate_{"CUBLAS_EMULATE_SINGLE_PRECISION", nullptr};
  HostGpuState gpu_;
  const std::string path_ = fake_path<cuda::CublasLt>("new");
  FakeBlas& fake_ = fresh_fake(path_);
  cuda::CublasLt library_{std::make_unique<HostGpu>(gpu_), std::vector<std::string>{path_}};
};

constexpr const char* kAsk = "cublasLtMatmulAlgoGetHeuristic";

TEST_F(Heuristics, RunOncePerProduct) {
  EXPECT_TRUE(supports(product()));
  EXPECT_EQ(fake_.questions, 1);
  EXPECT_EQ(fake_.descriptors, 4);  // the operation, A, B and C
  multiply(product());
  multiply(product());
  EXPECT_EQ(fake_.questions, 1);
  EXPECT_EQ(fake_.products, 2);
}

TEST_F(Heuristics, RunAgainForOtherProducts) {
  multiply(product());
  int questions = 1;
  const auto asks = [&](const GpuProduct& other, Precision precision = Precision::F32) {
    multiply(other, precision);
    EXPECT_EQ(fake_.questions, ++questions);
    multiply(product());
    EXPECT_EQ(fake_.questions, ++questions);
    EXPECT_EQ(fake_.descriptors, 4);
  };
  asks(product(), Precision::TF32);
  asks(product(), Precision::BF16);
  for (const auto side : {&GpuProduct::m, &GpuProduct::n, &GpuProduct::k}) {
    GpuProduct other = product();
    other.*side -= 1;
    asks(other);
  }
  for (const auto ld : {&GpuProduct::lda, &GpuProduct::ldb, &GpuProduct::ldc}) {
    GpuProduct other = product();
    other.*ld += 1;
    asks(other);
  }
  for (const auto operand : {&GpuProduct::a, &GpuProduct::b}) {
    GpuProduct other = product();
    other.*operand = static_cast<const float*>(other.*operand) + 1;
    asks(other);
  }
  GpuProduct other = product();
  other.c += 1;
  asks(other);
}

TEST_F(Heuristics, ReceiveAlignmentsAndWorkspace) {
  using Alignments = decltype(fake_.alignments);
  multiply(product());
  EXPECT_EQ(fake_.alignments, (Alignments{256, 256, 256, 256}));
  EXPECT_EQ(fake_.workspace_limit, 32U << 20U);
  GpuProduct moved = product();
  moved.a = memory_ + 65;
  moved.b = memory_ + 194;
  moved.c = memory_ + 324;
  multiply(moved);
  EXPECT_EQ(fake_.alignments, (Alignments{8, 4, 16, 16}));  // the library's A is the lab's B
  moved.a = reinterpret_cast<const std::uint16_t*>(memory_) + 1;
  multiply(moved, Precision::BF16);
  EXPECT_EQ(fake_.alignments, (Alignments{8, 2, 16, 16}));
}

TEST_F(Heuristics, ReportMissingAlgorithm) {
  const std::string sentence =
      "cublasLt's heuristics have no algorithm for bf16 [2,3] times [3,4] with lda 3, ldb 4, ldc "
      "4, addresses aligned to 256, 256 and 256 bytes";
  const auto refuses = [&](const char* how) {
    SCOPED_TRACE(how);
    EXPECT_EQ(library_.unsupported(Precision::BF16, product()), sentence);
    EXPECT_EQ(message_of([&] { multiply(product(), Precision::BF16); }, Errc::Unsupported),
              sentence);
    EXPECT_EQ(fake_.products, 0);
    fake_.failing = nullptr;
    fake_.algorithms = 1;
    fake_.algorithm_state = CUBLAS_STATUS_SUCCESS;
    EXPECT_TRUE(supports(product()));  // replaces the cached query
  };
  fake_.algorithms = 0;
  refuses("an empty answer");
  fake_.algorithm_state = CUBLAS_STATUS_NOT_SUPPORTED;
  refuses("an unusable answer");
  fake_.failing = kAsk;
  fake_.status = CUBLAS_STATUS_NOT_SUPPORTED;
  refuses("a status");
}

TEST_F(Heuristics, ReportFailures) {
  for (const char* call :
       {kAsk, "cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate",
        "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute"}) {
    fake_.failing = call;
    fake_.status = CUBLAS_STATUS_INTERNAL_ERROR;
    const std::string sentence = std::string(call) + " failed: set by the test (status 14)";
    EXPECT_EQ(library_.unsupported(Precision::F32, product()), sentence);
    EXPECT_EQ(message_of([&] { multiply(product()); }, Errc::Cuda), sentence);
    EXPECT_EQ(fake_.descriptors, 0);
  }
  fake_.failing = nullptr;
  multiply(product());
  EXPECT_EQ(fake_.products, 1);
}

}  // namespace
}  // namespace lab::test
