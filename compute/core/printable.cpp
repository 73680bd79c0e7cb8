#include "compute/core/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace lab {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not valid UTF-8
};

// Decodes the first character of a nonempty text. Overlong forms, surrogates and codes beyond
// U+10FFFF are not valid UTF-8 (RFC 3629).
Character front(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

bool may_be_shown(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction = code == 0x61c || code == 0x200e || code == 0x200f ||
                         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !control && !separator && !direction;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most_bytes) {
  std::string shown;
  shown.reserve(std::min(text.size(), most_bytes));
  while (!text.empty()) {
    const Character next = front(text);
    const bool keep = next.bytes > 0 && may_be_shown(next.code);
    if (shown.size() + (keep ? next.bytes : 1) > most_bytes) return shown + "...";
    if (keep) {
      shown += text.substr(0, next.bytes);
    } else {
      shown += '?';
    }
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return shown;
}

std::string printable(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);
}

std::string printable(float value) {
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace lab
