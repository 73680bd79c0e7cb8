#pragma once
// Text predicates for messages and printed output.
#include <string>
#include <string_view>

namespace lab::test {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace lab::test
