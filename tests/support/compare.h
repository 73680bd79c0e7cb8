#pragma once
// Comparison of results with float64 references.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lab::test {

// |got - want| <= atol + rtol * |want| for every element; NaN in either fails. The message names
// the worst element.
::testing::AssertionResult all_close(std::span<const float> got, std::span<const double> want,
                                     double rtol, double atol);

// Norm of the difference over the norm of `want`, in the Euclidean sense.
double relative_error(std::span<const float> got, std::span<const double> want);

// Deterministic test inputs: whole numbers in [-8, 8] (FP32 sums stay exact), and uniform in [-1,
// 1).
std::vector<float> small_integers(std::int64_t n, std::uint32_t seed);
std::vector<float> uniform_values(std::int64_t n, std::uint32_t seed);
std::vector<double> to_double(std::span<const float> values);

}  // namespace lab::test
