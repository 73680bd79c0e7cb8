// The kernels of the portable rungs and their launches. A single translation unit, because most of
// its compile time is spent in the headers that all rungs share.
#include "compute/gpu/cuda/matmul/rungs/launch.cuh"
#include "compute/gpu/cuda/matmul/rungs/rungs.h"

namespace lab::cuda_matmul {
namespace {

// kAny: the kernel for operands that are not in whole pieces, where a rung has two.
template <class Type, bool kAny>
__global__ void __launch_bounds__(kThreads<Type::kRung.tiling>, Type::kRung.tiling.blocks_per_sm)
    rung_kernel(ArgsOf<Type> args) {
  multiply<Type::kRung.tiling, !kAny>(Type{}, args);
}

template <class Type>
cudaError_t load_portable(Type) {
  constexpr int kDynamicBytes = Type::kRung.tiling.dynamic_bytes();
  if constexpr (Type::kRung.operands == Operands::Any) {
    return load_kernels(kDynamicBytes, rung_kernel<Type, false>);
  } else {
    return load_kernels(kDynamicBytes, rung_kernel<Type, false>, rung_kernel<Type, true>);
  }
}

// One block per tile of C.
template <class Type>
cudaError_t launch_portable(Type, const GpuProduct& product, cudaStream_t stream) {
  constexpr Tiling kTile = Type::kRung.tiling;
  const std::int64_t blocks = blocks_of(kTile, product.m, product.n);
  if (blocks == 0) return cudaSuccess;
  auto kernel = rung_kernel<Type, false>;
  if constexpr (Type::kRung.operands == Operands::VectorAlignedOrAny) {
    if (!is_vector_aligned(product, kTile.element_bytes)) kernel = rung_kernel<Type, true>;
  }
  kernel<<<static_cast<unsigned>(blocks), kThreads<kTile>, kTile.dynamic_bytes(), stream>>>(
      args_of<ArgsOf<Type>>(product));
  return cudaGetLastError();
}

}  // namespace

cudaError_t load(const CudaRung& rung) {
  if (rung.exact_capability) return load_hopper(rung);
  return with_type<Ladder, false>(rung, [](auto type) { return load_portable(type); });
}

cudaError_t launch(const CudaRung& rung, const GpuProduct& product, cudaStream_t stream) {
  if (rung.exact_capability) return launch_hopper(rung, product, stream);
  return with_type<Ladder, false>(
      rung, [&](auto type) { return launch_portable(type, product, stream); });
}

}  // namespace lab::cuda_matmul
