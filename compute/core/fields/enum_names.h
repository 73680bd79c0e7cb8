#pragma once
// Names of enum values, each declared once for the command line, JSON, saved settings and the
// window.
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

// Marks a text for the catalogs of compute/core/language.h where it cannot be translated yet; its
// value is the text itself. Defined here, since device code includes labels but not fmt.
#define LAB_TEXT(text) text

namespace lab {

struct ValueName {
  const char* name;          // on the command line and in JSON
  const char* label = name;  // in the window
};

// Specialized next to each enum. kAll names all values in order; the values must count up from 0.
template <typename E>
struct EnumNames;

template <typename E>
concept NamedEnum = std::is_enum_v<E> && requires {
  EnumNames<E>::kAll;
};

template <NamedEnum E>
constexpr std::span<const ValueName> enum_names() {
  return EnumNames<E>::kAll;
}

template <NamedEnum E>
constexpr auto enum_values() {
  std::array<E, std::size(EnumNames<E>::kAll)> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<E>(i);
  return values;
}

template <NamedEnum E>
constexpr const char* to_string(E value) {
  const auto i = static_cast<std::size_t>(value);
  return i < enum_names<E>().size() ? enum_names<E>()[i].name : "?";
}

template <NamedEnum E>
constexpr const char* label_of(E value) {
  const auto i = static_cast<std::size_t>(value);
  return i < enum_names<E>().size() ? enum_names<E>()[i].label : "?";
}

// Returns the index of `name` in `choices`, or choices.size() if it is not one of them.
constexpr std::size_t position_of(std::span<const ValueName> choices, std::string_view name) {
  std::size_t i = 0;
  while (i < choices.size() && name != choices[i].name) ++i;
  return i;
}

}  // namespace lab
