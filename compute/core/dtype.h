#pragma once
// Element types of tensors.
#include <cstdint>
#include <string_view>

namespace lab {

enum class DType { F32, BF16, I32, I64, U8 };

// Size of one element in bytes.
std::int64_t size_of(DType dtype);

// "f32", "bf16", "i32", "i64", "u8".
const char* to_string(DType dtype);

// The inverse of to_string; throws Error(Usage) naming the text and the choices.
DType parse_dtype(std::string_view text);

}  // namespace lab
