#pragma once
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::cuda {

// Divides by a number that is constant in a launch, by a multiplication.
// Limits  1 <= divisor, 0 <= dividend, both below 2^31
// Source  Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994
struct Divisor {
  std::uint32_t value = 1, magic = 1, shift = 0;

  static Divisor of(std::int64_t divisor) {
    Divisor d;
    d.value = static_cast<std::uint32_t>(divisor);
    while (std::uint64_t{1} << d.shift < d.value) ++d.shift;
    const std::uint64_t above = (std::uint64_t{1} << d.shift) - d.value;
    d.magic = static_cast<std::uint32_t>((above << 32) / d.value + 1);
    return d;
  }
};

struct Quotient {
  int quotient, remainder;
};

LAB_DEVICE Quotient divide(int dividend, const Divisor& by) {
  const auto n = static_cast<std::uint32_t>(dividend);
  const auto high = static_cast<std::uint32_t>(std::uint64_t{n} * by.magic >> 32);
  const std::uint32_t quotient = (high + n) >> by.shift;
  return {static_cast<int>(quotient), static_cast<int>(n - quotient * by.value)};
}

}  // namespace lab::cuda
