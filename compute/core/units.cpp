#include "compute/core/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"

namespace lab {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr std::array<Suffix, 14> kByteSuffixes = {{{"", 1},
                                                   {"B", 1},
                                                   {"KiB", 1024.0},
                                                   {"K", 1024.0},
                                                   {"MiB", 1048576.0},
                                                   {"M", 1048576.0},
                                                   {"GiB", 1073741824.0},
                                                   {"G", 1073741824.0},
                                                   {"kB", 1e3},
                                                   {"KB", 1e3},
                                                   {"MB", 1e6},
                                                   {"GB", 1e9},
                                                   {"TiB", 1099511627776.0},
                                                   {"TB", 1e12}}};

std::int64_t parse_count(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end || value <= 0) {
    throw Error(Errc::Usage, trf("size '{}' is not a positive whole number", text));
  }
  return value;
}

std::vector<std::int64_t> parse_list(std::string_view text,
                                     const std::function<std::int64_t(std::string_view)>& parse) {
  std::vector<std::int64_t> values;
  if (const auto dots = text.find(".."); dots != std::string_view::npos) {
    const std::int64_t first = parse(trimmed(text.substr(0, dots)));
    const std::int64_t last = parse(trimmed(text.substr(dots + 2)));
    if (first > last) {
      throw Error(Errc::Usage,
                  trf("range '{}' is descending; write the smaller bound first", text));
    }
    for (std::int64_t v = first; v < last; v *= 2) {
      values.push_back(v);
      if (v > last / 2) break;
    }
    values.push_back(last);
    return values;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse(trimmed(text.substr(begin, end - begin))));
    begin = end + 1;
  }
  return values;
}

std::string three_digits(double value) {
  const double a = std::abs(value);
  return fmt::format("{:.{}f}", value, a < 9.995 ? 2 : a < 99.95 ? 1 : 0);
}

constexpr std::array<std::string_view, 5> kBinaryUnits = {"B", "KiB", "MiB", "GiB", "TiB"};

// A size in the largest unit of which it has at least one.
struct BinaryAmount {
  double value = 0;
  std::string_view unit;
};

BinaryAmount binary_amount(std::int64_t bytes) {
  double value = static_cast<double>(bytes);
  if (std::abs(value) < 1024) return {value, kBinaryUnits[0]};
  std::size_t i = 0;
  while (std::abs(value) >= 1023.5 && i + 1 < kBinaryUnits.size()) value /= 1024, ++i;
  return {value, kBinaryUnits[i]};
}

}  // namespace

std::int64_t parse_bytes(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc() && value > 0 && std::isfinite(value)) {
    const std::string_view suffix =
        trimmed({parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)});
    for (const Suffix& s : kByteSuffixes) {
      const double bytes = value * s.factor;
      if (suffix == s.text && bytes >= 1 && bytes < 9e18) return static_cast<std::int64_t>(bytes);
    }
  }
  throw Error(Errc::Usage,
              trf("size '{}' is not a number of bytes; write 4096, 64KiB or 1GiB", text));
}

std::vector<std::int64_t> parse_byte_sizes(std::string_view text) {
  return parse_list(text, parse_bytes);
}

std::vector<std::int64_t> parse_counts(std::string_view text) {
  return parse_list(text, parse_count);
}

std::string format_si(double value, std::string_view unit) {
  const auto with_unit = [&](std::string_view number, std::string_view prefix) {
    return prefix.empty() && unit.empty() ? std::string(number)
                                          : fmt::format("{} {}{}", number, prefix, unit);
  };
  if (value == 0) return with_unit("0", "");
  if (!std::isfinite(value)) return with_unit("N/A", "");
  constexpr std::array<std::string_view, 9> kPrefixes = {"p", "n", "µ", "m", "",
                                                         "k", "M", "G", "T"};
  std::size_t prefix = 4;
  double v = value;
  while (std::abs(v) >= 999.5 && prefix + 1 < kPrefixes.size()) v /= 1000, ++prefix;
  while (std::abs(v) < 0.9995 && prefix > 0) v *= 1000, --prefix;
  return with_unit(three_digits(v), kPrefixes[prefix]);
}

std::string format_gflops(double gflops) {
  return format_si(gflops * 1e9, "FLOP/s");
}

std::string format_gb_per_s(double gb_per_s) {
  return format_si(gb_per_s * 1e9, "B/s");
}

std::string format_bytes(std::int64_t bytes) {
  const BinaryAmount amount = binary_amount(bytes);
  if (amount.unit == kBinaryUnits[0]) return fmt::format("{} B", bytes);
  return fmt::format("{} {}", three_digits(amount.value), amount.unit);
}

std::array<std::string, 2> format_bytes_apart(std::int64_t a, std::int64_t b) {
  std::array<std::string, 2> texts = {format_bytes(a), format_bytes(b)};
  for (int digits = 2; a != b && texts[0] == texts[1] && digits <= 4; ++digits) {
    for (const std::size_t i : {0U, 1U}) {
      const BinaryAmount amount = binary_amount(i == 0 ? a : b);
      texts[i] = fmt::format("{:.{}f} {}", amount.value, digits, amount.unit);
    }
  }
  if (a != b && texts[0] == texts[1]) {
    const std::size_t larger = a > b ? 0 : 1;
    texts[1 - larger] = format_bytes(std::min(a, b));
    texts[larger] = fmt::format("{} + {}", texts[1 - larger], format_bytes(std::abs(a - b)));
  }
  return texts;
}

std::string group_digits(std::string number) {
  constexpr std::size_t kLeast = 5, kGroup = 3;
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(number.find_first_not_of("0123456789", first), number.size());
  if (end - first < kLeast) return number;
  for (std::size_t i = end - kGroup; i > first; i -= std::min(i - first, kGroup)) {
    number.insert(i, ",");
  }
  return number;
}

std::string format_seconds(double seconds) {
  if (seconds < 60) return format_si(seconds, "s");
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace lab
