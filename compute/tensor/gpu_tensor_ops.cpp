#include "compute/tensor/gpu_tensor_ops.h"

#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "compute/core/units.h"

namespace lab::gpu_ops {
namespace {

GpuDevice& gpu_of(const Tensor& x) {
  return *x.context().gpu();
}

// Copies host memory on the threads of a CPU device.
GpuStaging::Move with_threads(DeviceContext& cpu) {
  return [&cpu](std::byte* to, const std::byte* from, std::int64_t bytes) {
    cpu.threads().parallel_for(bytes, 256 * kKiB, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
  };
}

void with_one_thread(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

GpuFillKind kind_of(Fill fill) {
  switch (fill) {
    case Fill::Arange: return GpuFillKind::Arange;
    case Fill::Rand: return GpuFillKind::Uniform;
    case Fill::Randn: return GpuFillKind::Normal;
    case Fill::Zeros:
    case Fill::Ones:
    case Fill::Full:
    case Fill::Values: break;  // Values are copied from the host
  }
  return GpuFillKind::Constant;
}

void copy_between_gpus(const Tensor& from, Tensor& to, std::int64_t at, std::int64_t bytes) {
  GpuDevice& source = gpu_of(from);
  GpuDevice& target = gpu_of(to);
  GpuStream& stream = source.main_stream();
  if (&source == &target) {
    source.copy(GpuCopy::DeviceToDevice, to.data() + at, from.data() + at, bytes, stream);
  } else {
    target.main_stream().synchronise();  // work queued there on the destination
    source.copy_to_peer(target, to.data() + at, from.data() + at, bytes, stream);
  }
  stream.synchronise();
}

void copy_values(Tensor& x, std::span<const double> values, std::int64_t begin, std::int64_t end) {
  const std::int64_t size = size_of(x.dtype());
  std::vector<std::byte> host(static_cast<std::size_t>((end - begin) * size));
  for (std::int64_t i = begin; i < end; ++i) {
    const std::uint64_t bits = element_bits(values[static_cast<std::size_t>(i)], x.dtype());
    std::memcpy(host.data() + (i - begin) * size, &bits, static_cast<std::size_t>(size));
  }
  x.context().staging().to_gpu(x.data() + begin * size, host.data(), std::ssize(host),
                               with_one_thread);
}

}  // namespace

void fill(Tensor& x, const FillWith& with, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  if (with.fill == Fill::Values) return copy_values(x, with.values, begin, end);
  GpuDevice& gpu = gpu_of(x);
  GpuFill fill;
  fill.kind = kind_of(with.fill);
  fill.dtype = x.dtype();
  fill.bits = element_bits(with.fill == Fill::Ones ? 1 : with.value, x.dtype());
  fill.seed = with.seed;
  fill.first = begin;
  fill.to = x.data() + begin * size_of(x.dtype());
  fill.count = end - begin;
  gpu.fill(fill, gpu.main_stream());
}

void add(const Tensor& x, const Tensor& y, Tensor& z, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  GpuDevice& gpu = gpu_of(z);
  const std::int64_t at = begin * size_of(z.dtype());
  gpu.add({z.dtype(), x.data() + at, y.data() + at, z.data() + at, end - begin}, gpu.main_stream());
}

double norm(const Tensor& x) {
  if (x.size() == 0) return 0;
  GpuDevice& gpu = gpu_of(x);
  return gpu.norm({x.dtype(), x.data(), x.size()}, gpu.main_stream());
}

void copy(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  const std::int64_t at = begin * size_of(from.dtype());
  const std::int64_t bytes = (end - begin) * size_of(from.dtype());
  DeviceContext& source = from.context();
  DeviceContext& target = to.context();
  if (source.gpu() != nullptr && target.gpu() != nullptr) {
    copy_between_gpus(from, to, at, bytes);
  } else if (target.gpu() != nullptr) {
    target.staging().to_gpu(to.data() + at, from.data() + at, bytes, with_threads(source));
  } else {
    source.staging().from_gpu(to.data() + at, from.data() + at, bytes, with_threads(target));
  }
}

void copy_to_host(DeviceContext& context, const std::byte* from, std::byte* to,
                  std::int64_t bytes) {
  if (bytes > 0) context.staging().from_gpu(to, from, bytes, with_one_thread);
}

void copy_from_host(const std::byte* from, Tensor& x, std::int64_t bytes) {
  if (bytes > 0) x.context().staging().to_gpu(x.data(), from, bytes, with_one_thread);
}

}  // namespace lab::gpu_ops
