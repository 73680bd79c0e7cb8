#include "compute/core/dtype.h"

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {

std::int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
    case DType::I32: return 4;
    case DType::BF16: return 2;
    case DType::I64: return 8;
    case DType::U8: return 1;
  }
  return 0;
}

const char* to_string(DType dtype) {
  switch (dtype) {
    case DType::F32: return "f32";
    case DType::BF16: return "bf16";
    case DType::I32: return "i32";
    case DType::I64: return "i64";
    case DType::U8: return "u8";
  }
  return "?";
}

DType storage_of(Precision precision) {
  return precision == Precision::BF16 ? DType::BF16 : DType::F32;
}

Precision parse_precision(std::string_view text) {
  for (const Precision p : enum_values<Precision>()) {
    if (text == to_string(p)) return p;
  }
  throw Error(Errc::Usage, trf("unknown dtype '{}'; choose f32, bf16 or tf32", text));
}

}  // namespace lab
