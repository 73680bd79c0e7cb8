#include "tests/support/compare.h"

#include <cmath>
#include <random>

namespace lab::test {

::testing::AssertionResult all_close(std::span<const float> got, std::span<const double> want,
                                     double rtol, double atol) {
  if (got.size() != want.size()) {
    return ::testing::AssertionFailure() << got.size() << " values, expected " << want.size();
  }
  std::size_t worst = 0, bad = 0;
  double worst_excess = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double excess = std::abs(double{got[i]} - want[i]) - (atol + rtol * std::abs(want[i]));
    if (excess <= 0) continue;
    ++bad;
    if (!(excess <= worst_excess))
      worst = i, worst_excess = excess;  // NaN counts as the worst
                                         // element
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) || std::isnan(want[i])) {
      return ::testing::AssertionFailure() << "NaN at " << i << ": " << got[i] << " vs " << want[i];
    }
  }
  if (bad == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << bad << " of " << got.size() << " differ; worst at "
                                       << worst << ": " << got[worst] << " vs " << want[worst];
}

double relative_error(std::span<const float> got, std::span<const double> want) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += want[i] * want[i];
  }
  return std::sqrt(difference) / (norm > 0 ? std::sqrt(norm) : 1);
}

std::vector<float> small_integers(std::int64_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 17) - 8);
  return values;
}

std::vector<float> uniform_values(std::int64_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values) v = static_cast<float>(random()) * 0x1p-31F - 1.0F;
  return values;
}

std::vector<double> to_double(std::span<const float> values) {
  return {values.begin(), values.end()};
}

}  // namespace lab::test
