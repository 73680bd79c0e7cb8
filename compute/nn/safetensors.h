#pragma once
// The safetensors file format: named arrays after a JSON header, without executable content.
// Source  https://huggingface.co/docs/safetensors, "Format"
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compute/core/dtype.h"
#include "compute/tensor/shape.h"

namespace lab::nn {

// A tensor within the bytes it was read from: little-endian, row-major, any alignment.
struct TensorView {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::span<const std::byte> data;
};

// Returns the tensors in the order of the header after checking everything: the header's length and
// structure, names, dtypes, shapes against lengths, and that the arrays cover the rest of the file
// without gaps or overlaps. Throws Error(Corrupt) naming the tensor and the fault.
std::vector<TensorView> parse_safetensors(std::span<const std::byte> file);

// Returns the bytes of a whole file. Larger elements are stored first, so that each array is
// aligned to its element size.
std::vector<std::byte> format_safetensors(std::span<const TensorView> tensors);

}  // namespace lab::nn
