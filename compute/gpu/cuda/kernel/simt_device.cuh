#pragma once
// The definitions of simt.h for nvcc. Include simt.h, not this header.
#include <cstdint>
#include <type_traits>

#define LAB_DEVICE __device__ __forceinline__
#define LAB_SHARED(T, name, ...) __shared__ __align__(16) T name[__VA_ARGS__]
#define LAB_DYNAMIC_SHARED(T, name)                                    \
  extern __shared__ __align__(128) unsigned char lab_dynamic_shared[]; \
  T* const name = reinterpret_cast<T*>(lab_dynamic_shared)
#define LAB_PRAGMA(text) _Pragma(#text)
#define LAB_UNROLL LAB_PRAGMA(unroll)
#define LAB_UNROLL_BY(n) LAB_PRAGMA(unroll n)
#define LAB_NO_UNROLL LAB_PRAGMA(unroll 1)
#define LAB_RESTRICT __restrict__

namespace lab::simt {

template <typename T>
using SharedPtr = T*;
template <typename T>
using GlobalPtr = T*;

using Float2 = ::float2;
using Float4 = ::float4;
using Uint2 = ::uint2;
using Uint4 = ::uint4;
using Int4 = ::int4;

struct Index3 {
  int x, y, z;
};

constexpr std::uint32_t kFullWarp = 0xffffffffU;

LAB_DEVICE Index3 thread_idx() {
  return {int(threadIdx.x), int(threadIdx.y), int(threadIdx.z)};
}
LAB_DEVICE Index3 block_idx() {
  return {int(blockIdx.x), int(blockIdx.y), int(blockIdx.z)};
}
LAB_DEVICE Index3 block_dim() {
  return {int(blockDim.x), int(blockDim.y), int(blockDim.z)};
}
LAB_DEVICE Index3 grid_dim() {
  return {int(gridDim.x), int(gridDim.y), int(gridDim.z)};
}
LAB_DEVICE int lane() {
  return int(threadIdx.x % 32);
}
LAB_DEVICE int warp() {
  return int(threadIdx.x / 32);
}
LAB_DEVICE int uniform_warp() {
  return __shfl_sync(kFullWarp, warp(), 0);
}

LAB_DEVICE void sync_threads() {
  __syncthreads();
}
LAB_DEVICE void sync_warp(std::uint32_t mask = kFullWarp) {
  __syncwarp(mask);
}

template <typename T>
LAB_DEVICE T shuffle(T value, int source_lane, std::uint32_t mask = kFullWarp) {
  static_assert(sizeof(T) == 4);
  return __shfl_sync(mask, value, source_lane);
}
template <typename T>
LAB_DEVICE T shuffle_up(T value, int distance, std::uint32_t mask = kFullWarp) {
  static_assert(sizeof(T) == 4);
  return __shfl_up_sync(mask, value, unsigned(distance));
}
template <typename T>
LAB_DEVICE T shuffle_down(T value, int distance, std::uint32_t mask = kFullWarp) {
  static_assert(sizeof(T) == 4);
  return __shfl_down_sync(mask, value, unsigned(distance));
}
template <typename T>
LAB_DEVICE T shuffle_xor(T value, int bits, std::uint32_t mask = kFullWarp) {
  static_assert(sizeof(T) == 4);
  return __shfl_xor_sync(mask, value, bits);
}
LAB_DEVICE bool vote_all(bool p, std::uint32_t mask = kFullWarp) {
  return __all_sync(mask, p);
}
LAB_DEVICE bool vote_any(bool p, std::uint32_t mask = kFullWarp) {
  return __any_sync(mask, p);
}
LAB_DEVICE std::uint32_t ballot(bool p, std::uint32_t mask = kFullWarp) {
  return __ballot_sync(mask, p);
}

template <typename T>
LAB_DEVICE T* global(T* pointer) {
  return pointer;
}
template <typename U, typename T>
LAB_DEVICE U* shared_cast(T* pointer) {
  return reinterpret_cast<U*>(pointer);
}
template <typename V, typename T>
LAB_DEVICE V load(const T* from) {
  return *reinterpret_cast<const V*>(from);
}
template <typename V, typename T>
LAB_DEVICE void store(T* to, V value) {
  *reinterpret_cast<V*>(to) = value;
}
template <typename V, typename T>
LAB_DEVICE V load_readonly(const T* from) {
  return __ldg(reinterpret_cast<const V*>(from));
}

LAB_DEVICE std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// No memory clobber: the compiler may move other memory accesses across a copy, because copy_wait
// and the barriers around it establish the order.
template <int kBytes, typename D, typename S>
LAB_DEVICE void copy_async(D* to, const S* from, int valid_bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(valid_bytes));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                 "l"(from), "n"(kBytes), "r"(valid_bytes));
  }
}
template <int kBytes, typename D, typename S>
LAB_DEVICE void copy_async(D* to, const S* from) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                 "n"(kBytes));
  }
}
LAB_DEVICE void copy_commit() {
  asm volatile("cp.async.commit_group;");
}
template <int kPending>
LAB_DEVICE void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// unsigned long and unsigned long long both have 64 bits here, but CUDA's atomics accept only the
// latter.
template <typename T>
struct AtomicTypeOf {
  using Type = T;
};
template <>
struct AtomicTypeOf<unsigned long> {
  using Type = unsigned long long;
};

