#include "ui/model/matmul_results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/ui/events.h"
#include "ui/model/job_result.h"

namespace lab::ui {
namespace {

using test::ceilings_measured;
using test::matmul_sample;

const CeilingLine& line_named(const std::vector<CeilingLine>& lines, const std::string& label) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const CeilingLine& line) { return line.label == label; });
  EXPECT_NE(found, lines.end()) << label;
  return found == lines.end() ? lines.front() : *found;
}

TEST(CeilingLines, BandwidthsEndAtTheHighestPeak) {
  const CeilingsMeasured ceilings = ceilings_measured(cpu());
  const auto lines = ceiling_lines(ceilings, {10, 1000});
  ASSERT_EQ(lines.size(), 6u);
  const CeilingLine& memory = line_named(lines, "memory");
  EXPECT_EQ(memory.bandwidth, &ceilings.bandwidth[3]);
  EXPECT_EQ(memory.compute, nullptr);
  EXPECT_NEAR(memory.x.back(), 12.5, 1e-9);
  EXPECT_NEAR(memory.y.back(), 500, 1e-6);
  for (std::size_t i = 0; i < memory.x.size(); ++i)
    EXPECT_NEAR(memory.y[i] / memory.x[i], 40, 1e-9);
  const CeilingLine& one = line_named(lines, "FMA f32, 1 thread");
  EXPECT_NEAR(one.x.front(), 0.25, 1e-9);
  EXPECT_EQ(one.y.front(), 250);
  EXPECT_EQ(one.y.back(), 250);
  EXPECT_GT(one.x.back(), 1000) << "beyond what was measured";
  EXPECT_LT(line_named(lines, "L1").x.front(), 0.5) << "left of the first ridge";
  EXPECT_TRUE(std::is_sorted(one.x.begin(), one.x.end()));
}

TEST(CeilingLines, AcceptsMissingParts) {
  EXPECT_TRUE(ceiling_lines({}, {}).empty());
  CeilingsMeasured compute = ceilings_measured(cpu());
  compute.bandwidth.clear();
  const auto flat = ceiling_lines(compute, {5});
  ASSERT_EQ(flat.size(), 2u);
  EXPECT_LT(flat[0].x.front(), flat[0].x.back());
  CeilingsMeasured memory = ceilings_measured(cpu());
  memory.compute.clear();
  const auto slanted = ceiling_lines(memory, {5});
  ASSERT_EQ(slanted.size(), 4u);
  EXPECT_LT(slanted[0].x.front(), slanted[0].x.back());
}

TEST(KernelPoints, UseTheIntensityOfTheirSize) {
  MatmulResults results;
  for (const int n : {96, 48}) results.add(matmul_sample(cpu(), "simd", n, n), 0);
  const KernelPoints points = kernel_points(results.kernels[0]);
  EXPECT_EQ(points.x, (Column64{8, 16}));
  EXPECT_EQ(points.y, (Column64{48, 96}));
}

TEST(LimitSentence, NamesComputeNearThePeak) {
  EXPECT_EQ(limit_sentence(matmul_sample(cpu(), "parallel", 960, 450), ceilings_measured(cpu()),
                           CacheState::Warm),
            "parallel at N = 960 is limited by compute, not by memory: L3 could feed 32.0 TFLOP/s, "
            "the multiply-add units do 500 GFLOP/s, and it reaches 90 % of that.");
}

TEST(LimitSentence, NamesMemoryBelowTheRidge) {
  EXPECT_EQ(limit_sentence(matmul_sample(cpu(), "parallel", 24, 120), ceilings_measured(cpu()),
                           CacheState::Cold),
            "parallel at N = 24 is limited by memory, not by compute: the multiply-add units do "
            "500 GFLOP/s, but memory feeds only 160 GFLOP/s, and it reaches 75 % of that.");
}

TEST(LimitSentence, ExplainsAKernelFarBelowItsRoof) {
  const CeilingsMeasured ceilings = ceilings_measured(cpu());
  const std::string slow =
      limit_sentence(matmul_sample(cpu(), "naive", 960, 2), ceilings, CacheState::Warm);
  EXPECT_NE(slow.find("it reaches 0.4 % of that; a kernel this far below"), std::string::npos)
      << slow;
  const std::string one_thread =
      limit_sentence(matmul_sample(cpu(), "packed", 960, 240), ceilings, CacheState::Warm);
  EXPECT_NE(one_thread.find("of the peak of one thread, 250 GFLOP/s, it reaches 96 %"),
            std::string::npos)
      << one_thread;
}

TEST(LimitSentence, ReportsACeilingMeasuredTooLow) {
  EXPECT_EQ(
      limit_sentence(matmul_sample(cpu(), "parallel", 960, 600), ceilings_measured(cpu()),
                     CacheState::Warm),
      "parallel at N = 960 reaches 600 GFLOP/s, above the 500 GFLOP/s of its roof: the "
      "machine was busy while the ceilings were measured, or the kernel uses units that they do "
      "not cover.");
}

TEST(LimitSentence, WorksWithPartOfTheCeilings) {
  CeilingsMeasured compute = ceilings_measured(cpu());
  compute.bandwidth.clear();
  const MatmulSample sample = matmul_sample(cpu(), "parallel", 960, 450);
  EXPECT_EQ(limit_sentence(sample, compute, CacheState::Warm),
            "parallel at N = 960: the multiply-add units do 500 GFLOP/s, and it reaches 90 % of "
            "that.");
  CeilingsMeasured memory = ceilings_measured(cpu());
  memory.compute.clear();
  EXPECT_NE(limit_sentence(sample, memory, CacheState::Warm).find("L3 can feed 32.0 TFLOP/s"),
            std::string::npos);
  EXPECT_EQ(limit_sentence(sample, {}, CacheState::Warm),
            "No ceiling is known for parallel at N = 960.");
}

TEST(MatmulResult, HasTheKernelTitleOfItsDevice) {
  const std::vector<RungInfo> rungs = {
      {.device = cpu(), .name = "naive", .title = "Three loops", .sentence = ""},
      {.device = gpu(0), .name = "naive", .title = "One thread per element", .sentence = ""}};
  for (const RungInfo& rung : rungs) {
    for (const bool live : {false, true}) {
      MatmulResults results;
      results.request.live = live;
      results.add(matmul_sample(rung.device, "naive", 64, 300), 0);
      const std::string result = result_of(results, rungs);
      EXPECT_NE(result.find("by " + rung.title + " at N = 64"), std::string::npos) << result;
    }
  }
}

}  // namespace
}  // namespace lab::ui
