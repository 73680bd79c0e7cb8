#pragma once
// "did you mean ...": the nearest of a list of names.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lab::app {

// The least number of insertions, deletions and replacements that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

// The nearest choice, when it is near enough to be meant.
std::optional<std::string> nearest(std::string_view text, std::span<const std::string> choices);

// "; did you mean 'x'?" or, when nothing is near, "; choose from a, b, c".
std::string way_out(std::string_view text, std::span<const std::string> choices);

}  // namespace lab::app
