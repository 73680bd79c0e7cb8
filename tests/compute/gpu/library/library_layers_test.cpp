// The order, arguments and lifetimes of the calls of cuDNN and cuBLAS, with fakes that check them.
// Results are tested in tests/compute/gpu/cuda/layers, and trainings in tests/compute/train.
#include "compute/gpu/library/library_layers.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compute/gpu/emulator/device/emulated_gpus.h"
#include "tests/compute/gpu/emulator/device/emulated_gpu.h"
#include "tests/support/errors.h"
#include "tests/support/fake_layer_libraries/fake_libraries.h"

namespace lab::test {
namespace {

constexpr std::int64_t kRoom_bytes = std::int64_t{64} << 20;

// A convolution of 2 images, whose arrays are in the memory of a GPU.
class LibraryCallsTest : public ::testing::Test {
 protected:
  LibraryCallsTest() {
    fill(x_, 1);
    fill(weight_, 0.5F);
  }
  ~LibraryCallsTest() override {
    for (GpuFloats* one : {&x_, &weight_, &y_, &workspace_}) one->release();
    gpus_.reset();
    EXPECT_EQ(fake_.live_handles(), handles_at_end_);
    EXPECT_EQ(fake_.live_descriptors(), 0);
  }

  void fill(GpuFloats& array, float value) {
    const std::vector<float> values(kCount, value);
    array.write(values, stream());
    stream().synchronise();
  }
  GpuStream& stream() { return gpu_.main_stream(); }
  GpuLayers& layers() { return gpu_.library_layers(); }

  GpuConvolution convolution(std::int64_t images = 2) {
    GpuConvolution c{.images = images,
                     .in_h = 4,
                     .in_w = 4,
                     .in_c = 3,
                     .out_h = 4,
                     .out_w = 4,
                     .out_c = 5,
                     .kernel = 3,
                     .padding = 1,
                     .x = x_.data(),
                     .weight = weight_.data(),
                     .y = y_.data()};
    c.workspace = workspace_.bytes();
    c.workspace_bytes = kWorkspaceFloats * 4;
    return c;
  }
  GpuConvolution linear() {
    GpuConvolution c{.images = 2,
                     .in_c = 3,
                     .out_c = 5,
                     .x = x_.data(),
                     .weight = weight_.data(),
                     .y = y_.data()};
    c.workspace = workspace_.bytes();
    c.workspace_bytes = kWorkspaceFloats * 4;
    return c;
  }
  std::string failure_of(const GpuConvolution& c, Errc code = Errc::Cuda) {
    return message_of([&] { layers().convolution_forward(c, stream()); }, code);
  }
  int searches() { return fake_.calls("cudnnGetConvolutionForwardAlgorithm_v7"); }

  static constexpr std::int64_t kCount = 512, kWorkspaceFloats = 128 << 10;

