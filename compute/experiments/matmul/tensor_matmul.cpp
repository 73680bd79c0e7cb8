#include "compute/experiments/matmul/tensor_matmul.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_bf16.h"
#include "compute/machine/machine.h"
#include "compute/tensor/elementwise.h"

namespace lab {
namespace {

void check_operands(const Tensor& a, const Tensor& b) {
  check_same_device("matmul", a, b, "A", "B");
  const bool known = a.dtype() == DType::F32 || a.dtype() == DType::BF16;
  if (!known || a.dtype() != b.dtype()) {
    throw Error(Errc::InvalidArgument,
                trf("matmul: operands are {} and {}; both must be f32 or both bf16",
                    to_string(a.dtype()), to_string(b.dtype())));
  }
  if (a.shape().size() == 2 && b.shape().size() == 2 && a.shape()[1] == b.shape()[0]) return;
  throw Error(Errc::InvalidArgument,
              trf("matmul: [{}] times [{}]; the operands must be [M,K] and [K,N]",
                  fmt::join(a.shape(), ","), fmt::join(b.shape(), ",")));
}

// Args: GemmArgs, Bf16GemmArgs or GpuProduct.
template <class Args>
Args args_of(const Tensor& a, const Tensor& b) {
  Args args;
  args.m = a.shape()[0];
  args.k = args.lda = a.shape()[1];
  args.n = args.ldb = args.ldc = b.shape()[1];
  return args;
}

void multiply_on_cpu(const Tensor& a, const Tensor& b, Tensor& c) {
  ThreadPool& pool = c.context().threads();
  const auto bound = pool.bind_caller();
  if (a.dtype() == DType::F32) {
    auto args = args_of<GemmArgs>(a, b);
    args.a = a.values<float>().data();
    args.b = b.values<float>().data();
    args.c = c.values<float>().data();
    return gemm(args, pool);
  }
  auto args = args_of<Bf16GemmArgs>(a, b);
  args.a = reinterpret_cast<const std::uint16_t*>(a.data());
  args.b = reinterpret_cast<const std::uint16_t*>(b.data());
  args.c = c.values<float>().data();
  bf16_gemm(args, &pool);
}

void multiply_on_gpu(const Tensor& a, const Tensor& b, Tensor& c) {
  GpuDevice& gpu = *c.context().gpu();
  const Precision precision = a.dtype() == DType::F32 ? Precision::F32 : Precision::BF16;
  auto product = args_of<GpuProduct>(a, b);
  product.a = a.data();
  product.b = b.data();
  product.c = reinterpret_cast<float*>(c.data());
  const RungInfo* rung = gpu_rung_for(gpu, precision, product);
  if (rung == nullptr) {
    throw Error(Errc::Unsupported,
                trf("matmul: no kernel multiplies [{}] by [{}] in {} on {}; copy them to "
                    "cpu:0 with to(device)",
                    fmt::join(a.shape(), ","), fmt::join(b.shape(), ","), to_string(precision),
                    to_string(c.device())));
  }
  gpu.matmul().run(*rung, product, gpu.main_stream());
}

void multiply(const Tensor& a, const Tensor& b, Tensor& c) {
  if (c.context().gpu() != nullptr) {
    multiply_on_gpu(a, b, c);
  } else {
    multiply_on_cpu(a, b, c);
  }
}

}  // namespace

const RungInfo* gpu_rung_for(GpuDevice& gpu, Precision precision, const GpuProduct& product) {
  const RungInfo* last = nullptr;
  for (const RungInfo& rung : gpu.matmul().rungs()) {
    if (rung.library || rung.takes.front() != precision) continue;
    if (!gpu.matmul().unsupported(rung, product)) last = &rung;
  }
  return last;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  check_operands(a, b);
  Tensor c(a.context(), {a.shape()[0], b.shape()[1]}, DType::F32, "product");
  multiply(a, b, c);
  return c;
}

void matmul_into(const Tensor& a, const Tensor& b, Tensor& c) {
  check_operands(a, b);
  check_same_device("matmul", a, c, "A", "C");
  const std::vector<std::int64_t> shape = {a.shape()[0], b.shape()[1]};
  if (c.shape() != shape || c.dtype() != DType::F32) {
    throw Error(Errc::InvalidArgument,
                trf("matmul: C is [{}] in {}, but the product is [{}] in f32",
                    fmt::join(c.shape(), ","), to_string(c.dtype()), fmt::join(shape, ",")));
  }
  multiply(a, b, c);
}

}  // namespace lab
