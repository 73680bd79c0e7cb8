#pragma once
// What the CUDA ladder multiplies: plain structs that host code fills and kernels take by value.
#include <cstdint>

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

// Whether rows of A, B and C can be moved in pieces of 16 bytes: pointers aligned to them, ld* and
// N whole numbers of them. K may be anything.
template <class T>
bool in_whole_pieces(const MatmulOf<T>& args) {
  constexpr std::int64_t kBytes = 16;
  constexpr std::int64_t kFactors = kBytes / sizeof(T), kSums = kBytes / sizeof(float);
  const auto aligned = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % kBytes == 0;
  };
  return aligned(args.a) && aligned(args.b) && aligned(args.c) && args.lda % kFactors == 0 &&
         args.ldb % kFactors == 0 && args.n % kFactors == 0 && args.ldc % kSums == 0;
}

using MatmulArgs = MatmulOf<float>;
using Bf16MatmulArgs = MatmulOf<std::uint16_t>;  // A and B are bits of bf16

}  // namespace lab
