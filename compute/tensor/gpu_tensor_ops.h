#pragma once
// GPU implementation of elementwise.h, through the interface in compute/gpu. Work is queued on the
// GPU's main stream; copies to and from the CPU return when complete.
#include <cstdint>

#include "compute/tensor/elementwise.h"

namespace lab::gpu_ops {

// Operate on elements [begin, end), norm() on all of x. x, y and z are on one GPU.
void fill(Tensor& x, const FillWith& with, std::int64_t begin, std::int64_t end);
void add(const Tensor& x, const Tensor& y, Tensor& z, std::int64_t begin, std::int64_t end);
double norm(const Tensor& x);

// Copies elements [begin, end) between two devices, at least one of which is a GPU.
void copy(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end);

// Copies from memory of the context's GPU to host memory.
void copy_to_host(DeviceContext& context, const std::byte* from, std::byte* to, std::int64_t bytes);
// Copies host memory to the first `bytes` bytes of x.
void copy_from_host(const std::byte* from, Tensor& x, std::int64_t bytes);

}  // namespace lab::gpu_ops