template <typename T>
LAB_DEVICE T atomic_add(T* at, std::type_identity_t<T> value) {
  using A = typename AtomicTypeOf<T>::Type;
  return T(atomicAdd(reinterpret_cast<A*>(at), A(value)));
}
template <typename T>
LAB_DEVICE T atomic_max(T* at, std::type_identity_t<T> value) {
  using A = typename AtomicTypeOf<T>::Type;
  return T(atomicMax(reinterpret_cast<A*>(at), A(value)));
}
template <typename T>
LAB_DEVICE T atomic_cas(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  using A = typename AtomicTypeOf<T>::Type;
  return T(atomicCAS(reinterpret_cast<A*>(at), A(expected), A(desired)));
}

LAB_DEVICE float fma(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}

LAB_DEVICE float own_register(float x) {
  std::uint32_t bits;  // the identity permutation of bytes, which ptxas does not fold
  asm volatile("prmt.b32 %0, %1, 0, 0x3210;" : "=r"(bits) : "r"(__float_as_uint(x)));
  return __uint_as_float(bits);
}
LAB_DEVICE float float_of(std::uint32_t bits) {
  return __uint_as_float(bits);
}
LAB_DEVICE std::uint32_t bits_of(float x) {
  return __float_as_uint(x);
}
LAB_DEVICE std::uint16_t to_bf16(float x) {
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
LAB_DEVICE float from_bf16(std::uint16_t bits) {
  return __uint_as_float(std::uint32_t(bits) << 16);
}
LAB_DEVICE std::uint32_t pack_bf16(float low, float high) {
  std::uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
LAB_DEVICE std::uint32_t pack_fp16(float low, float high) {
  std::uint32_t bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
LAB_DEVICE std::uint32_t to_tf32(float x) {
  std::uint32_t bits;
#if __CUDA_ARCH__ >= 900
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));  // one instruction; rna takes several
#else
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
  return bits;
}

// Tensor cores; the layouts are in simt_common.cuh.
template <int kMatrices, typename T>
LAB_DEVICE void ldmatrix(std::uint32_t (&r)[kMatrices], const T* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  const std::uint32_t at = shared_address(row);
  if constexpr (kMatrices == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
  } else if constexpr (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(at));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  }
}

template <int kMatrices, typename T>
LAB_DEVICE void ldmatrix_transposed(std::uint32_t (&r)[kMatrices], const T* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  const std::uint32_t at = shared_address(row);
  if constexpr (kMatrices == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(at));
  } else if constexpr (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(at));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  }
}

LAB_DEVICE void mma_m16n8k16_bf16(float (&d)[4], const std::uint32_t (&a)[4],
                                  const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

LAB_DEVICE void mma_m16n8k8_tf32(float (&d)[4], const std::uint32_t (&a)[4],
                                 const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace lab::simt

#include "compute/gpu/cuda/kernel/simt_common.cuh"
