#pragma once
// The packed GEMM's product of FP32 matrices. Internal to matmul.
#include "compute/kernels/gemm/gemm_kernels.h"
#include "compute/kernels/gemm/gemm_packed.h"

namespace lab {

class F32Product {
 public:
  using Word = float;
  static constexpr int kStripsOfB = 16;

  F32Product(const GemmOperands& op, const GemmKernels& kernels) : op_(op), kernels_(kernels) {}

  std::int64_t m() const { return op_.m; }
  std::int64_t n() const { return op_.n; }
  std::int64_t steps() const { return op_.k; }
  int mr() const { return kernels_.mr; }
  int nr() const { return kernels_.nr; }

  void pack_a(std::int64_t row, int valid, Range steps, float* out) const {
    kernels_.pack({.source = op_.a + row * op_.a_row + steps.begin * op_.a_k,
                   .strip_stride = op_.a_row,
                   .k_stride = op_.a_k,
                   .k = steps.size(),
                   .valid = valid,
                   .width = kernels_.mr,
                   .out = out});
  }
  void pack_b(std::int64_t col, int valid, Range steps, float* out) const {
    kernels_.pack({.source = op_.b + steps.begin * op_.b_k + col * op_.b_col,
                   .strip_stride = op_.b_col,
                   .k_stride = op_.b_k,
                   .k = steps.size(),
                   .valid = valid,
                   .width = kernels_.nr,
                   .out = out});
  }
  void tile(const PackedTile<float>& t) const {
    kernels_.tile_packed({.k = t.steps,
                          .a = t.a,
                          .a_row_stride = 1,
                          .a_k_stride = kernels_.mr,
                          .b = t.b,
                          .b_k_stride = kernels_.nr,
                          .c = op_.c + t.row * op_.ldc + t.col,
                          .ldc = op_.ldc,
                          .rows = t.rows,
                          .cols = t.cols,
                          .accumulate = op_.accumulate || !t.first});
  }

 private:
  const GemmOperands& op_;
  const GemmKernels& kernels_;
};

}  // namespace lab
