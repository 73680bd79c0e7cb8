// Counts all calls of operator new in the program: a GEMM must not allocate once its buffers exist.
#include <gtest/gtest.h>

#include <vector>

#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_parts.h"
#include "tests/support/compare.h"
#include "tests/support/counting_new.h"

namespace lab {
namespace {

TEST(Gemm, AllocatesNothingAfterTheFirstCall) {
  ThreadPool pool({0, 0});
  const std::int64_t n = 200;
  const auto a = test::uniform_values(n * n, 1);
  const auto b = test::uniform_values(n * n, 2);
  std::vector<float> c(static_cast<std::size_t>(n * n));
  GemmArgs args{.m = n,
                .n = n,
                .k = n,
                .a = a.data(),
                .lda = n,
                .b = b.data(),
                .ldb = n,
                .c = c.data(),
                .ldc = n};
  GemmArgs many_terms = args;
  many_terms.m = many_terms.n = 10;
  many_terms.k = n * 20;
  many_terms.lda = many_terms.ldb = 10;
  many_terms.a_transposed = true;
  const auto run_all = [&](ThreadPool* threads) {
    lab_gemm(many_terms, threads, {});
    for (const bool transposed : {false, true}) {
      args.b_transposed = transposed;
      lab_gemm(args, threads, {});
    }
  };
  run_all(nullptr);  // the other thread may take all parts of the next calls: this one packs here
  run_all(&pool);

  const float* packed_a = gemm_scratch().a.at_least(1);
  const float* packed_b = gemm_scratch().b.at_least(1);
  const long before = test::allocation_count();
  run_all(&pool);
  EXPECT_EQ(test::allocation_count() - before, 0);
  EXPECT_EQ(gemm_scratch().a.at_least(1), packed_a);
  EXPECT_EQ(gemm_scratch().b.at_least(1), packed_b);
}

}  // namespace
}  // namespace lab
