#include "tests/support/matmul_operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "tests/support/compare.h"

namespace lab::test {
namespace {

constexpr float kGuardValue = -12345.0F;  // no product yields it

double value_of(float x) {
  return x;
}
double value_of(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Truncates instead of rounding; the exact operand values do not matter.
template <class T>
T operand(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    return static_cast<T>(std::bit_cast<std::uint32_t>(x) >> 16);
  }
}

std::vector<float> draw(std::int64_t count, Values values, std::uint32_t seed) {
  switch (values) {
    case Values::SmallIntegers: return small_integers(count, seed);
    case Values::Uniform: return uniform_values(count, seed);
    case Values::BetweenTf32: break;
  }
  return std::vector<float>(static_cast<std::size_t>(count), 1.0F + 3.0F / 4096);
}

template <class T>
std::vector<T> matrix(std::int64_t rows, std::int64_t cols, std::int64_t ld, Values values,
                      std::uint32_t seed) {
  const std::int64_t count = rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
  const auto drawn = draw(count, values, seed);
  std::vector<T> made(drawn.size());
  std::transform(drawn.begin(), drawn.end(), made.begin(), operand<T>);
  for (std::int64_t i = 0; i < count; ++i) {  // elements that must not be used are NaN
    if (i % ld >= cols) made[static_cast<std::size_t>(i)] = operand<T>(std::nanf(""));
  }
  return made;
}

}  // namespace

std::string to_string(const Mnk& shape) {
  return "m " + std::to_string(shape.m) + " n " + std::to_string(shape.n) + " k " +
         std::to_string(shape.k);
}

template <class T>
MatmulOperands<T> make_operands(const Mnk& shape, std::int64_t gap, Values values) {
  MatmulOperands<T> in{.shape = shape,
                       .lda = shape.k + gap,
                       .ldb = shape.n + gap,
                       .ldc = shape.n + gap,
                       .a = {},
                       .b = {}};
  in.a = matrix<T>(shape.m, shape.k, in.lda, values, 7);
  in.b = matrix<T>(shape.k, shape.n, in.ldb, values, 8);
  return in;
}

GuardedC::GuardedC(const Mnk& shape, std::int64_t ldc)
    : shape_(shape), ldc_(ldc), memory_(static_cast<std::size_t>(shape.m * ldc + 2 * kGuard)) {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    memory_[i] = inside(static_cast<std::int64_t>(i)) ? std::nanf("") : kGuardValue;
  }
}

bool GuardedC::inside(std::int64_t i) const {
  const std::int64_t at = i - kGuard;
  return at >= 0 && at < shape_.m * ldc_ && at % ldc_ < shape_.n;
}

std::vector<float> GuardedC::take() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (inside(static_cast<std::int64_t>(i))) continue;
    EXPECT_EQ(memory_[i], kGuardValue)
        << "element " << static_cast<std::int64_t>(i) - kGuard << " around C";
  }
  return {memory_.begin() + kGuard, memory_.end() - kGuard};
}

template <class T>
::testing::AssertionResult within(const MatmulOperands<T>& in, const std::vector<float>& c,
                                  double bound_of_terms) {
  const auto columns = static_cast<std::size_t>(in.shape.n);
  std::vector<double> want(columns), magnitude(columns);
  for (std::int64_t i = 0; i < in.shape.m; ++i) {
    std::fill(want.begin(), want.end(), 0.0);
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
    for (std::int64_t p = 0; p < in.shape.k; ++p) {
      const double a = value_of(in.a[static_cast<std::size_t>(i * in.lda + p)]);
      const T* const b = in.b.data() + p * in.ldb;
      for (std::size_t j = 0; j < columns; ++j) {
        const double term = a * value_of(b[j]);
        want[j] += term;
        magnitude[j] += std::abs(term);
      }
    }
    for (std::size_t j = 0; j < columns; ++j) {
      const float got = c[static_cast<std::size_t>(i * in.ldc) + j];
      if (!(std::abs(got - want[j]) <= bound_of_terms * magnitude[j])) {  // NaN fails
        return ::testing::AssertionFailure()
               << "C[" << i << "," << j << "] is " << got << ", not " << want[j] << " within "
               << bound_of_terms * magnitude[j];
      }
    }
  }
  return ::testing::AssertionSuccess();
}

double gamma(std::int64_t terms) {
  const double ku = static_cast<double>(terms) * 0x1p-24;
  return ku / (1 - ku);
}

double tf32_bound(std::int64_t terms) {
  constexpr double kRounding = 0x1p-11;
  return 2 * kRounding + kRounding * kRounding + 2 * gamma(terms);
}

double bound_of(Precision precision, std::int64_t terms) {
  switch (precision) {
    case Precision::F32: return gamma(terms);
    case Precision::TF32: return tf32_bound(terms);
    case Precision::BF16: return 2 * gamma(terms);
  }
  return 0;
}

template MatmulOperands<float> make_operands(const Mnk&, std::int64_t, Values);
template MatmulOperands<std::uint16_t> make_operands(const Mnk&, std::int64_t, Values);
template ::testing::AssertionResult within(const MatmulOperands<float>&, const std::vector<float>&,
                                           double);
template ::testing::AssertionResult within(const MatmulOperands<std::uint16_t>&,
                                           const std::vector<float>&, double);

}  // namespace lab::test
