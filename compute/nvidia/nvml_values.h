#pragma once
// Answers of NVML as values or reasons.
#include "compute/nvidia/nvml_library.h"
#include "compute/types/gpu_info.h"

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

inline Maybe<PcieLink> pcie_link(const Maybe<unsigned>& generation, const Maybe<unsigned>& width) {
  if (generation && width) {
    return PcieLink{static_cast<int>(*generation), static_cast<int>(*width)};
  }
  return Maybe<PcieLink>::missing((generation ? width : generation).reason());
}

}  // namespace lab::nvml