  int handles_at_end_ = 0;
  FakeLibraries fake_;
  std::unique_ptr<EmulatedGpus> gpus_ = std::make_unique<EmulatedGpus>(
      EmulatedGpuOptions{.gpus = 2,
                         .memory_bytes = kRoom_bytes,
                         .checked = true,
                         .library = fake_.maker(4 * FakeLibraries::kWorkspace_bytes)});
  GpuDevice& gpu_ = *gpus_->devices()[0];
  GpuFloats x_{gpu_, kCount}, weight_{gpu_, kCount}, y_{gpu_, kCount},
      workspace_{gpu_, kWorkspaceFloats};
};

TEST_F(LibraryCallsTest, ChooseTheFastestDeterministicAlgorithmWithinTheWorkspace) {
  layers().convolution_forward(convolution(4), stream());
  EXPECT_EQ(fake_.algorithms(), (std::set<int>{3}));
  // Beyond the limit; F32 also excludes algorithm 2, which would use tensor cores.
  layers().convolution_forward(convolution(5), stream());
  EXPECT_EQ(fake_.algorithms(), (std::set<int>{1, 3}));
  GpuConvolution tf32 = convolution(5);
  tf32.precision = Precision::TF32;
  layers().convolution_forward(tf32, stream());
  EXPECT_EQ(fake_.algorithms(), (std::set<int>{1, 2, 3}));
  EXPECT_EQ(fake_.problems(), std::vector<std::string>{});
}

TEST_F(LibraryCallsTest, FitIntoASmallerWorkspaceThanAsked) {
  GpuConvolution c = convolution();
  const std::int64_t asked = layers().workspace_bytes(c);
  EXPECT_GE(asked, 2 * FakeLibraries::kWorkspace_bytes);
  c.workspace_bytes = 2 * FakeLibraries::kSmallWorkspace_bytes;
  layers().convolution_forward(c, stream());
  EXPECT_EQ(fake_.algorithms(), (std::set<int>{1}));
  c.workspace = nullptr;
  layers().convolution_forward(c, stream());
  EXPECT_EQ(fake_.algorithms(), (std::set<int>{0, 1}));
}

TEST_F(LibraryCallsTest, SearchAndCreateOncePerShape) {
  for (int i = 0; i < 3; ++i) layers().convolution_forward(convolution(), stream());
  EXPECT_EQ(searches(), 1);
  const int descriptors = fake_.live_descriptors();
  layers().convolution_forward(convolution(), stream());
  EXPECT_EQ(fake_.live_descriptors(), descriptors);
  layers().convolution_forward(convolution(1), stream());
  EXPECT_EQ(searches(), 2);
}

TEST_F(LibraryCallsTest, ReplayInAGraphWhatHasRunBefore) {
  layers().convolution_forward(convolution(), stream());
  layers().convolution_forward(linear(), stream());
  const std::vector<float> once = y_.values(stream());
  gpu_.begin_recording(stream());
  layers().convolution_forward(convolution(), stream());
  layers().convolution_forward(linear(), stream());
  const std::unique_ptr<GpuGraph> graph = gpu_.end_recording(stream());
  fill(y_, 9);
  graph->launch(stream());
  const std::vector<float> again = y_.values(stream());
  for (std::size_t i = 0; i < 2 * 4 * 4 * 5; ++i) EXPECT_EQ(again[i], once[i]) << i;
  EXPECT_EQ(fake_.problems(), std::vector<std::string>{});
}

TEST_F(LibraryCallsTest, RefuseToSearchInARecording) {
  layers().convolution_forward(convolution(), stream());
  gpu_.begin_recording(stream());
  EXPECT_NE(failure_of(convolution(1), Errc::Internal).find("run the operation once"),
            std::string::npos);
  gpu_.abandon_recording(stream());
  EXPECT_EQ(fake_.problems(), std::vector<std::string>{});
  layers().convolution_forward(convolution(1), stream());
}

TEST_F(LibraryCallsTest, FollowTheStreamOfEachCall) {
  {
    const std::unique_ptr<GpuStream> other = gpu_.make_stream();
    layers().convolution_forward(convolution(), *other);
    layers().convolution_forward(linear(), *other);
    other->synchronise();
  }
  layers().convolution_forward(convolution(), stream());  // the other stream is gone
  EXPECT_EQ(fake_.problems(), std::vector<std::string>{});
}

TEST_F(LibraryCallsTest, HaveHandlesPerGpu) {
  EXPECT_EQ(fake_.live_handles(), 0);
  layers().convolution_forward(convolution(), stream());
  EXPECT_EQ(fake_.live_handles(), 2);
  GpuDevice& other = *gpus_->devices()[1];
  GpuFloats x(other, kCount);
  other.library_layers().activation_forward(
      {.kind = GpuActivation::Relu, .count = kCount, .x = x.data()}, other.main_stream());
  EXPECT_EQ(fake_.live_handles(), 4);
  layers().convolution_forward(convolution(), stream());
  EXPECT_EQ(fake_.problems(), std::vector<std::string>{});
}

TEST_F(LibraryCallsTest, ReportTheFunctionTheSizesAndTheLibrarysWords) {
  fake_.fail("cudnnConvolutionForward", 5000);
  EXPECT_EQ(failure_of(convolution()),
            "emu:0: cudnnConvolutionForward (convolution of [2,4,4,3] to 5 channels, kernel 3, "
            "stride 1, padding 1, f32) failed: CUDNN_STATUS_SET_BY_THE_TEST (status 5000)");
  fake_.fail("cublasGemmEx", 13);
  EXPECT_EQ(failure_of(linear()),
            "emu:0: cublasGemmEx ([5,2,3], lda 3, ldb 3) failed: set by the test (status 13)");
  fake_.fail("cudnnGetConvolutionForwardAlgorithm_v7", 3000);
  EXPECT_NE(failure_of(convolution(1)).find("cudnnGetConvolutionForwardAlgorithm_v7 (convolution "),
            std::string::npos);
  fake_.fail("", 0);
  layers().convolution_forward(convolution(), stream());
}

TEST_F(LibraryCallsTest, RefuseAConvolutionWithoutAnAlgorithm) {
  fake_.fail("cudnnGetConvolutionForwardWorkspaceSize", 3000);
  EXPECT_EQ(
      failure_of(convolution(), Errc::Unsupported),
      "cudnnGetConvolutionForwardAlgorithm_v7 offers no deterministic algorithm within a "
      "workspace of 256 KiB for a convolution of [2,4,4,3] to 5 channels, kernel 3, stride 1, "
      "padding 1, f32; use a smaller batch, or choose --kernels lab");
}

TEST_F(LibraryCallsTest, ReportHandlesThatCannotBeCreated) {
  for (const char* function : {"cudnnCreate", "cublasCreate"}) {
    fake_.fail(function, 1001);
    const std::string message = failure_of(convolution());
    EXPECT_EQ(message.rfind(std::string("emu:0: ") + function + " failed: ", 0), 0U) << message;
    EXPECT_EQ(fake_.live_handles(), 0);
  }
  fake_.fail("", 0);
  layers().convolution_forward(convolution(), stream());  // a later request tries again
}

TEST_F(LibraryCallsTest, RefuseBf16) {
  GpuConvolution c = convolution();
  c.precision = Precision::BF16;
  const std::string why =
      "with cuDNN 9.19.0, cuBLAS 13.1, the lab computes in f32 and tf32; choose --dtype tf32, or "
      "--kernels lab for bf16";
  EXPECT_EQ(failure_of(c, Errc::Unsupported), why);
  EXPECT_EQ(message_of([&] { layers().workspace_bytes(c); }, Errc::Unsupported), why);
  const auto refused = [&](const auto& call) { return message_of(call, Errc::Unsupported); };
  GpuBatchNorm norm{.rows = 2, .channels = kBf16Width};
  norm.dy = {nullptr, DType::BF16};
  EXPECT_EQ(refused([&] { layers().batch_norm_forward(norm, stream()); }), why);
  EXPECT_EQ(refused([&] { layers().batch_norm_backward(norm, stream()); }), why);
  GpuAveragePool pool{.images = 1, .in_h = 1, .in_w = 1, .channels = 1};
  pool.x = {nullptr, DType::BF16};
  EXPECT_EQ(refused([&] { layers().average_pool_forward(pool, stream()); }), why);
  EXPECT_EQ(refused([&] { layers().average_pool_backward(pool, stream()); }), why);
}

TEST_F(LibraryCallsTest, DoNotDestroyTheHandlesOfALostGpu) {
  layers().convolution_forward(convolution(), stream());
  std::byte* const memory = gpu_.allocate(4, stream());
  gpu_.release(memory, stream());
  gpu_.release(memory, stream());  // ends the GPU's context
  EXPECT_FALSE(gpu_.lost().empty());
  failure_of(convolution(), Errc::DeviceLost);
  handles_at_end_ = 2;
}

// The fakes see what they are there for.
TEST_F(LibraryCallsTest, AreCheckedByTheFakes) {
  const auto problem = [&](const GpuConvolution& c) {
    const std::size_t before = fake_.problems().size();
    failure_of(c);
    return fake_.problems().size() > before ? fake_.problems().back() : std::string();
  };
  GpuConvolution c = convolution();
  c.y = const_cast<float*>(c.x.f32());
  EXPECT_EQ(problem(c), "cudnnConvolutionForward: the result overlaps an operand");
  c = convolution();
  std::vector<float> host(kCount);
  c.x = host.data();
  EXPECT_EQ(problem(c),
            "cudnnConvolutionForward: 384 bytes are not within one allocation of the GPU");
  c = convolution();
  c.workspace = reinterpret_cast<std::byte*>(y_.data());
  EXPECT_EQ(problem(c), "cudnnConvolutionForward: the result overlaps an operand");
  c = linear();
  c.workspace = nullptr;
  EXPECT_EQ(problem(c), "cublasGemmEx: a workspace of the library's own");
}

}  // namespace
}  // namespace lab::test
