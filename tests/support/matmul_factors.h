#pragma once
// Factors of matrix products for tests of kernels, and what the products must be.
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

// Nothing, one, one more and one less than a tile, several tiles of terms, whole pieces of 16
// bytes.
inline constexpr std::array kRaggedShapes = {
    Mnk{0, 3, 5},    Mnk{5, 4, 0},     Mnk{5, 8, 0},    Mnk{1, 1, 1},    Mnk{63, 65, 1},
    Mnk{64, 64, 64}, Mnk{129, 2, 257}, Mnk{33, 40, 97}, Mnk{31, 72, 30}, Mnk{7, 8, 16},
};

enum class Values { SmallIntegers, Uniform };

// A and B of one shape, with `gap` unused numbers, all NaN, after each row. T: float, or uint16_t
// for the bits of bf16.
template <class T>
struct Factors {
  Mnk shape;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::vector<T> a, b;  // end with the last row's last element
};
template <class T>
Factors<T> make_factors(const Mnk& shape, std::int64_t gap, Values values);

// C in memory: rows ldc apart, with whole 16-byte pieces before and after them. What a product must
// write is NaN, all else a number that no product gives.
class GuardedC {
 public:
  GuardedC(const Mnk& shape, std::int64_t ldc);
  static constexpr std::int64_t kGuard = 16;  // elements before the first row
  std::vector<float>& memory() { return memory_; }
  // Fails the test where an element around C has changed. The rows, ldc apart.
  std::vector<float> take() const;

 private:
  bool inside(std::int64_t i) const;
  Mnk shape_;
  std::int64_t ldc_;
  std::vector<float> memory_;
};

// The product of factors that lie at `a` and `b` as in.a and in.b do, into the memory of a
// GuardedC.
template <class T>
GpuProduct product_of(const Factors<T>& in, const T* a, const T* b, float* guarded) {
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

// Each element of C against float64: |error| <= bound_of_terms * (|A||B|); NaN fails.
template <class T>
::testing::AssertionResult within(const Factors<T>& in, const std::vector<float>& c,
                                  double bound_of_terms);

// gamma_k = k*u/(1-k*u), u = 2^-24: of FP32 sums that are rounded to nearest.
double gamma(std::int64_t terms);
// Of factors rounded to tf32 and sums that tensor cores may truncate.
double tf32_bound(std::int64_t terms);
// Of one element: of plain sums for F32, of sums that tensor cores may truncate for the others.
double bound_of(Precision precision, std::int64_t terms);

}  // namespace lab::test
