// An error that ends the GPU's context: the GPU is lost, and the program continues.
#include <gtest/gtest.h>

#include <cstdlib>

#include "compute/gpu/cuda/matmul/stalled_wait.h"
#include "compute/tensor/tensor.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/gpu/illegal_write.h"
#include "tests/gpu/stalled_wait.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

// Returns 0 on success; the process has no usable GPU afterwards.
int lose_the_gpu() {
  DeviceContext& context = test::gpu_machine().at(gpu());
  DeviceContext& host = test::gpu_machine().at(cpu());
  const Tensor x = ones(context, {4});
  context.gpu()->main_stream().synchronise();
  test::write_illegal_address();
  const std::string sentence = test::message_of(
      [&] {
        for (int i = 0; i < 1000; ++i) norm(x);
      },
      Errc::DeviceLost);
  EXPECT_NE(sentence.find("cuda:0 is lost: "), std::string::npos) << sentence;
  EXPECT_EQ(context.gpu()->lost(), sentence);
  EXPECT_EQ(test::message_of([&] { zeros(context, {1}); }, Errc::DeviceLost), sentence);
  EXPECT_EQ(preview(ones(host, {2})), "1, 1");
  return ::testing::Test::HasFailure() ? 1 : 0;
}

TEST(LostGpuDeathTest, IsReportedAndTheProgramContinues) {
  LAB_REQUIRE_GPU();
  // The fault occurs in a freshly started process, because a context does not survive a fork.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(lose_the_gpu()), ::testing::ExitedWithCode(0), "");
}

TEST(StalledWaitDeathTest, EndsTheKernelAndNamesTheBarrier) {
  LAB_REQUIRE_GPU();
  if (const int major = test::gpu_machine().at(gpu()).gpu()->facts().compute_major; major != 9) {
    GTEST_SKIP() << "mbarriers with wgmma need compute capability 9.0; the GPU has " << major;
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto stall = [] {
    EXPECT_EQ(cuda_matmul::describe_stalled_wait(test::stall_at_a_barrier()),
              "the wait for barrier \"empty\" in block 0 of a wgmma kernel timed out");
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(stall(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lab
