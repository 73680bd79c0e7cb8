// The tensor operations of an emulated GPU: the kernels of compute/gpu/cuda/ops.
#include <cmath>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/gpu/cuda/ops/fill.cuh"
#include "compute/gpu/cuda/ops/sums.cuh"
#include "compute/gpu/emulator/device/emulated_device.h"

namespace lab::emulated {
namespace {

simt::Extent row_of(std::int64_t blocks) {
  return {static_cast<int>(blocks)};
}

template <typename T>
void fill_constant(EmulatedDevice& gpu, const GpuFill& fill, GpuStream& stream) {
  const cuda::ConstantArgs<T> args{static_cast<T>(fill.bits), reinterpret_cast<T*>(fill.to),
                                   fill.count};
  gpu.launch(
      "fill", row_of(cuda::fill_blocks(fill.count)), {cuda::kFillThreads},
      [args] { cuda::constant_body(args); }, stream);
}

void fill_constant_of_size(EmulatedDevice& gpu, const GpuFill& fill, GpuStream& stream) {
  switch (size_of(fill.dtype)) {
    case 1: return fill_constant<std::uint8_t>(gpu, fill, stream);
    case 2: return fill_constant<std::uint16_t>(gpu, fill, stream);
    case 8: return fill_constant<std::uint64_t>(gpu, fill, stream);
    default: return fill_constant<std::uint32_t>(gpu, fill, stream);
  }
}

template <typename T>
void fill_random(EmulatedDevice& gpu, const GpuFill& fill, GpuStream& stream) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(fill.to) % (4 * sizeof(T)) == 0;
  const cuda::RandomArgs<T> args{reinterpret_cast<T*>(fill.to), fill.seed, fill.first, fill.count,
                                 aligned && fill.first % 4 == 0};
  const simt::Extent grid = row_of(cuda::random_blocks(fill.first, fill.count));
  if (fill.kind == GpuFillKind::Normal) {
    gpu.launch(
        "fill", grid, {cuda::kFillThreads}, [args] { cuda::random_body<T, true>(args); }, stream);
  } else {
    gpu.launch(
        "fill", grid, {cuda::kFillThreads}, [args] { cuda::random_body<T, false>(args); }, stream);
  }
}

}  // namespace

void EmulatedDevice::fill(const GpuFill& fill, GpuStream& stream) {
  if (fill.count == 0) return;
  switch (fill.kind) {
    case GpuFillKind::Constant: return fill_constant_of_size(*this, fill, stream);
    case GpuFillKind::Arange:
      return cuda::with_element(fill.dtype, [&]<typename T>(T*) {
        const cuda::ArangeArgs<T> args{reinterpret_cast<T*>(fill.to), fill.first, fill.count};
        launch(
            "fill", row_of(cuda::fill_blocks(fill.count)), {cuda::kFillThreads},
            [args] { cuda::arange_body(args); }, stream);
      });
    case GpuFillKind::Uniform:
    case GpuFillKind::Normal: break;
  }
  if (fill.dtype == DType::F32) return fill_random<float>(*this, fill, stream);
  if (fill.dtype == DType::BF16) return fill_random<cuda::Bf16Bits>(*this, fill, stream);
  throw gpu_failure(core_.device, "fill", "cudaErrorInvalidValue (invalid argument)");
}

void EmulatedDevice::add(const GpuSum& sum, GpuStream& stream) {
  if (sum.count == 0) return;
  cuda::with_element(sum.dtype, [&]<typename T>(T*) {
    const cuda::AddArgs<T> args{reinterpret_cast<const T*>(sum.x),
                                reinterpret_cast<const T*>(sum.y), reinterpret_cast<T*>(sum.z),
                                sum.count};
    launch(
        "add", row_of(cuda::add_blocks(sum.count)), {cuda::kAddThreads},
        [args] { cuda::add_body(args); }, stream);
  });
}

double EmulatedDevice::norm(const GpuNorm& norm, GpuStream& stream) {
  own(stream, "norm").require_unrecorded("norm", "the host cannot wait in a recording");
  const int blocks = cuda::norm_blocks(norm.count);
  const auto release_sums = [&](double* sums) {
    release(reinterpret_cast<std::byte*>(sums), stream);
  };
  const std::unique_ptr<double, decltype(release_sums)> sums(
      reinterpret_cast<double*>(allocate(blocks * std::int64_t{sizeof(double)}, stream)),
      release_sums);
  cuda::with_element(norm.dtype, [&]<typename T>(T*) {
    const cuda::SquaresArgs<T> args{reinterpret_cast<const T*>(norm.x), sums.get(), norm.count};
    launch(
        "norm", row_of(blocks), {cuda::kNormThreads}, [args] { cuda::squares_body(args); }, stream);
  });
  const cuda::TotalArgs total{sums.get(), blocks};
  launch(
      "norm", {}, {cuda::kNormThreads}, [total] { cuda::total_body(total); }, stream);
  double sum = 0;
  copy(GpuCopy::DeviceToHost, &sum, sums.get(), sizeof sum, stream);
  stream.synchronise();
  return std::sqrt(sum);
}

}  // namespace lab::emulated
