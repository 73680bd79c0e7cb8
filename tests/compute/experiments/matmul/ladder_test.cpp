#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/experiments/matmul/reference.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/peak.h"
#include "compute/machine/machine.h"
#include "compute/tensor/tensor.h"
#include "tests/support/compare.h"
#include "tests/support/onednn_isa.h"

namespace lab {
namespace {

struct Mnk {
  std::int64_t m, n, k;
};

// Compares all of C with float64 after run(). The columns beyond C hold 77.
template <typename Args, typename Run>
void expect_right_and_inside(const Args& g, bool integers, const Run& run) {
  const MatmulReference reference(g, {});
  MatmulReference::poison(g);
  run();
  const MatmulCheck check = reference.check(g);
  EXPECT_TRUE(check.ok) << "error " << check.max_error << " at " << check.row << "," << check.col;
  EXPECT_TRUE(!integers || check.max_error == 0) << check.max_error;
  for (std::int64_t i = 0; i < g.m; ++i) {
    EXPECT_EQ(g.c[i * g.ldc + g.n], 77) << "wrote past row " << i;
  }
}

// Runs a rung on strided, misaligned matrices and compares all of C with float64.
void expect_right(const Rung& rung, Mnk s, bool integers, ThreadPool& pool) {
  SCOPED_TRACE(std::string(rung.name) + " " + std::to_string(s.m) + "x" + std::to_string(s.n) +
               "x" + std::to_string(s.k));
  const auto make = integers ? test::small_integers : test::uniform_values;
  GemmArgs g{.m = s.m, .n = s.n, .k = s.k, .lda = s.k + 3, .ldb = s.n + 1, .ldc = s.n + 2};
  const auto a = make(s.m * g.lda + 1, 1);
  const auto b = make(s.k * g.ldb + 3, 2);
  std::vector<float> c(static_cast<std::size_t>(s.m * g.ldc + 1), 77);
  g.a = a.data() + 1;
  g.b = b.data() + 3;
  g.c = c.data() + 1;
  expect_right_and_inside(g, integers, [&] { rung.run(g, pool, {}); });
}

TEST(Ladder, EveryRungIsExactOnSmallIntegers) {
  ThreadPool pool({0, 0});
  for (const Rung& rung : cpu_ladder()) {
    for (const Mnk s : {Mnk{0, 3, 5}, Mnk{3, 0, 5}, Mnk{5, 4, 0}, Mnk{1, 1, 1}, Mnk{63, 65, 1},
                        Mnk{64, 64, 64}, Mnk{129, 2, 257}, Mnk{37, 600, 140}}) {
      expect_right(rung, s, true, pool);
    }
  }
}

TEST(Ladder, EveryRungStaysWithinTheBound) {
  ThreadPool pool({0, 0});
  for (const Rung& rung : cpu_ladder()) {
    expect_right(rung, {65, 70, 300}, false, pool);
    expect_right(rung, {150, 150, 200}, false, pool);  // larger than the sizes checked in full
  }
}

TEST(Ladder, LabRungsStopOnRequest) {
  ThreadPool pool({0, 0});
  std::stop_source stop;
  stop.request_stop();
  const auto a = test::uniform_values(200 * 200, 1);
  for (const Rung& rung : cpu_ladder()) {
    if (rung.library || std::string(rung.name) == "parallel") continue;
    std::vector<float> c(200 * 200, 77);
    rung.run({.m = 200,
              .n = 200,
              .k = 200,
              .a = a.data(),
              .lda = 200,
              .b = a.data(),
              .ldb = 200,
              .c = c.data(),
              .ldc = 200},
             pool, stop.get_token());
    EXPECT_TRUE(c.back() == 77 || c.back() == 0) << rung.name;
  }
}

TEST(Ladder, NamesAreUniqueAndExplained) {
  std::set<std::string> names;
  Machine machine;
  const auto rungs = matmul_rungs(machine.at(cpu()));
  ASSERT_EQ(rungs.size(), 8U);
  for (const RungInfo& r : rungs) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_FALSE(r.title.empty());
    EXPECT_EQ(r.sentence.back(), '.');
  }
  EXPECT_TRUE(names.contains(kBestCpuRung));
  EXPECT_TRUE(rungs[6].library && rungs[7].library);
}

// The same as expect_right(), with bf16 operands.
void expect_right_bf16(const Rung& rung, Mnk s, bool integers, ThreadPool& pool) {
  SCOPED_TRACE(std::string(rung.name) + " " + std::to_string(s.m) + "x" + std::to_string(s.n) +
               "x" + std::to_string(s.k));
  const auto make = integers ? test::small_integers : test::uniform_values;
  Bf16GemmArgs g{.m = s.m, .n = s.n, .k = s.k, .lda = s.k + 3, .ldb = s.n + 1, .ldc = s.n + 2};
  std::vector<std::uint16_t> a, b;
  for (const float x : make(s.m * g.lda + 1, 1)) a.push_back(to_bf16(x).bits);
  for (const float x : make(s.k * g.ldb + 3, 2)) b.push_back(to_bf16(x).bits);
  std::vector<float> c(static_cast<std::size_t>(s.m * g.ldc + 1), 77);
  g.a = a.data() + 1;
  g.b = b.data() + 3;
  g.c = c.data() + 1;
  expect_right_and_inside(g, integers, [&] { rung.run_bf16(g, pool, {}); });
}

TEST(Ladder, EveryBf16RungIsCorrect) {
  ThreadPool pool({0, 0});
  for (const Rung& rung : cpu_ladder()) {
    if (rung.run_bf16 == nullptr || (rung.library && !test::onednn_takes_bf16())) continue;
    for (const Mnk s : {Mnk{0, 3, 5}, Mnk{3, 0, 5}, Mnk{5, 4, 0}, Mnk{1, 1, 1}, Mnk{63, 65, 1},
                        Mnk{64, 64, 64}, Mnk{129, 2, 257}, Mnk{37, 600, 140}}) {
      expect_right_bf16(rung, s, true, pool);
    }
    expect_right_bf16(rung, {65, 70, 301}, false, pool);
    expect_right_bf16(rung, {150, 150, 200}, false, pool);
  }
}

TEST(Ladder, ReportsWhichRungsSupportBf16) {
  Machine machine;
  std::set<std::string> names;
  for (const RungInfo& r : matmul_rungs(machine.at(cpu()))) {
    EXPECT_TRUE(takes(r, Precision::F32));
    EXPECT_FALSE(takes(r, Precision::TF32));
    if (takes(r, Precision::BF16)) names.insert(r.name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"packed", "parallel", "onednn"}));
}

