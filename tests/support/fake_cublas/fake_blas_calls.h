#pragma once
// What the fakes of cuBLAS and cublasLt do alike.
#include <cublas_api.h>

#include <cstdint>
#include <list>

#include "tests/support/fake_cublas/fake_blas.h"

namespace lab::test {

FakeBlas& fake();

// What the test has asked of this function, else success.
cublasStatus_t answer(const char* function);

// What was made and has not ended: no leak where the GPU is lost and no one may end it.
template <class T>
std::list<T>& all_of() {
  static std::list<T> made;
  return made;
}

// An object that the library hands out, by `function`; `count` counts it until it ends.
template <class T>
cublasStatus_t make(T** made, int FakeBlas::*count, const char* function) {
  const cublasStatus_t status = answer(function);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  ++(fake().*count);
  *made = &all_of<T>().emplace_back();
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t end(T* made, int FakeBlas::*count) {
  --(fake().*count);
  all_of<T>().remove_if([&](const T& one) { return &one == made; });
  return CUBLAS_STATUS_SUCCESS;
}

// Column-major, as BLAS has it: C [m,n] = A [m,k] * B [k,n].
struct ColumnProduct {
  std::int64_t m, n, k;
  const void* a;
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
};

// By loops in order of the terms, A and B of record.factors; writes into the workspace, and notes
// the record. InvalidValue for what the libraries do not take: other scalars than 1 and 0, leading
// dimensions below a column's length, an unknown type, nothing to multiply.
cublasStatus_t multiply(const FakeProduct& record, const ColumnProduct& product, float alpha,
                        float beta);

}  // namespace lab::test
