#pragma once
// Descriptions of matrices for Hopper's copy engine.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace lab::cuda_matmul {

struct Bf16Matrix {
  const std::uint16_t* data = nullptr;  // 16-byte aligned
  std::int64_t rows = 0, cols = 0;      // both > 0
  std::int64_t ld = 0;                  // a multiple of 8
};

// To be copied in boxes of box_rows rows and 64 columns (128 bytes, swizzled); numbers outside of
// the matrix count as zeros. Asks the driver, so a GPU's context must be current.
cudaError_t make_tensor_map(CUtensorMap& map, const Bf16Matrix& matrix, int box_rows);

}  // namespace lab::cuda_matmul
