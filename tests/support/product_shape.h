#pragma once
// The shape of a matrix product in a benchmark's command line.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace lab::test {

// [M,K] times [K,N].
struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
};

// Parses "MxNxK", sizes >= 1; returns zeros if `word` is not a shape.
inline ProductShape parse_product_shape(std::string_view word) {
  ProductShape shape;
  const char* at = word.data();
  const char* const end = at + word.size();
  for (std::int64_t* size : {&shape.m, &shape.n, &shape.k}) {
    const auto [next, fault] = std::from_chars(at, end, *size);
    if (fault != std::errc() || *size < 1 || (next < end && *next != 'x')) return {};
    at = std::min(next + 1, end);
  }
  return at == end ? shape : ProductShape{};
}

}  // namespace lab::test
