#pragma once
// Answers of NVML as values or reasons.
#include <string>

#include "compute/core/events/gpu_info.h"
#include "compute/gpu/nvml/nvml_library.h"

namespace lab::nvml {

// The last argument of `function`, which it fills, or why it does not.
template <typename Value, typename F, typename... In>
Maybe<Value> value_of(const F& function, In... in) {
  Value value{};
  const int code = function(in..., &value);
  if (code != kSuccess) return Maybe<Value>::missing(function.reason(code));
  return value;
}

inline Maybe<double> real(const Maybe<unsigned>& value, double factor = 1) {
  if (!value) return Maybe<double>::missing(value.reason());
  return *value * factor;
}

inline Maybe<int> whole(const Maybe<unsigned>& value) {
  if (!value) return Maybe<int>::missing(value.reason());
  return static_cast<int>(*value);
}

inline Maybe<bool> switched_on(const Maybe<unsigned>& value) {
  if (!value) return Maybe<bool>::missing(value.reason());
  return *value != 0;
}

// The name of a number of NVML's; `name` gives an empty one for a number it does not know.
template <typename Name>
Maybe<std::string> named(const Maybe<unsigned>& number, const Name& name) {
  if (!number) return Maybe<std::string>::missing(number.reason());
  std::string known = name(*number);
  if (known.empty()) {
    return Maybe<std::string>::missing("the lab does not know number " + std::to_string(*number));
  }
  return known;
}

inline Maybe<PcieLink> pcie_link(const Maybe<unsigned>& generation, const Maybe<unsigned>& width) {
  if (generation && width) {
    return PcieLink{static_cast<int>(*generation), static_cast<int>(*width)};
  }
  return Maybe<PcieLink>::missing((generation ? width : generation).reason());
}

}  // namespace lab::nvml
