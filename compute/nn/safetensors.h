#pragma once
// The safetensors file format: named arrays behind a JSON header, no code, nothing to execute.
// Source  https://huggingface.co/docs/safetensors, "Format"
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compute/core/dtype.h"
#include "compute/tensor/shape.h"

namespace lab::nn {

// A tensor inside of the bytes it was read from; little-endian, row-major, any alignment.
struct TensorView {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::span<const std::byte> data;
};

// Checks everything before it returns anything: the header's length and form, names, dtypes, shapes
// against lengths, and that the arrays fill the rest of the file without a hole or an overlap.
// Throws Error(Corrupt) naming the tensor and what is wrong. In the order of the header.
std::vector<TensorView> parse_safetensors(std::span<const std::byte> file);

// The whole file's bytes. Larger elements first, so that each array is aligned to its element.
std::vector<std::byte> format_safetensors(std::span<const TensorView> tensors);

}  // namespace lab::nn
