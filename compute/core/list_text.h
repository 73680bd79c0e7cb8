#pragma once
// A list as a part of a sentence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "compute/core/language.h"

namespace lab {

// "1, 2 and 4"
inline std::string list_text(const std::vector<std::string>& items) {
  if (items.size() < 2) return items.empty() ? "" : items.front();
  const std::vector<std::string> head(items.begin(), items.end() - 1);
  return trf("{} and {}", fmt::join(head, tr(", ")), items.back());
}

}  // namespace lab
