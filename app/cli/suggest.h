#pragma once
// "did you mean ...": finds the nearest of a list of names.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lab::app {

// Returns the Levenshtein distance: the minimum number of insertions, deletions and replacements.
int edit_distance(std::string_view a, std::string_view b);

// Returns the nearest choice if it is close enough to be a plausible typo.
std::optional<std::string> nearest(std::string_view text, std::span<const std::string> choices);

// "; did you mean 'x'?" or, if nothing is close, "; choose from a, b, c".
std::string way_out(std::string_view text, std::span<const std::string> choices);

}  // namespace lab::app