TEST(GemmLibraries, OneDnnRoundsToBf16) {
  ThreadPool pool({0, 0}), one_thread({0});
  const float up = 1.0F + 0x1.8p-8F;                 // rounds to 1 + 2^-7
  const std::vector<float> a = {up, 2, 3, 4, 5, 6};  // 3x2, or 2x3 transposed
  const std::vector<float> b = {1, 0, 2, 1, 1, 1};   // 2x3 transposed to 3x2
  for (const Kernels kernels : {Kernels::Lab, Kernels::Library}) {
    if (kernels == Kernels::Library && !test::onednn_takes_bf16()) continue;
    std::vector<float> c = {10, 10, 10, 10};
    const GemmArgs g{.m = 2,
                     .n = 2,
                     .k = 3,
                     .a = a.data(),
                     .lda = 2,
                     .b = b.data(),
                     .ldb = 3,
                     .c = c.data(),
                     .ldc = 2,
                     .a_transposed = true,
                     .b_transposed = true,
                     .accumulate = true,
                     .products = Precision::BF16};
    gemm(g, pool, kernels);
    const float one = 0x1p-7F;
    EXPECT_EQ(c, (std::vector<float>{21 + one, 19 + one, 24, 22}));
    gemm(g, one_thread, kernels);
    EXPECT_EQ(c, (std::vector<float>{32 + 2 * one, 28 + 2 * one, 38, 34}));
  }
}

TEST(GemmLibraries, OneDnnSupportsTransposesAndAccumulates) {
  ThreadPool pool({0, 0}), one_thread({0});
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};  // 3x2, or 2x3 transposed
  const std::vector<float> b = {1, 0, 2, 1, 1, 1};  // 2x3 transposed to 3x2
  std::vector<float> c = {10, 10, 10, 10};
  const GemmArgs g{.m = 2,
                   .n = 2,
                   .k = 3,
                   .a = a.data(),
                   .lda = 2,
                   .b = b.data(),
                   .ldb = 3,
                   .c = c.data(),
                   .ldc = 2,
                   .a_transposed = true,
                   .b_transposed = true,
                   .accumulate = true};
  gemm(g, pool, Kernels::Library);
  // A^T = [[1,3,5],[2,4,6]], B^T columns (1,0,2) and (1,1,1)
  EXPECT_EQ(c, (std::vector<float>{21, 19, 24, 22}));
  gemm(g, one_thread, Kernels::Library);
  EXPECT_EQ(c, (std::vector<float>{32, 28, 38, 34}));
}

TEST(Peak, CountsItsOperations) {
  float result = 0;
  const double once = fma_loop(1, 0.25F, &result);
  EXPECT_GT(once, 0);
  EXPECT_TRUE(std::isfinite(result));
  EXPECT_DOUBLE_EQ(fma_loop(1000, 0.25F, &result), 1000 * once);
  EXPECT_TRUE(std::isfinite(result));
  ThreadPool pool({0, 0});
  const PeakSample peak = measure_peak(cpu(), &pool, {.budget_s = 0.02});
  EXPECT_EQ(peak.threads, 2);
  EXPECT_GT(peak.gflops, 0);
  EXPECT_GT(peak.time.n, 0);
}

}  // namespace
}  // namespace lab
