#pragma once
// The operands of a case in main memory: what is multiplied, and what the product must be.
#include <cstdint>
#include <optional>
#include <stop_token>

#include "compute/experiments/matmul/reference.h"
#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_bf16.h"
#include "compute/run/run_context.h"
#include "compute/tensor/tensor.h"

namespace lab {

// Bytes of N x N matrices A and B, as factors of `precision` lie in memory, and C in FP32.
double matmul_bytes(std::int64_t n, Precision precision = Precision::F32);

class HostMatrices {
 public:
  // N x N on a CPU device: A and B uniform in [-1, 1), the same numbers for a seed wherever they
  // are made; C uninitialised. `rounding` is that of whoever multiplies them. Throws
  // Error(OutOfMemory), Error(Cancelled).
  HostMatrices(RunContext& ctx, DeviceContext& host, std::int64_t n, Precision precision,
               std::uint64_t seed, const MatmulRounding& rounding = {});

  std::int64_t n() const { return n_; }
  bool is_bf16() const { return precision_ == Precision::BF16; }
  Tensor& a() { return a_; }
  Tensor& b() { return b_; }
  Tensor& c() { return c_; }
  // The first `rows` rows of the product. gemm() of factors that are not bf16, bf16_gemm() of those
  // that are.
  GemmArgs gemm(std::int64_t rows);
  Bf16GemmArgs bf16_gemm(std::int64_t rows);

  // Makes C invalid. The first call computes what it must become, in float64, before anything that
  // is to be checked has touched A and B. Throws Error(Cancelled).
  void poison();
  // Compares C with that.
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
