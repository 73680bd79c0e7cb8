#pragma once
// Operands of matrix products for kernel tests, and the expected products.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/gpu/gpu_matmul.h"

namespace lab::test {

struct Mnk {
  std::int64_t m = 0, n = 0, k = 0;
};
std::string to_string(const Mnk& shape);

// Covers empty shapes, single elements, a tile plus or minus one, several tiles along K, and whole
// 16-byte vectors.
inline constexpr std::array kRaggedShapes = {
    Mnk{0, 3, 5},    Mnk{5, 4, 0},     Mnk{5, 8, 0},    Mnk{1, 1, 1},    Mnk{63, 65, 1},
    Mnk{64, 64, 64}, Mnk{129, 2, 257}, Mnk{33, 40, 97}, Mnk{31, 72, 30}, Mnk{7, 8, 16},
};

enum class Values {
  SmallIntegers,
  Uniform,
  // All 1 + 3/4096, which tf32 rounds to 1 + 4/4096. Cut off to 1 in both operands, they give sums
  // beyond the error bound.
  BetweenTf32,
};

// A and B of one shape, with `gap` unused NaN elements after each row. T: float, or uint16_t for
// the bits of bf16.
template <class T>
struct MatmulOperands {
  Mnk shape;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::vector<T> a, b;  // end at the last element of the last row
};
template <class T>
MatmulOperands<T> make_operands(const Mnk& shape, std::int64_t gap, Values values);

// C in memory: rows ldc apart, with guard elements in whole 16-byte vectors before and after them.
// Elements that the product must write start as NaN, all others as a value that no product yields.
class GuardedC {
 public:
  GuardedC(const Mnk& shape, std::int64_t ldc);
  static constexpr std::int64_t kGuard = 16;  // elements before the first row
  std::vector<float>& memory() { return memory_; }
  // Returns the rows, ldc apart. Fails the test if an element outside C has changed.
  std::vector<float> take() const;

 private:
  bool inside(std::int64_t i) const;
  Mnk shape_;
  std::int64_t ldc_;
  std::vector<float> memory_;
};

// Describes the product of `in` with its operands at addresses `a` and `b`, stored into the memory
// of a GuardedC.
template <class T>
GpuProduct product_of(const MatmulOperands<T>& in, const T* a, const T* b, float* guarded) {
  return {.m = in.shape.m,
          .n = in.shape.n,
          .k = in.shape.k,
          .a = a,
          .lda = in.lda,
          .b = b,
          .ldb = in.ldb,
          .c = guarded + GuardedC::kGuard,
          .ldc = in.ldc};
}

// Compares each element of C with float64: |error| <= bound_of_terms * (|A||B|); NaN fails.
template <class T>
::testing::AssertionResult within(const MatmulOperands<T>& in, const std::vector<float>& c,
                                  double bound_of_terms);

// gamma_k = k*u/(1-k*u), u = 2^-24: the bound for FP32 sums rounded to nearest.
double gamma(std::int64_t terms);
// Bound for operands rounded to tf32 and sums that tensor cores may truncate.
double tf32_bound(std::int64_t terms);
// Bound for one element: round-to-nearest sums for F32, sums that tensor cores may truncate for the
// other precisions.
double bound_of(Precision precision, std::int64_t terms);

}  // namespace lab::test
