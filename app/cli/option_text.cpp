#include "app/cli/option_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/cli/suggest.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

template <typename T>
bool read_all(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  return !text.empty() && failure == std::errc() && stop == end;
}

}  // namespace

std::int64_t whole_number(std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  if (!read_all(text, value) || value < min || value > max) {
    throw Error(Errc::Usage, trf("'{}' is not a whole number from {} to {}", text, min, max));
  }
  return value;
}

double real_number(std::string_view text, const Range& range) {
  double value = 0;
  if (!read_all(text, value) || !std::isfinite(value) || !range.holds(value)) {
    throw Error(Errc::Usage, trf("'{}' is not a number {}", text, range.text()));
  }
  return value;
}

std::uint64_t seed_number(std::string_view text) {
  std::uint64_t value = 0;
  if (!read_all(text, value)) {
    throw Error(Errc::Usage, trf("'{}' is not a seed; give a whole number from 0", text));
  }
  return value;
}

std::pair<int, int> window_size(std::string_view text) {
  constexpr int kSmallest = 320;
  constexpr int kLargest = 16384;
  const auto cross = text.find('x');
  int width = 0;
  int height = 0;
  const bool read = cross != std::string_view::npos && read_all(text.substr(0, cross), width) &&
                    read_all(text.substr(cross + 1), height);
  if (!read || std::min(width, height) < kSmallest || std::max(width, height) > kLargest) {
    throw Error(Errc::Usage,
                trf("'{}' is not a window size; write it as 1280x720, each side from {} to {}",
                    text, kSmallest, kLargest));
  }
  return {width, height};
}

std::size_t choice_index(std::string_view text, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    throw Error(Errc::Usage, trf("'{}' is unknown", text) + way_out(text, names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) {
      throw Error(Errc::Usage, trf("'{}' has an empty list item; remove a comma", text));
    }
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace lab::app
