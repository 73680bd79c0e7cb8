// The lab's own rungs on a GPU, with their kernels linked into the test: the cases that the
// portable kernel bodies pass in the emulator, and products of many tiles.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <ostream>
#include <stdexcept>
#include <string>

#include "compute/gpu/cuda/matmul/rungs/launch.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/gpu/gpu_product.h"

namespace lab {

void PrintTo(const CudaRung& rung, std::ostream* out) {
  *out << rung.name;
}

namespace test {
namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(cudaGetErrorString(status)) + "; " +
                           cuda_matmul::describe_stall());
}

Multiply by(const CudaRung& rung) {
  return [&rung](const GpuProduct& product, GpuStream&) -> std::optional<std::string> {
    if (auto why = unsupported(info_of(rung), product, first_gpu().facts())) return why;
    check(cudaSetDevice(first_gpu().facts().device.index));
    check(cuda_matmul::load(rung));
    check(cuda_matmul::launch(rung, product, nullptr));
    check(cudaDeviceSynchronize());
    return std::nullopt;
  };
}

class CudaRungOnGpu : public ::testing::TestWithParam<CudaRung> {
 protected:
  static void expect_product(const Mnk& shape, Values values) {
    const CudaRung& rung = GetParam();
    const auto why = try_product(rung.precision, shape, 0, values, by(GetParam()));
    if (why) GTEST_SKIP() << rung.name << ": " << *why;
  }
};

TEST_P(CudaRungOnGpu, IsExactOnSmallIntegers) {
  LAB_REQUIRE_GPU();
  const CudaRung& rung = GetParam();
  const auto why = try_ragged_products(rung.precision, by(GetParam()));
  if (why) GTEST_SKIP() << rung.name << ": " << *why;
}

// A few tiles in each dimension, an odd number of them along M, the last ones partial.
TEST_P(CudaRungOnGpu, StaysWithinErrorBound) {
  LAB_REQUIRE_GPU();
  expect_product({519, 776, 1000}, Values::Uniform);
}

TEST_P(CudaRungOnGpu, RoundsOperandsToNearest) {
  LAB_REQUIRE_GPU();
  expect_product({64, 72, 64}, Values::BetweenTf32);
}

// More tiles than the GPU has SMs, so that persistent blocks process several.
TEST_P(CudaRungOnGpu, LoopsOverManyTiles) {
  LAB_REQUIRE_GPU();
  expect_product({2889, 3080, 72}, Values::SmallIntegers);
}

INSTANTIATE_TEST_SUITE_P(Ladder, CudaRungOnGpu,
                         ::testing::ValuesIn(cuda_ladder().begin(), cuda_ladder().end()),
                         [](const auto& rung) { return std::string(rung.param.name); });

}  // namespace
}  // namespace test
}  // namespace lab
