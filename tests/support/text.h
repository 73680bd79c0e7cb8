#pragma once
// Questions that tests ask of messages and printed text.
#include <string>
#include <string_view>

namespace lab::test {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace lab::test
