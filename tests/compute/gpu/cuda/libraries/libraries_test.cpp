// Behavior common to cuBLAS and cublasLt.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/compute/gpu/cuda/libraries/fake_library.h"
#include "tests/support/errors.h"
#include "tests/support/matmul_operands.h"
#include "tests/support/variable.h"

namespace lab::test {
namespace {

template <class T>
GpuProduct product_of(const MatmulOperands<T>& in, float* c) {
  return {.m = in.shape.m,
          .n = in.shape.n,
          .k = in.shape.k,
          .a = in.a.data(),
          .lda = in.lda,
          .b = in.b.data(),
          .ldb = in.ldb,
          .c = c,
          .ldc = in.ldc};
}

// Returns C, whose leading dimension is ldc. Fails the test if an element around C has changed.
template <class T, class Library>
std::vector<float> multiply(Library& library, Precision precision, const MatmulOperands<T>& in,
                            cudaStream_t stream = nullptr) {
  GuardedC c(in.shape, in.ldc);
  const GpuProduct product = product_of(in, c.memory().data() + GuardedC::kGuard);
  EXPECT_EQ(library.unsupported(precision, product), std::nullopt);
  library.multiply(precision, product, stream);
  return c.take();
}

// An opaque stream handle that is never dereferenced.
cudaStream_t stream_of(std::uintptr_t number) {
  return reinterpret_cast<cudaStream_t>(number);
}

template <class Library>
class Libraries : public ::testing::Test {
 protected:
  std::unique_ptr<Library> open(const std::string& path) {
    return std::make_unique<Library>(std::make_unique<HostGpu>(gpu_),
                                     std::vector<std::string>{path});
  }
  std::unique_ptr<Library> open_kind(const std::string& kind) {
    return open(fake_path<Library>(kind));
  }

  // Returns C[0] of a product of ones, which is `terms`.
  float sum(Library& library, std::int64_t terms, cudaStream_t stream = nullptr) {
    const std::vector<float> ones(static_cast<std::size_t>(terms), 1.0F);
    float c = -1;
    library.multiply(Precision::F32,
                     {.m = 1,
                      .n = 1,
                      .k = terms,
                      .a = ones.data(),
                      .lda = terms,
                      .b = ones.data(),
                      .ldb = 1,
                      .c = &c,
                      .ldc = 1},
                     stream);
    return c;
  }

