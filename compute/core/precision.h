#pragma once
// What the factors of a product are when they are multiplied; sums are f32. What --dtype chooses.
#include <string_view>

#include "compute/core/dtype.h"
#include "compute/core/fields/enum_names.h"

namespace lab {

enum class Precision {
  F32,
  BF16,
  TF32,  // f32 in memory, rounded to 11 significant bits for a GPU's tensor cores
};
template <>
struct EnumNames<Precision> {
  static constexpr ValueName kAll[] = {{"f32"}, {"bf16"}, {"tf32"}};
};

// As which type a factor lies in memory.
DType storage_of(Precision precision);

// The inverse of to_string; throws Error(Usage) naming the text and the choices.
Precision parse_precision(std::string_view text);

}  // namespace lab
