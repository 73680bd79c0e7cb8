#pragma once
// Element types of tensors, operand types of matrix products, and the kernel sets that compute
// them.
#include <cstdint>
#include <string_view>

#include "compute/core/fields/enum_names.h"

namespace lab {

// ---- Tensor elements

enum class DType { F32, BF16, I32, I64, U8 };

// Returns the size of one element in bytes.
std::int64_t size_of(DType dtype);

// "f32", "bf16", "i32", "i64", "u8".
const char* to_string(DType dtype);

// ---- Matrix products

// Operand type of a matrix product, selected by --dtype; accumulation is f32.
enum class Precision {
  F32,
  BF16,
  TF32,  // f32 in memory, rounded to 11 significant bits for tensor cores
};

template <>
struct EnumNames<Precision> {
  static constexpr ValueName kAll[] = {{"f32"}, {"bf16"}, {"tf32"}};
};

// Returns the element type in which an operand is stored.
DType storage_of(Precision precision);

// Inverse of to_string. Throws Error(Usage) naming the text and the choices.
Precision parse_precision(std::string_view text);

// Lab: this project's kernels. Library: oneDNN on the CPU.
enum class Kernels { Lab, Library };
template <>
struct EnumNames<Kernels> {
  static constexpr ValueName kAll[] = {{"lab", LAB_TEXT("Lab")}, {"library", LAB_TEXT("Library")}};
};

}  // namespace lab
