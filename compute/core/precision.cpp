#include "compute/core/precision.h"

#include <fmt/format.h>

#include "compute/core/error.h"

namespace lab {

DType storage_of(Precision precision) {
  return precision == Precision::BF16 ? DType::BF16 : DType::F32;
}

const char* to_string(Precision precision) {
  switch (precision) {
    case Precision::F32: return "f32";
    case Precision::BF16: return "bf16";
    case Precision::TF32: return "tf32";
  }
  return "?";
}

Precision parse_precision(std::string_view text) {
  for (const Precision p : {Precision::F32, Precision::BF16, Precision::TF32}) {
    if (text == to_string(p)) return p;
  }
  throw Error(Errc::Usage, fmt::format("dtype '{}' is not known; choose f32, bf16 or tf32", text));
}

}  // namespace lab
