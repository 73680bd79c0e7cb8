#pragma once
// The names of an enum's values, declared once. The command line, JSON, saved settings and the
// window take them from here.
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace lab {

struct ValueName {
  const char* name;          // on the command line and in JSON
  const char* label = name;  // in the window
};

// Specialized beside each enum: kAll names its values, which count from 0, in their order.
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

// Where `name` is among the choices; their number where it is none of them.
constexpr std::size_t position_of(std::span<const ValueName> choices, std::string_view name) {
  std::size_t i = 0;
  while (i < choices.size() && name != choices[i].name) ++i;
  return i;
}

}  // namespace lab
