#include "compute/core/dtype.h"

#include <fmt/format.h>

#include "compute/core/error.h"

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

DType parse_dtype(std::string_view text) {
  for (const DType d : {DType::F32, DType::BF16, DType::I32, DType::I64, DType::U8}) {
    if (text == to_string(d)) return d;
  }
  throw Error(Errc::Usage,
              fmt::format("dtype '{}' is not known; choose f32, bf16, i32, i64 or u8", text));
}

}  // namespace lab
