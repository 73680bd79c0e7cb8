#pragma once
// Code shared by the fakes of cuBLAS and cublasLt.
#include <cublas_api.h>

#include <cstdint>
#include <list>

#include "tests/support/fake_cublas/fake_blas.h"

namespace lab::test {

FakeBlas& fake();

// Returns the status that the test requested for this function, otherwise success.
cublasStatus_t answer(const char* function);

// Live objects. Keeping them here avoids leak reports when the GPU is lost and they cannot be
// destroyed.
template <class T>
std::list<T>& all_of() {
  static std::list<T> made;
  return made;
}

// Creates an object on behalf of `function`; `count` includes it until it is destroyed.
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

// Column-major, as in BLAS: C [m,n] = A [m,k] * B [k,n].
struct ColumnProduct {
  std::int64_t m, n, k;
  const void* a;
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
};

// Multiplies with plain loops, terms in order, A and B of type record.operands; writes into the
// workspace and stores the record. Returns InvalidValue for arguments that the libraries reject:
// scalars other than 1 and 0, leading dimensions below a column's length, an unknown type, an empty
// product.
cublasStatus_t multiply(const FakeProduct& record, const ColumnProduct& product, float alpha,
                        float beta);

}  // namespace lab::test
