#include "compute/tensor/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {

std::int64_t count(const Shape& shape) {
  constexpr std::int64_t kMax = std::int64_t{1} << 62;
  const auto negative = [](std::int64_t n) { return n < 0; };
  if (std::any_of(shape.begin(), shape.end(), negative)) {
    throw Error(Errc::InvalidArgument, trf("shape {}: sizes cannot be negative", to_string(shape)));
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t n : shape) {
    if (n > kMax / product) {
      throw Error(Errc::InvalidArgument,
                  trf("shape {}: more than 2^62 elements; choose smaller sizes", to_string(shape)));
    }
    product *= n;
  }
  return product;
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

}  // namespace lab
