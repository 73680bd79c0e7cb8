#include "compute/core/precision.h"

#include <fmt/format.h>

#include "compute/core/error.h"

namespace lab {

DType storage_of(Precision precision) {
  return precision == Precision::BF16 ? DType::BF16 : DType::F32;
}

Precision parse_precision(std::string_view text) {
  for (const Precision p : enum_values<Precision>()) {
    if (text == to_string(p)) return p;
  }
  throw Error(Errc::Usage, fmt::format("dtype '{}' is not known; choose f32, bf16 or tf32", text));
}

}  // namespace lab
