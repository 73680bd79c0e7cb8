#pragma once
// Spread of repeated results, such as the test accuracies of several seeds.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lab {

struct Spread {
  std::int64_t n = 0;
  double mean = 0;
  double deviation = 0;  // of the sample (n - 1); 0 for a single value
  double least = 0, most = 0;
  // Standard error of the mean.
  double error() const;
};
// Zeros for no values.
Spread spread_of(std::span<const double> values);

// "0.804 ± 0.100"; with `unit` "x": "1.55x ± 0.04".
std::string mean_text(const Spread& spread, std::string_view unit = {});

}  // namespace lab
