#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "ui/plot/plot.h"

namespace lab::ui::plot {
namespace {

// RFC 4180: quoted when it holds a comma, a quote or a line break.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out.append("\"");
}

std::string named(const Axis& axis, std::string_view fallback) {
  std::string name(axis.label.empty() ? fallback : axis.label);
  const std::string_view unit = axis.unit.empty() && axis.binary ? "B" : axis.unit;
  if (!unit.empty()) name.append(" (").append(unit).append(")");
  return field(name);
}

}  // namespace

// Shortest digits that read back as the same double; NaN stays empty, as spreadsheets have it.
std::string to_csv(const Axes& axes, std::span<const Series> series) {
  std::string out = fmt::format("{},series,{},low,high\n", named(axes.x, "x"), named(axes.y, "y"));
  const auto number = [](double v) { return v == v ? fmt::format("{}", v) : std::string(); };
  for (const Series& s : series) {
    const std::string label = field(s.label);
    const std::size_t n = std::min(s.x.size(), s.y.size());
    for (std::size_t i = 0; i < n; ++i) {
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{}\n", number(s.x[i]), label,
                     number(s.y[i]), i < s.low.size() ? number(s.low[i]) : "",
                     i < s.high.size() ? number(s.high[i]) : "");
    }
  }
  return out;
}

}  // namespace lab::ui::plot
