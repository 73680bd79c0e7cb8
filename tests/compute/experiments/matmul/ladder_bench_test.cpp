// The benchmark of the GPU ladder on a fake GPU: failing and slow rungs do not end it.
#include "tests/support/ladder_bench.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "tests/support/errors.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab::test {
namespace {

struct LadderBenchOnFake : ::testing::Test {
  std::shared_ptr<FakeBackend> fake = std::make_shared<FakeBackend>(1, 64 * kMiB);
  Machine machine{MachineOptions{.open_gpus = backend_opener(fake)}};
  LadderBenchOptions options{
      .seconds = 1e-4, .rounds = 1, .longest_s = 1, .shapes = {{8, 8, 8}, {16, 16, 16}}};
  std::vector<nlohmann::json> lines;

  bool run(Precision precision = Precision::F32) {
    lines.clear();
    LadderBench bench(machine.at(gpu(0)), options, [&](const std::string& json) {
      lines.push_back(nlohmann::json::parse(json));
    });
    return bench.run(precision);
  }
  std::vector<nlohmann::json> all(const std::string& type) const {
    std::vector<nlohmann::json> found;
    for (const auto& line : lines) {
      if (line["type"] == type) found.push_back(line);
    }
    return found;
  }
};

TEST_F(LadderBenchOnFake, TimesEachRungOfThePrecision) {
  EXPECT_TRUE(run());
  EXPECT_EQ(all("bench").size(), 20U);
  EXPECT_EQ(lines.size(), 20U);
  EXPECT_NEAR(lines[0]["share_of_library"].get<double>(), 1, 1e-6);
  EXPECT_TRUE(run(Precision::TF32));
  EXPECT_EQ(all("bench").size(), 8U);
}

TEST_F(LadderBenchOnFake, AWrongRungDoesNotHideTheOthers) {
  fake->gpu(0).matmul().wrong = "naive";  // the first rung: the others agree with one another
  EXPECT_FALSE(run());
  const auto failed = all("fail");
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_EQ(failed[1]["kernel"], "naive");
  EXPECT_EQ(failed[1]["n"], 16);
  EXPECT_NE(failed[1]["reason"].get<std::string>().find("the median of all rungs is"),
            std::string::npos);
  EXPECT_EQ(all("bench").size(), 18U);
}

TEST_F(LadderBenchOnFake, AFailedCallFailsItsRungOnly) {
  fake->gpu(0).faults.fails = "matmul";  // fails once
  EXPECT_FALSE(run());
  ASSERT_EQ(all("fail").size(), 1U);
  EXPECT_EQ(all("bench").size(), 19U);
}

TEST_F(LadderBenchOnFake, ACallThatFailsWhileItIsTimedFailsItsRungOnly) {
  fake->gpu(0).faults.fails = "matmul";
  fake->gpu(0).faults.fails_after = 12;  // of ten rungs
  EXPECT_FALSE(run());
  ASSERT_EQ(all("fail").size(), 1U);
  EXPECT_EQ(all("bench").size(), 19U);
}

TEST_F(LadderBenchOnFake, ALostGpuEndsTheBenchmark) {
  fake->gpu(0).faults.loses = "matmul";
  EXPECT_NE(message_of([&] { run(); }, Errc::DeviceLost), "");
}

TEST_F(LadderBenchOnFake, SkipsByPredictedTime) {
  fake->gpu(0).costs.call_s = 0;
  fake->gpu(0).costs.flop_per_s = 1e6;  // 1 ms and 8 ms
  options.longest_s = 5e-3;
  EXPECT_TRUE(run());
  EXPECT_EQ(all("bench").size(), 10U);
  const auto skipped = all("skip");
  ASSERT_EQ(skipped.size(), 10U);
  EXPECT_EQ(skipped[0]["what"], "naive in f32 at 16x16x16");
  EXPECT_EQ(skipped[0]["reason"],
            "predicted to take 0.00819 s per product, at the 1.00 MFLOP/s measured at 8x8x8; the "
            "limit is 0.005 s");
}

}  // namespace
}  // namespace lab::test
