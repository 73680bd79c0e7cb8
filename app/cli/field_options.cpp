#include "app/cli/field_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compute/core/units.h"

namespace lab::app {
namespace {

std::vector<std::string> names_of(std::span<const ValueName> choices) {
  std::vector<std::string> names;
  for (const ValueName& choice : choices) names.emplace_back(choice.name);
  return names;
}

// Clamps the infinite limits of a field without a range.
std::int64_t whole(double end) {
  constexpr double kMost = 9e18;
  return static_cast<std::int64_t>(std::clamp(end, -kMost, kMost));
}

}  // namespace

std::size_t read_choice(std::span<const ValueName> choices, const std::string& text) {
  return choice_index(text, names_of(choices));
}

void read_text(const RequestField& field, const std::string& text, int& value) {
  std::int64_t wide = 0;
  read_text(field, text, wide);
  value = static_cast<int>(wide);
}

void read_text(const RequestField& field, const std::string& text, std::int64_t& value) {
  if (field.scale != 1) {
    value = std::llround(real_number(text, field.range) * field.scale);
  } else {
    value = whole_number(text, whole(field.range.least), whole(field.range.most));
  }
}

void read_text(const RequestField&, const std::string& text, std::uint64_t& value) {
  value = seed_number(text);
}

void read_text(const RequestField& field, const std::string& text, double& value) {
  value = real_number(text, field.range) * field.scale;
}

void read_text(const RequestField& field, const std::string& text, std::string& value) {
  if (!field.choices.empty()) read_choice(field.choices, text);
  value = text;
}

void read_text(const RequestField&, const std::string& text, Device& value) {
  value = parse_device(text);
}

void read_text(const RequestField&, const std::string& text, std::vector<Device>& values) {
  values = parse_devices(text);
}

void read_text(const RequestField&, const std::string& text, std::vector<std::int64_t>& values) {
  values = parse_counts(text);
}

std::string placeholder_of(const RequestField& field, std::span<const ValueName> choices) {
  if (*field.placeholder != '\0') return field.placeholder;
  return fmt::format("{}", fmt::join(names_of(choices), "|"));
}

std::string help_of(const RequestField& field, std::span<const ValueName> choices) {
  const std::string_view help = field.help;
  std::vector<std::string> names = names_of(choices);
  if (help.ends_with(':')) return fmt::format("{} {}", help, fmt::join(names, ", "));
  if (!help.empty() || names.empty()) return field.help;
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace lab::app
