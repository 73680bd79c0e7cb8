#include "compute/experiments/matmul/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/tensor/random.h"
#include "compute/tensor/tensor.h"

namespace lab {
namespace {

constexpr std::int64_t kAllUpTo = 4'000'000;  // multiplications
constexpr std::uint32_t kSamples = 1500;
constexpr double kUnitRoundoff = 0x1p-24;

double gamma(std::int64_t terms) {
  const double ku = static_cast<double>(terms) * kUnitRoundoff;
  return ku / (1 - ku);
}

double value_of(float x) {
  return x;
}

double value_of(std::uint16_t bits) {
  return to_float(Bf16{bits});
}

}  // namespace

MatmulReference::MatmulReference(const GemmArgs& args, const std::function<bool()>& cancelled,
                                 const MatmulRounding& rounding)
    : rounding_(rounding) {
  expect_all(args, cancelled);
}

MatmulReference::MatmulReference(const Bf16GemmArgs& args, const std::function<bool()>& cancelled,
                                 const MatmulRounding& rounding)
    : rounding_(rounding) {
  expect_all(args, cancelled);
}

template <class Args>
void MatmulReference::expect_all(const Args& args, const std::function<bool()>& cancelled) {
  if (args.m == 0 || args.n == 0) return;
  if (args.m * args.n * std::max<std::int64_t>(args.k, 1) <= kAllUpTo) {
    expected_.reserve(static_cast<std::size_t>(args.m * args.n));
    for (std::int64_t i = 0; i < args.m; ++i) {
      for (std::int64_t j = 0; j < args.n; ++j) expect(args, i, j);
    }
    return;
  }
  for (const std::int64_t i : {std::int64_t{0}, args.m / 2, args.m - 1}) {
    for (const std::int64_t j : {std::int64_t{0}, args.n / 2, args.n - 1}) expect(args, i, j);
  }
  const RandomStream choice{.seed = 1, .stream = 0};
  const auto rows = static_cast<std::uint32_t>(args.m);
  const auto cols = static_cast<std::uint32_t>(args.n);
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    if (s % 64 == 0 && cancelled && cancelled()) return;
    const std::int64_t i = choice.below(2 * s, rows);
    const std::int64_t j = choice.below(2 * s + 1, cols);
    expect(args, i, j);
    if (s % 8 == 0) expect(args, args.m - 1, j);
    if (s % 8 == 1) expect(args, i, args.n - 1);
  }
}

template <class Args>
void MatmulReference::expect(const Args& args, std::int64_t row, std::int64_t col) {
  double value = 0, magnitude = 0, squares = 0;
  for (std::int64_t p = 0; p < args.k; ++p) {
    const double term = value_of(args.a[row * args.lda + p]) * value_of(args.b[p * args.ldb + col]);
    value += term;
    magnitude += std::abs(term);
    squares += term * term;
  }
  const double rounded = rounding_.factor * (2 + rounding_.factor);  // of a product of two operands
  const double terms = rounding_.sums * gamma(args.k);
  expected_.push_back(
      {row, col, value, (rounded + terms + rounded * terms) * magnitude, std::sqrt(squares)});
}

template <class Args>
void MatmulReference::poison(const Args& args) {
  for (std::int64_t i = 0; i < args.m; ++i) {
    std::fill_n(args.c + i * args.ldc, args.n, std::numeric_limits<float>::quiet_NaN());
  }
}

template <class Args>
MatmulCheck MatmulReference::check(const Args& args) const {
  for (std::int64_t i = 0; i < args.m; ++i) {
    const float* c = args.c + i * args.ldc;
    const float* bad = std::find_if(c, c + args.n, [](float x) { return !std::isfinite(x); });
    if (bad != c + args.n) return {false, std::numeric_limits<double>::infinity(), i, bad - c};
  }
  MatmulCheck result{.ok = true};
  for (const Expected& e : expected_) {
    const double error = std::abs(args.c[e.row * args.ldc + e.col] - e.value);
    if (error == 0) continue;
    const double share = e.bound > 0 ? error / e.bound : std::numeric_limits<double>::infinity();
    if (share > result.max_error) result = {share <= 1, share, e.row, e.col};
  }
  result.typical_error = typical_error(args);
  result.ok = result.ok && result.typical_error <= 1;
  return result;
}

template <class Args>
double MatmulReference::typical_error(const Args& args) const {
  constexpr double kMostOfUnit = 1.6;  // 0.4 is usual
  constexpr std::int64_t kFewestTerms = 64, kFewestElements = 64;
  if (rounding_.factor > 0 || rounding_.sums > 1) return 0;
  if (args.k < kFewestTerms || elements() < kFewestElements) return 0;
  constexpr double kMostVariance = 4;  // about 1 if signs are random, K of equal signs
  double squares = 0, values = 0;
  std::int64_t count = 0;
  for (const Expected& e : expected_) {
    if (e.deviation == 0) continue;
    const double error = (args.c[e.row * args.ldc + e.col] - e.value) / e.deviation;
    squares += error * error;
    values += e.value * e.value / (e.deviation * e.deviation);
    ++count;
  }
  if (count == 0 || values > kMostVariance * static_cast<double>(count)) return 0;
  const double explained = kMostOfUnit * kUnitRoundoff * std::sqrt(static_cast<double>(args.k));
  return std::sqrt(squares / static_cast<double>(count)) / explained;
}

template void MatmulReference::poison(const GemmArgs&);
template void MatmulReference::poison(const Bf16GemmArgs&);
template MatmulCheck MatmulReference::check(const GemmArgs&) const;
template MatmulCheck MatmulReference::check(const Bf16GemmArgs&) const;

}  // namespace lab
