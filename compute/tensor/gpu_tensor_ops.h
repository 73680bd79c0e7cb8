#pragma once
// The work of elementwise.h for tensors on GPUs, by way of the seam in compute/gpu. Queued on the
// GPU's main stream; copies to and from the CPU return when all has arrived.
#include <cstdint>

#include "compute/tensor/elementwise.h"

namespace lab::gpu_ops {

// Elements [begin, end); x, y and z are on one GPU.
void fill(Tensor& x, const FillWith& with, std::int64_t begin, std::int64_t end);
void add(const Tensor& x, const Tensor& y, Tensor& z, std::int64_t begin, std::int64_t end);
double norm(const Tensor& x);

// Elements [begin, end) between any two devices of which one at least is a GPU.
void copy(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end);

// The first `bytes` bytes of x to ordinary memory, and from it.
void copy_to_host(const Tensor& x, std::byte* to, std::int64_t bytes);
void copy_from_host(const std::byte* from, Tensor& x, std::int64_t bytes);

}  // namespace lab::gpu_ops
