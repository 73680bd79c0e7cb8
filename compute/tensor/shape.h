#pragma once
// Sizes of a tensor, outermost first.
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

using Shape = std::vector<std::int64_t>;

// Product of the sizes, 1 for a scalar shape {}. Throws Error(InvalidArgument) for a negative size
// or a product past 2^62.
std::int64_t count(const Shape& shape);

// "[2,3]", "[]".
std::string to_string(const Shape& shape);

}  // namespace lab
