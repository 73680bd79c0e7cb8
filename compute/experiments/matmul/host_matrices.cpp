#include "compute/experiments/matmul/host_matrices.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "compute/core/error.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/tensor/random.h"

namespace lab {
namespace {

// Writes elements [first, first + values.size()) of a stream uniform in [-1, 1).
void fill_part(std::span<float> values, const RandomStream& random, std::size_t first) {
  random.fill_uniform(values, first);
  for (float& x : values) x = 2 * x - 1;
}

// Same, rounded to bf16 one block at a time.
void fill_part(std::span<Bf16> values, const RandomStream& random, std::size_t first) {
  std::array<float, 1024> exact{};
  while (!values.empty()) {
    const std::size_t n = std::min(values.size(), exact.size());
    fill_part(std::span(exact).first(n), random, first);
    to_bf16(exact.data(), &values.data()->bits, static_cast<std::int64_t>(n));
    values = values.subspan(n);
    first += n;
  }
}

// Fills in blocks, so that a large matrix does not delay cancellation.
template <typename T>
void fill_symmetric(std::span<T> values, std::uint64_t seed, std::uint64_t stream, ThreadPool& pool,
                    const RunContext& ctx) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 22;
  const RandomStream random{.seed = seed, .stream = stream};
  const auto size = static_cast<std::int64_t>(values.size());
  for (std::int64_t first = 0; first < size; first += kPiece) {
    ctx.throw_if_cancelled();
    pool.parallel_for(
        std::min(kPiece, size - first), 4096, [&](std::int64_t begin, std::int64_t end) {
          const auto from = static_cast<std::size_t>(first + begin);
          fill_part(values.subspan(from, static_cast<std::size_t>(end - begin)), random, from);
        });
  }
}

}  // namespace

double matmul_bytes(std::int64_t n, Precision precision) {
  const auto elements = static_cast<double>(n) * static_cast<double>(n);
  const auto operand_bytes = static_cast<double>(size_of(storage_of(precision)));
  return elements * (2.0 * operand_bytes + sizeof(float));
}

HostMatrices::HostMatrices(RunContext& ctx, DeviceContext& host, std::int64_t n,
                           Precision precision, std::uint64_t seed, const MatmulRounding& rounding)
    : n_(n),
      precision_(precision),
      rounding_(rounding),
      stop_(ctx.stop_token()),
      a_(host, {n, n}, storage_of(precision), "matmul A"),
      b_(host, {n, n}, storage_of(precision), "matmul B"),
      c_(host, {n, n}, DType::F32, "matmul C") {
  const auto fill = [&](auto a, auto b) {
    fill_symmetric(a, seed, 0, host.threads(), ctx);
    fill_symmetric(b, seed, 1, host.threads(), ctx);
  };
  if (is_bf16()) {
    fill(a_.values<Bf16>(), b_.values<Bf16>());
  } else {
    fill(a_.values<float>(), b_.values<float>());
  }
}

GemmArgs HostMatrices::gemm(std::int64_t rows) {
  return {.m = rows,
          .n = n_,
          .k = n_,
          .a = a_.values<float>().data(),
          .lda = n_,
          .b = b_.values<float>().data(),
          .ldb = n_,
          .c = c_.values<float>().data(),
          .ldc = n_};
}

Bf16GemmArgs HostMatrices::bf16_gemm(std::int64_t rows) {
  return {.m = rows,
          .n = n_,
          .k = n_,
          .a = &a_.values<Bf16>().data()->bits,
          .lda = n_,
          .b = &b_.values<Bf16>().data()->bits,
          .ldb = n_,
          .c = c_.values<float>().data(),
          .ldc = n_};
}

void HostMatrices::compute_reference() {
  const auto cancelled = [this] { return stop_.stop_requested(); };
  MatmulReference computed = is_bf16() ? MatmulReference(bf16_gemm(n_), cancelled, rounding_)
                                       : MatmulReference(gemm(n_), cancelled, rounding_);
  throw_if_cancelled(stop_);
  reference_.emplace(std::move(computed));
}

void HostMatrices::poison() {
  if (!reference_) compute_reference();
  std::fill_n(c_.values<float>().data(), n_ * n_, std::numeric_limits<float>::quiet_NaN());
}

MatmulCheck HostMatrices::check() {
  return is_bf16() ? reference_->check(bf16_gemm(n_)) : reference_->check(gemm(n_));
}

}  // namespace lab
