#include "compute/core/fields/field.h"

#include <fmt/format.h>

#include <cctype>

namespace lab {
namespace {

std::string name_of(const RequestField& field) {
  std::string name = *field.name != '\0' ? field.name : field.label;
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
  return fmt::format("{} is {}{}{}; it must be {}", name_of(field), value,
                     *field.unit == '\0' ? "" : " ", field.unit, range.text());
}

}  // namespace

bool Range::holds(double value) const {
  const bool above = ends == Ends::NotMin ? value > least : value >= least;
  const bool below = ends == Ends::NotMax ? value < most : value <= most;
  return above && below;
}

std::string Range::text() const {
  std::string text = fmt::format("{} {}", ends == Ends::NotMin ? "above" : "from", least);
  if (most < kNoMost) text += fmt::format(" {} {}", ends == Ends::NotMax ? "to below" : "to", most);
  return text;
}

std::string range_fault(const RequestField& field, double value) {
  return fault(field, value);
}

std::string range_fault(const RequestField& field, std::int64_t value) {
  return fault(field, value);
}

}  // namespace lab
