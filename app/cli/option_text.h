#pragma once
// Values of options: read whole or refused with the reason and the way out.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/fields/field.h"

namespace lab::app {

// A whole number in [min, max]; throws Error(Usage).
std::int64_t whole_number(std::string_view text, std::int64_t min, std::int64_t max);

// A finite number in the range; throws Error(Usage).
double real_number(std::string_view text, const Range& range);

// Any 64-bit seed; throws Error(Usage).
std::uint64_t seed_number(std::string_view text);

// "1280x720"; each side 320..16384; throws Error(Usage).
std::pair<int, int> window_size(std::string_view text);

// The value that belongs to a name; throws Error(Usage) with the nearest name or all of them.
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

// The parts between commas; throws Error(Usage) for an empty one.
std::vector<std::string> comma_list(std::string_view text);

}  // namespace lab::app
