#include "app/cli/suggest.h"

#include <algorithm>
#include <numeric>

#include "compute/core/language.h"

namespace lab::app {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view text, std::span<const std::string> choices) {
  constexpr std::size_t kTellingLetters = 3;
  for (const std::string& choice : choices) {
    if (text.size() >= kTellingLetters && choice.compare(0, text.size(), text) == 0) return choice;
  }
  const int limit = std::max(2, static_cast<int>(text.size()) / 3);
  std::optional<std::string> best;
  int best_distance = limit + 1;
  for (const std::string& choice : choices) {
    const int distance = edit_distance(text, choice);
    // Replacing every letter does not count as similar.
    if (distance < best_distance && distance < static_cast<int>(choice.size())) {
      best = choice;
      best_distance = distance;
    }
  }
  return best;
}

std::string way_out(std::string_view text, std::span<const std::string> choices) {
  if (const auto near = nearest(text, choices)) return "; " + trf("did you mean '{}'?", *near);
  return "; " + trf("choose from {}", fmt::join(choices, ", "));
}

}  // namespace lab::app
