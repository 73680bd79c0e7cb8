#include "tests/support/fake_cublas/fake_blas_calls.h"

#include <bit>
#include <cstring>

extern "C" lab::test::FakeBlas* fake_blas() {
  return &lab::test::fake();
}

namespace lab::test {
namespace {

float value_of(float x) {
  return x;
}
float value_of(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template <class T>
void multiply_as(const ColumnProduct& p) {
  const T* const a = static_cast<const T*>(p.a);
  const T* const b = static_cast<const T*>(p.b);
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      float sum = 0;
      for (std::int64_t t = 0; t < p.k; ++t)
        sum += value_of(a[i + t * p.lda]) * value_of(b[t + j * p.ldb]);
      p.c[i + j * p.ldc] = sum;
    }
  }
}

}  // namespace

FakeBlas& fake() {
  static FakeBlas state;
  return state;
}

cublasStatus_t answer(const char* function) {
  const FakeBlas& state = fake();
  const bool fails = state.failing != nullptr && std::strcmp(state.failing, function) == 0;
  return fails ? static_cast<cublasStatus_t>(state.status) : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t multiply(const FakeProduct& record, const ColumnProduct& p, float alpha,
                        float beta) {
  if (alpha != 1 || beta != 0 || p.m <= 0 || p.n <= 0 || p.k <= 0 || p.lda < p.m || p.ldb < p.k ||
      p.ldc < p.m)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (record.operands == CUDA_R_32F) {
    multiply_as<float>(p);
  } else if (record.operands == CUDA_R_16BF) {
    multiply_as<std::uint16_t>(p);
  } else {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (record.workspace_bytes > 0) {
    auto* const workspace = static_cast<char*>(record.workspace);
    workspace[0] = workspace[record.workspace_bytes - 1] = 1;
  }
  ++fake().products;
  fake().last = record;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace lab::test
