// Launches the fill kernels. Compiled with -fmad=false: a fused multiply-add rounds once where the
// CPU rounds twice.
#include "compute/gpu/cuda/ops/fill.cuh"
#include "compute/gpu/cuda/ops/ops.h"

namespace lab::cuda {
namespace {

template <typename T>
__global__ void __launch_bounds__(kFillThreads) constant_kernel(ConstantArgs<T> args) {
  constant_body(args);
}

template <typename T>
__global__ void __launch_bounds__(kFillThreads) arange_kernel(ArangeArgs<T> args) {
  arange_body(args);
}

template <typename T, bool kNormal>
__global__ void __launch_bounds__(kFillThreads) random_kernel(RandomArgs<T> args) {
  random_body<T, kNormal>(args);
}

template <typename T>
cudaError_t launch_constant(const GpuFill& fill, cudaStream_t stream) {
  const auto grid = grid_of(fill_blocks(fill.count));
  if (!grid) return cudaErrorInvalidValue;
  const ConstantArgs<T> args{static_cast<T>(fill.bits), reinterpret_cast<T*>(fill.to), fill.count};
  constant_kernel<<<*grid, kFillThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t launch_constant_of_size(const GpuFill& fill, cudaStream_t stream) {
  switch (fill.dtype) {
    case DType::U8: return launch_constant<std::uint8_t>(fill, stream);
    case DType::BF16: return launch_constant<std::uint16_t>(fill, stream);
    case DType::I64: return launch_constant<std::uint64_t>(fill, stream);
    case DType::F32:
    case DType::I32: break;
  }
  return launch_constant<std::uint32_t>(fill, stream);
}

template <typename T>
cudaError_t launch_arange(const GpuFill& fill, cudaStream_t stream) {
  const auto grid = grid_of(fill_blocks(fill.count));
  if (!grid) return cudaErrorInvalidValue;
  const ArangeArgs<T> args{reinterpret_cast<T*>(fill.to), fill.first, fill.count};
  arange_kernel<<<*grid, kFillThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

template <typename T>
cudaError_t launch_random(const GpuFill& fill, cudaStream_t stream) {
  const auto grid = grid_of(random_blocks(fill.first, fill.count));
  if (!grid) return cudaErrorInvalidValue;
  const bool aligned = reinterpret_cast<std::uintptr_t>(fill.to) % (4 * sizeof(T)) == 0;
  const RandomArgs<T> args{reinterpret_cast<T*>(fill.to), fill.seed, fill.first, fill.count,
                           aligned && fill.first % 4 == 0};
  if (fill.kind == GpuFillKind::Normal) {
    random_kernel<T, true><<<*grid, kFillThreads, 0, stream>>>(args);
  } else {
    random_kernel<T, false><<<*grid, kFillThreads, 0, stream>>>(args);
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_fill(const GpuFill& fill, cudaStream_t stream) {
  if (fill.count == 0) return cudaSuccess;
  switch (fill.kind) {
    case GpuFillKind::Constant: return launch_constant_of_size(fill, stream);
    case GpuFillKind::Arange:
      return with_element(fill.dtype,
                          [&]<typename T>(T*) { return launch_arange<T>(fill, stream); });
    case GpuFillKind::Uniform:
    case GpuFillKind::Normal: break;
  }
  if (fill.dtype == DType::F32) return launch_random<float>(fill, stream);
  if (fill.dtype == DType::BF16) return launch_random<Bf16Bits>(fill, stream);
  return cudaErrorInvalidValue;
}

}  // namespace lab::cuda
