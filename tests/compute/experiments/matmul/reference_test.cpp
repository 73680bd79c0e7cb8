#include "compute/experiments/matmul/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compute/kernels/gemm/gemm.h"
#include "tests/support/compare.h"

namespace lab {
namespace {

// C = A*B with n rows and columns and k terms, of random numbers in [-1, 1).
struct Product {
  Product(std::int64_t n, std::int64_t k)
      : a(test::uniform_values(n * k, 1)),
        b(test::uniform_values(k * n, 2)),
        c(static_cast<std::size_t>(n * n)),
        args{.m = n,
             .n = n,
             .k = k,
             .a = a.data(),
             .lda = k,
             .b = b.data(),
             .ldb = n,
             .c = c.data(),
             .ldc = n} {
    multiply();
  }
  void multiply() const {
    ThreadPool pool({0});
    gemm(args, pool);
  }
  std::vector<float> a, b, c;
  GemmArgs args;
};

TEST(MatmulReference, ChecksSmallProductsInFull) {
  Product s(40, 40);
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
  Product s(200, 200);
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
    Product s(24, k);
    const MatmulReference reference(s.args, {});
    EXPECT_TRUE(reference.check(s.args).ok);
    EXPECT_LT(reference.check(s.args).typical_error, 0.5);
    for (std::vector<float>* operand : {&s.a, &s.b}) {
      for (float& x : *operand) x = std::ldexp(std::round(std::ldexp(x, 11)), -11);  // about tf32
    }
    s.multiply();
    const MatmulCheck check = reference.check(s.args);
    EXPECT_FALSE(check.ok);
    EXPECT_GT(check.typical_error, 5);
    EXPECT_EQ(check.max_error <= 1, k == 1024) << check.max_error;
  }
}

TEST(MatmulReference, TakesTermsOfOneSign) {
  Product s(16, 1024);
  for (std::vector<float>* operand : {&s.a, &s.b}) {
    for (float& x : *operand) x = std::abs(x);
  }
  s.multiply();
  const MatmulCheck check = MatmulReference(s.args, {}).check(s.args);
  EXPECT_TRUE(check.ok) << check.max_error;
  EXPECT_EQ(check.typical_error, 0) << "their errors grow faster";
}

TEST(MatmulReference, DetectsAnUnwrittenElement) {
  Product s(200, 200);
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
