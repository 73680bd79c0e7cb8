#pragma once
// Parses option values strictly; errors state the reason and the fix.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/fields/field.h"

namespace lab::app {

// Parses an integer in [min, max]; throws Error(Usage).
std::int64_t whole_number(std::string_view text, std::int64_t min, std::int64_t max);

// Parses a finite number in the range; throws Error(Usage).
double real_number(std::string_view text, const Range& range);

// Parses any 64-bit seed; throws Error(Usage).
std::uint64_t seed_number(std::string_view text);

// Parses "1280x720", each side in 320..16384; throws Error(Usage).
std::pair<int, int> window_size(std::string_view text);

// Returns the value of a named choice; throws Error(Usage) with the nearest name or all names.
template <typename T>
struct Choice {
  const char* name;
  T value;
};
std::size_t choice_index(std::string_view text, const std::vector<std::string>& names);
template <typename T>
T choose(std::string_view text, std::initializer_list<Choice<T>> choices) {
  std::vector<std::string> names;
  for (const Choice<T>& c : choices) names.emplace_back(c.name);
  return (choices.begin() + choice_index(text, names))->value;
}

// Splits at commas; throws Error(Usage) if a part is empty.
std::vector<std::string> comma_list(std::string_view text);

}  // namespace lab::app
