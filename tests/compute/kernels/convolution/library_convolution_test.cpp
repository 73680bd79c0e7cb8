#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/kernels/gemm/onednn_threads.h"
#include "tests/compute/kernels/convolution/convolution_cases.h"
#include "tests/support/compare.h"
#include "tests/support/errors.h"
#include "tests/support/onednn_isa.h"

namespace lab {
namespace {

using simd::conv_shape;
using simd::ConvShape;

constexpr int kStages = 3;

int cases(const test::CheckOptions& options) {
  return kStages * static_cast<int>(options.shapes.size() * options.threads.size());
}

class LibraryConvolution : public ::testing::Test {
 private:
  // Cases alternate with a pool's threads, and tests with each other.
  const QuietOnednnThreads quiet_;
};

TEST_F(LibraryConvolution, MatchesFloat64OnEveryShape) {
  const test::CheckOptions options{.batches = {1, 5}, .threads = {1}};
  EXPECT_EQ(test::check_algorithm(library_convolution(), options), cases(options));
}

TEST_F(LibraryConvolution, MatchesFloat64OnSeveralThreads) {
  const test::CheckOptions options{
      .shapes = {conv_shape(7, 6, 3, 5, 3, 1, 1), conv_shape(6, 4, 32, 16, 3, 1, 0)},
      .batches = {1, 5},
      .threads = {2, 3}};
  EXPECT_EQ(test::check_algorithm(library_convolution(), options), cases(options));
}

// For large batches, the library uses Winograd where it can: for gradients, and for forward with
// many channels.
TEST_F(LibraryConvolution, MatchesFloat64ForWinogradShapes) {
  const test::CheckOptions options{
      .tolerance = 1e-5,
      .shapes = {conv_shape(9, 7, 16, 32, 3, 1, 1), conv_shape(4, 4, 32, 16, 3, 1, 1),
                 conv_shape(4, 4, 256, 16, 3, 1, 1)},
      .batches = {64, 3},
      .threads = {2}};
  EXPECT_EQ(test::check_algorithm(library_convolution(), options), cases(options));
}

TEST_F(LibraryConvolution, RoundsOperandsToBf16) {
  if (!test::onednn_takes_bf16()) GTEST_SKIP() << "oneDNN supports bf16 only with AVX-512";
  const test::CheckOptions options{.tolerance = 0.01,
                                   .norm_tolerance = 0.01,
                                   .batches = {1, 5},
                                   .threads = {1},
                                   .products = Precision::BF16};
  EXPECT_EQ(test::check_algorithm(library_convolution(), options), cases(options));
}

// bf16 represents small integers exactly, and FP32 their sums.
TEST_F(LibraryConvolution, SumsBf16ProductsInF32) {
  if (!test::onednn_takes_bf16()) GTEST_SKIP() << "oneDNN supports bf16 only with AVX-512";
  const ConvShape s = conv_shape(6, 5, 19, 16, 3, 1, 1);
  const ConvolutionCase c{.shape = s, .batch = 4, .threads = 1, .products = Precision::BF16};
  const auto x = test::small_integers(c.batch * s.in_size() + 16, 1);
  const auto weight = test::small_integers(s.weights(), 2);
  const auto bias = test::small_integers(s.out_c, 3);
  std::vector<std::byte> scratch(static_cast<std::size_t>(library_convolution().scratch_bytes(c)));
  std::vector<float> y(static_cast<std::size_t>(c.batch * s.out_size()));
  ThreadPool pool({0});
  library_convolution().forward(s,
                                {.pool = pool,
                                 .batch = c.batch,
                                 .scratch = {scratch.data(), std::ssize(scratch)},
                                 .products = c.products},
                                x.data(), weight.data(), bias.data(), y.data());
  const auto want = test::reference_forward(s, c.batch, x, weight, bias);
  EXPECT_TRUE(test::all_close(y, want.values, 0, 0));
}

// The threads of two devices call it concurrently, each with its own arrays.
TEST_F(LibraryConvolution, SupportsConcurrentCallers) {
  const ConvShape s = conv_shape(8, 8, 16, 16, 3, 1, 1);
  const ConvolutionCase c{.shape = s, .batch = 8, .threads = 1};
  const auto x = test::uniform_values(c.batch * s.in_size() + 16, 1);
  const auto weight = test::uniform_values(s.weights(), 2);
  const std::vector<float> no_bias(static_cast<std::size_t>(s.out_c), 0.0F);
  const auto want = test::reference_forward(s, c.batch, x, weight, no_bias);
  std::vector<std::vector<float>> results(3);
  const auto device = [&](std::vector<float>& y, int core) {
    ThreadPool pool({core});
    std::vector<std::byte> scratch(
        static_cast<std::size_t>(library_convolution().scratch_bytes(c)));
    y.resize(static_cast<std::size_t>(c.batch * s.out_size()));
    for (int repeat = 0; repeat < 20; ++repeat) {
      library_convolution().forward(
          s, {.pool = pool, .batch = c.batch, .scratch = {scratch.data(), std::ssize(scratch)}},
          x.data(), weight.data(), nullptr, y.data());
    }
  };
  {
    std::vector<std::jthread> devices;
    for (std::size_t i = 0; i < results.size(); ++i) {
      devices.emplace_back([&, i] { device(results[i], static_cast<int>(i)); });
    }
  }
  for (const std::vector<float>& y : results) {
    EXPECT_TRUE(test::all_close(y, want.values, 0, 1e-6 * want.magnitude));
    EXPECT_EQ(y, results[0]);
  }
}

TEST_F(LibraryConvolution, ReportsUnsupportedCases) {
  ConvolutionCase c{.shape = conv_shape(8, 8, 3, 4, 3, 1, 1), .batch = 2};
  c.shape.out_h = 99;
  const std::string what = test::message_of(
      [&] { static_cast<void>(library_convolution().scratch_bytes(c)); }, Errc::Unsupported);
  EXPECT_NE(what.find("forward of 2 images of 8x8x3 to 99x8x4, kernel 3"), std::string::npos)
      << what;
  EXPECT_NE(what.find("status"), std::string::npos) << what;
}

}  // namespace
}  // namespace lab
