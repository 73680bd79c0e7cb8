#pragma once
// One-dimensional grids.
#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

namespace lab::cuda {

// Empty where one grid cannot have so many blocks.
inline std::optional<dim3> grid_of(std::int64_t blocks) {
  constexpr std::int64_t kMost = 2147483647;
  if (blocks > kMost) return std::nullopt;
  return dim3(static_cast<unsigned>(blocks));
}

}  // namespace lab::cuda
