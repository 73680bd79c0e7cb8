#include "compute/experiments/matmul/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compute/kernels/gemm/gemm.h"
#include "tests/support/compare.h"

namespace lab {
namespace {

struct Square {
  explicit Square(std::int64_t n)
      : a(test::uniform_values(n * n, 1)), b(test::uniform_values(n * n, 2)), c(a.size()) {
    args = {.m = n,
            .n = n,
            .k = n,
            .a = a.data(),
            .lda = n,
            .b = b.data(),
            .ldb = n,
            .c = c.data(),
            .ldc = n};
    ThreadPool pool({0});
    gemm(args, pool);
  }
  std::vector<float> a, b, c;
  GemmArgs args;
};

TEST(MatmulReference, ChecksSmallProductsInFull) {
  Square s(40);
  const MatmulReference reference(s.args, {});
  EXPECT_EQ(reference.elements(), 1600);
  EXPECT_TRUE(reference.check(s.args).ok);
  s.c[17 * 40 + 5] += 1e-3F;
  const MatmulCheck check = reference.check(s.args);
  EXPECT_FALSE(check.ok);
  EXPECT_GT(check.max_error, 1);
  EXPECT_EQ(check.row, 17);
  EXPECT_EQ(check.col, 5);
}

TEST(MatmulReference, SamplesLargeProductsIncludingCorners) {
  Square s(200);
  const MatmulReference reference(s.args, {});
  EXPECT_GT(reference.elements(), 1000);
  EXPECT_LT(reference.elements(), 3000);
  EXPECT_TRUE(reference.check(s.args).ok);
  s.c.back() += 1e-2F;
  EXPECT_FALSE(reference.check(s.args).ok);
}

// With 1024 terms such errors stay within the bound of the worst case.
TEST(MatmulReference, DetectsRoundedOperands) {
  for (const std::int64_t k : {64, 300, 1024}) {
    SCOPED_TRACE(k);
    const std::int64_t n = 24;
    std::vector<float> a = test::uniform_values(n * k, 1), b = test::uniform_values(k * n, 2),
                       c(n * n);
    const GemmArgs args{.m = n,
                        .n = n,
                        .k = k,
                        .a = a.data(),
                        .lda = k,
                        .b = b.data(),
                        .ldb = n,
                        .c = c.data(),
                        .ldc = n};
    const MatmulReference reference(args, {});
    ThreadPool pool({0});
    gemm(args, pool);
    EXPECT_TRUE(reference.check(args).ok);
    EXPECT_LT(reference.check(args).typical_error, 0.5);
    for (std::vector<float>* operand : {&a, &b}) {
      for (float& x : *operand) x = std::ldexp(std::round(std::ldexp(x, 11)), -11);  // about tf32
    }
    gemm(args, pool);
    const MatmulCheck check = reference.check(args);
    EXPECT_FALSE(check.ok);
    EXPECT_GT(check.typical_error, 5);
    EXPECT_EQ(check.max_error <= 1, k == 1024) << check.max_error;
  }
}

TEST(MatmulReference, TakesTermsOfOneSign) {
  const std::int64_t n = 16, k = 1024;
  std::vector<float> a = test::uniform_values(n * k, 1), b = test::uniform_values(k * n, 2),
                     c(n * n);
  for (std::vector<float>* operand : {&a, &b}) {
    for (float& x : *operand) x = std::abs(x);
  }
  const GemmArgs args{.m = n,
                      .n = n,
                      .k = k,
                      .a = a.data(),
                      .lda = k,
                      .b = b.data(),
                      .ldb = n,
                      .c = c.data(),
                      .ldc = n};
  ThreadPool pool({0});
  gemm(args, pool);
  const MatmulCheck check = MatmulReference(args, {}).check(args);
  EXPECT_TRUE(check.ok) << check.max_error;
  EXPECT_EQ(check.typical_error, 0) << "their errors grow faster";
}

TEST(MatmulReference, DetectsAnUnwrittenElement) {
  Square s(200);
  const MatmulReference reference(s.args, {});
  const std::vector<float> right = s.c;
  MatmulReference::poison(s.args);
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (i != 12345) s.c[i] = right[i];
  }
  const MatmulCheck check = reference.check(s.args);
  EXPECT_FALSE(check.ok);
  EXPECT_EQ(check.row * 200 + check.col, 12345);
}

}  // namespace
}  // namespace lab
