#pragma once
// Operands of a case in main memory, and the expected product.
#include <cstdint>
#include <optional>
#include <stop_token>

#include "compute/experiments/matmul/reference.h"
#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_bf16.h"
#include "compute/run/run_context.h"
#include "compute/tensor/tensor.h"

namespace lab {

// Bytes of N x N matrices A and B, stored as operands of `precision`, and C in FP32.
double matmul_bytes(std::int64_t n, Precision precision = Precision::F32);

class HostMatrices {
 public:
  // Allocates N x N matrices on a CPU device. A and B are uniform in [-1, 1) and depend on the seed
  // only, not on the device; C is uninitialised. `rounding` is that of the kernels under test.
  // Throws Error(OutOfMemory), Error(Cancelled).
  HostMatrices(RunContext& ctx, DeviceContext& host, std::int64_t n, Precision precision,
               std::uint64_t seed, const MatmulRounding& rounding = {});

  std::int64_t n() const { return n_; }
  bool is_bf16() const { return precision_ == Precision::BF16; }
  Tensor& a() { return a_; }
  Tensor& b() { return b_; }
  Tensor& c() { return c_; }
  // Arguments for the first `rows` rows of the product: bf16_gemm() for bf16 operands, gemm() for
  // all others.
  GemmArgs gemm(std::int64_t rows);
  Bf16GemmArgs bf16_gemm(std::int64_t rows);

  // Fills C with NaN. The first call also computes the expected product in float64, before any
  // kernel under test has run on A and B. Throws Error(Cancelled).
  void poison();
  // Compares C with the expected product. Requires an earlier poison().
  MatmulCheck check();

 private:
  void compute_reference();

  const std::int64_t n_;
  const Precision precision_;
  const MatmulRounding rounding_;
  const std::stop_token stop_;
  Tensor a_, b_, c_;
  std::optional<MatmulReference> reference_;
};

}  // namespace lab
