#pragma once
// Statements about tensors, in the notation of the chapter "GPUs" of Dive into Deep Learning:
//
//   X = ones(2, 3, device=gpu(1))       zeros, ones, rand, randn; arange(6); full((2, 3), 7)
//   Y = tensor([[1, 2], [3, 4]])        on cpu:0 unless a device is given
//   Z = X.to(cpu:1)                     the same storage if X is already there
//   Z = X.copy_to(cpu:1)                always new storage; X.cpu() and X.cuda(1) are as to()
//   Z = X + Y                           DeviceMismatch if they are on different devices
//   Z                                   reports its device, shape and values
//   Z.device, Z.shape, Z.dtype          reports cpu:1, [2,3], f32
//   del Z
//
// A device is cpu, cpu:1, cpu(1), gpu:0, gpu(0), cuda:0, emu:0 or try_gpu(1), with or without
// quotes. More arguments: dtype=f32|bf16|i32|i64|u8, seed=N of rand and randn (else 0, 1, 2, ... in
// the order of their statements), value=X of full.
#include <cstdint>
#include <string_view>
#include <vector>

#include "compute/core/events/command.h"

namespace lab {

// Throws Error(Usage) with the position of the fault and what was expected there.
TensorStatement parse_tensor_statement(std::string_view text);

// Whether statements can use a tensor of this name.
bool is_tensor_name(std::string_view name);

struct TypedValues {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

// Parses "[[1, 2], [3, 4]]", or "1, 2, 3" for one dimension. Throws Error(Usage) if rows differ in
// length, or there are more than kMaxTypedValues.
TypedValues parse_typed_values(std::string_view text);

}  // namespace lab
