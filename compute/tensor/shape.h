#pragma once
// Sizes of a tensor, outermost dimension first.
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

using Shape = std::vector<std::int64_t>;

// Product of the sizes; 1 for the scalar shape {}. Throws Error(Errc::InvalidArgument) if a size is
// negative or the product exceeds 2^62.
std::int64_t count(const Shape& shape);

// Formats a shape as "[2,3]"; the scalar shape as "[]".
std::string to_string(const Shape& shape);

}  // namespace lab
