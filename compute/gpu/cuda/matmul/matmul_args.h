#pragma once
// What the CUDA ladder multiplies: plain structs that host code fills and kernels take by value.
#include <cstdint>

#include "compute/gpu/gpu_matmul.h"

namespace lab {

// C = A*B.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements, at least the row's length;
//   C aliases neither
template <class T>
struct MatmulOf {
  std::int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
};

using MatmulArgs = MatmulOf<float>;
using Bf16MatmulArgs = MatmulOf<std::uint16_t>;  // A and B are bits of bf16

// The product as kernels with factors of T take it.
template <class T>
MatmulOf<T> args_of(const GpuProduct& product) {
  return {.m = product.m,
          .n = product.n,
          .k = product.k,
          .a = static_cast<const T*>(product.a),
          .lda = product.lda,
          .b = static_cast<const T*>(product.b),
          .ldb = product.ldb,
          .c = product.c,
          .ldc = product.ldc};
}

// Whether rows of A, B and C can be moved in pieces of 16 bytes: pointers aligned to them, ld* and
// N whole numbers of them. K may be anything.
inline bool in_whole_pieces(const GpuProduct& product, int factor_bytes) {
  constexpr int kBytes = 16;
  const std::int64_t factors = kBytes / factor_bytes, sums = kBytes / int{sizeof(float)};
  const auto aligned = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % kBytes == 0;
  };
  return aligned(product.a) && aligned(product.b) && aligned(product.c) &&
         product.lda % factors == 0 && product.ldb % factors == 0 && product.n % factors == 0 &&
         product.ldc % sums == 0;
}

}  // namespace lab
