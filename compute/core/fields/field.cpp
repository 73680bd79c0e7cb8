#include "compute/core/fields/field.h"

#include <fmt/format.h>

#include <cctype>

#include "compute/core/language.h"

namespace lab {
namespace {

std::string name_of(const RequestField& field) {
  std::string name = *field.name != '\0' ? tr(field.name) : tr(field.label);
  if (name.empty()) return field.key;
  name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
  return name;
}

template <typename Number>
std::string fault(const RequestField& field, Number value) {
  if (field.range.holds(static_cast<double>(value) / field.scale)) return {};
  Range range = field.range;
  range.least *= field.scale;
  range.most *= field.scale;
  const std::string found =
      *field.unit == '\0' ? fmt::format("{}", value) : fmt::format("{} {}", value, tr(field.unit));
  return trf("{} is {}; it must be {}", name_of(field), found, range.text());
}

}  // namespace

bool Range::holds(double value) const {
  const bool above = ends == Ends::NotMin ? value > least : value >= least;
  const bool below = ends == Ends::NotMax ? value < most : value <= most;
  return above && below;
}

std::string Range::text() const {
  if (most >= kNoMost) return ends == Ends::NotMin ? trf("above {}", least) : trf("from {}", least);
  switch (ends) {
    case Ends::NotMin: return trf("above {} to {}", least, most);
    case Ends::NotMax: return trf("from {} to below {}", least, most);
    case Ends::Both: break;
  }
  return trf("from {} to {}", least, most);
}

std::string range_fault(const RequestField& field, double value) {
  return fault(field, value);
}

std::string range_fault(const RequestField& field, std::int64_t value) {
  return fault(field, value);
}

}  // namespace lab
