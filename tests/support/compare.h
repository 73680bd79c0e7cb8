#pragma once
// Comparison of computed results with float64 references.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace lab::test {

// Passes if |got - want| <= atol + rtol * |want| for every element; NaN on either side fails. The
// message names the worst element.
::testing::AssertionResult all_close(std::span<const float> got, std::span<const double> want,
                                     double rtol, double atol);

// Returns ||got - want|| / ||want|| (Euclidean norm).
double relative_error(std::span<const float> got, std::span<const double> want);

// Deterministic test inputs: integers in [-8, 8], for which FP32 sums stay exact, and uniform
// values in [-1, 1).
std::vector<float> small_integers(std::int64_t n, std::uint32_t seed);
std::vector<float> uniform_values(std::int64_t n, std::uint32_t seed);
std::vector<double> to_double(std::span<const float> values);

}  // namespace lab::test