  const Variable tf32_{"NVIDIA_TF32_OVERRIDE", nullptr};
  const Variable emulate_{"CUBLAS_EMULATE_SINGLE_PRECISION", nullptr};
  HostGpuState gpu_;
  FakeBlas& fake_ = fresh_fake(fake_path<Library>("new"));
};

struct LibraryNames {
  template <class Library>
  static std::string GetName(int) {
    return Names<Library>::kTitle;
  }
};
using Both = ::testing::Types<cuda::Cublas, cuda::CublasLt>;
TYPED_TEST_SUITE(Libraries, Both, LibraryNames);

TYPED_TEST(Libraries, AreExactOnSmallIntegers) {
  const auto library = this->open_kind("new");
  for (const std::int64_t gap : {0, 3}) {
    for (const Mnk& shape : kRaggedShapes) {
      SCOPED_TRACE(to_string(shape) + ", gap " + std::to_string(gap));
      const auto in = make_operands<float>(shape, gap, Values::SmallIntegers);
      for (const auto precision : {Precision::F32, Precision::TF32})
        EXPECT_TRUE(within(in, multiply(*library, precision, in), 0));
      const auto half = make_operands<std::uint16_t>(shape, gap, Values::SmallIntegers);
      EXPECT_TRUE(within(half, multiply(*library, Precision::BF16, half), 0));
    }
  }
}

TYPED_TEST(Libraries, PassThePrecisionToTheLibrary) {
  const auto library = this->open_kind("new");
  const Mnk shape{4, 8, 12};
  const auto in = make_operands<float>(shape, 0, Values::SmallIntegers);
  multiply(*library, Precision::F32, in);
  EXPECT_EQ(this->fake_.last.compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(this->fake_.last.operands, CUDA_R_32F);
  multiply(*library, Precision::TF32, in);
  EXPECT_EQ(this->fake_.last.compute, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(this->fake_.last.operands, CUDA_R_32F);
  multiply(*library, Precision::BF16, make_operands<std::uint16_t>(shape, 0, Values::Uniform));
  EXPECT_EQ(this->fake_.last.compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(this->fake_.last.operands, CUDA_R_16BF);
}

TYPED_TEST(Libraries, AreNotCalledForEmptyProducts) {
  const auto library = this->open_kind("new");
  for (const Mnk& shape : {Mnk{0, 3, 5}, Mnk{3, 0, 5}, Mnk{0, 0, 0}})
    multiply(*library, Precision::F32, make_operands<float>(shape, 2, Values::SmallIntegers));
  EXPECT_EQ(this->gpu_.clears, 0);
  const auto in = make_operands<float>({5, 4, 0}, 2, Values::SmallIntegers);
  EXPECT_TRUE(within(in, multiply(*library, Precision::F32, in), 0));
  EXPECT_EQ(this->gpu_.clears, 1);
  EXPECT_EQ(this->fake_.products, 0);
  EXPECT_EQ(this->fake_.questions, 0);
}

TYPED_TEST(Libraries, DestroyEverythingTheyCreate) {
  {
    const auto library = this->open_kind("new");
    EXPECT_EQ(this->fake_.handles, 0);
    EXPECT_EQ(library->unavailable(), std::nullopt);
    EXPECT_EQ(library->unavailable(), std::nullopt);
    EXPECT_EQ(this->fake_.handles, 1);
    EXPECT_EQ(this->sum(*library, 3), 3);
    EXPECT_EQ(this->gpu_.memory.size(), 1U);
  }
  EXPECT_EQ(this->fake_.handles, 0);
  EXPECT_EQ(this->fake_.descriptors, 0);
  EXPECT_TRUE(this->gpu_.memory.empty());
}

TYPED_TEST(Libraries, AcceptThePreviousMajorVersion) {
  fresh_fake(fake_path<TypeParam>("twelve"));
  const auto library = this->open_kind("twelve");
  EXPECT_EQ(library->unavailable(), std::nullopt);
  EXPECT_EQ(this->sum(*library, 5), 5);
}

TYPED_TEST(Libraries, ReportMissingFiles) {
  const auto library = this->open("/none/libblas.so");
  const std::string sentence =
      std::string(Names<TypeParam>::kTitle) +
      " cannot be opened: /none/libblas.so (cannot open shared object file: No such file or "
      "directory); install CUDA's libraries, or add their folder to LD_LIBRARY_PATH";
  EXPECT_EQ(library->unavailable(), sentence);
  EXPECT_EQ(library->unsupported(Precision::F32, {}), sentence);
  EXPECT_EQ(message_of([&] { this->sum(*library, 1); }, Errc::Unsupported), sentence);
}

TYPED_TEST(Libraries, RejectOtherVersions) {
  for (const auto& [kind, major] : {std::pair{"old", "11"}, std::pair{"future", "14"}}) {
    EXPECT_EQ(this->open_kind(kind)->unavailable(), fake_path<TypeParam>(kind) + " is " +
                                                        Names<TypeParam>::kTitle + " " + major +
                                                        "; device-lab works with 12 to 13");
  }
}

TYPED_TEST(Libraries, ReportMissingFunctions) {
  EXPECT_EQ(this->open_kind("partial")->unavailable(),
            fake_path<TypeParam>("partial") + " has no function " + Names<TypeParam>::kWords +
                "; device-lab works with " + Names<TypeParam>::kTitle + " 12 to 13");
}

TYPED_TEST(Libraries, AreUnavailableUntilTheyStart) {
  const auto library = this->open_kind("new");
  this->fake_.failing = Names<TypeParam>::kCreate;
  this->fake_.status = CUBLAS_STATUS_NOT_INITIALIZED;
  const std::string sentence =
      std::string(Names<TypeParam>::kCreate) + " failed: set by the test (status 1)";
  EXPECT_EQ(library->unavailable(), sentence);
  EXPECT_EQ(message_of([&] { this->sum(*library, 1); }, Errc::Cuda), sentence);
  this->fake_.failing = nullptr;
  EXPECT_EQ(library->unavailable(), std::nullopt);
  EXPECT_EQ(this->sum(*library, 2), 2);
}

TYPED_TEST(Libraries, ForwardFailedProducts) {
  const auto library = this->open_kind("new");
  this->fake_.failing = Names<TypeParam>::kMultiply;
  this->fake_.status = CUBLAS_STATUS_EXECUTION_FAILED;
  EXPECT_EQ(message_of([&] { this->sum(*library, 1); }, Errc::Cuda),
            std::string(Names<TypeParam>::kMultiply) + " failed: set by the test (status 13)");
  this->fake_.failing = nullptr;
  EXPECT_EQ(this->sum(*library, 2), 2);
}

TYPED_TEST(Libraries, DoNotCallALostGpu) {
  {
    const auto library = this->open_kind("new");
    EXPECT_EQ(this->sum(*library, 1), 1);
    this->gpu_.lost = true;
    EXPECT_EQ(message_of([&] { library->unavailable(); }, Errc::DeviceLost), "cuda:0 is lost");
    EXPECT_EQ(message_of([&] { this->sum(*library, 1); }, Errc::DeviceLost), "cuda:0 is lost");
  }
  EXPECT_EQ(this->fake_.handles, 1);  // destroying it would call the GPU
}

TYPED_TEST(Libraries, RecoverAfterOutOfMemory) {
  const auto library = this->open_kind("new");
  this->gpu_.full = true;
  EXPECT_EQ(library->unavailable(), std::nullopt);
  EXPECT_EQ(message_of([&] { this->sum(*library, 1); }, Errc::OutOfMemory), "33554432 bytes");
  EXPECT_EQ(library->workspace_bytes(), 0);
  this->gpu_.full = false;
  EXPECT_EQ(this->sum(*library, 4), 4);
}

TYPED_TEST(Libraries, UseOneWorkspacePerStream) {
  const auto library = this->open_kind("new");
  EXPECT_EQ(library->workspace_bytes(), 0);
  const auto workspace_of = [&](std::uintptr_t stream) {
    EXPECT_EQ(this->sum(*library, 1, stream_of(stream)), 1);
    EXPECT_EQ(this->fake_.last.stream, stream_of(stream));
    EXPECT_EQ(this->fake_.last.workspace_bytes, 32U << 20U);
    EXPECT_EQ(this->gpu_.memory.count(this->fake_.last.workspace), 1U);
    return this->fake_.last.workspace;
  };
  void* const first = workspace_of(1);
  void* const second = workspace_of(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(workspace_of(1), first);
  EXPECT_EQ(library->workspace_bytes(), 64LL << 20);
  workspace_of(3);
  workspace_of(4);
  EXPECT_EQ(this->gpu_.memory.size(), 4U);
  EXPECT_EQ(this->gpu_.waits, 0);
  // The maximum is reached: the new stream takes the oldest stream's memory after the GPU has
  // finished.
  EXPECT_EQ(workspace_of(5), first);
  EXPECT_EQ(this->gpu_.waits, 1);
  EXPECT_EQ(workspace_of(1), second);
  EXPECT_EQ(this->gpu_.waits, 2);
  EXPECT_EQ(this->gpu_.memory.size(), 4U);
  EXPECT_EQ(library->workspace_bytes(), 128LL << 20);
}

TYPED_TEST(Libraries, RejectEnvironmentOverrides) {
  const auto library = this->open_kind("new");
  const GpuProduct empty;
  const auto starts = [&](Precision precision, const std::string& beginning) {
    const auto why = library->unsupported(precision, empty);
    ASSERT_NE(why, std::nullopt);
    EXPECT_EQ(why->rfind(beginning, 0), 0U) << *why;
    EXPECT_EQ(message_of([&] { library->multiply(precision, empty, nullptr); }, Errc::Unsupported),
              *why);
  };
  const auto takes = [&](Precision precision) {
    EXPECT_EQ(library->unsupported(precision, empty), std::nullopt);
    library->multiply(precision, empty, nullptr);
  };
  {
    const Variable on("NVIDIA_TF32_OVERRIDE", "1");
    starts(Precision::F32, "NVIDIA_TF32_OVERRIDE=1 in the environment lets the library round f32");
    takes(Precision::TF32);
    takes(Precision::BF16);
  }
  {
    const Variable off("NVIDIA_TF32_OVERRIDE", "0");
    starts(Precision::TF32, "NVIDIA_TF32_OVERRIDE=0 in the environment turns tf32 off");
    takes(Precision::F32);
    takes(Precision::BF16);
  }
  {
    const Variable on("CUBLAS_EMULATE_SINGLE_PRECISION", "1");
    starts(Precision::F32, "CUBLAS_EMULATE_SINGLE_PRECISION=1 in the environment lets");
    takes(Precision::TF32);
  }
  const Variable off("CUBLAS_EMULATE_SINGLE_PRECISION", "0");
  takes(Precision::F32);
}

TYPED_TEST(Libraries, SupportConcurrentThreads) {
  const auto library = this->open_kind("new");
  constexpr int kThreads = 4, kProducts = 50;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 1; i <= kProducts; ++i) {
        const std::int64_t terms = i + t;
        EXPECT_EQ(this->sum(*library, terms, stream_of(static_cast<std::uintptr_t>(t + 1))), terms);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(this->fake_.products, kThreads * kProducts);
  EXPECT_EQ(this->fake_.handles, 1);
}

}  // namespace
}  // namespace lab::test
