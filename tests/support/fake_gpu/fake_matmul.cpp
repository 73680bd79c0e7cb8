#include "tests/support/fake_gpu/fake_matmul.h"

#include <cstring>

#include "compute/gpu/cuda/matmul/ladder.h"
#include "compute/tensor/tensor.h"
#include "tests/support/fake_gpu/fake_stream.h"

namespace lab::test {
namespace {

constexpr double kFlopARound = 1e6;

// Returns element i of an operand in the given precision; tf32 keeps 10 mantissa bits.
double operand(const void* operands, std::int64_t i, Precision precision) {
  if (precision == Precision::BF16) {
    return to_float(Bf16{static_cast<const std::uint16_t*>(operands)[i]});
  }
  const float x = static_cast<const float*>(operands)[i];
  if (precision == Precision::F32) return x;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= ~0x1fffU;
  float cut = 0;
  std::memcpy(&cut, &bits, sizeof cut);
  return cut;
}

void multiply(const GpuProduct& p, Precision precision) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::int64_t t = 0; t < p.k; ++t) {
        sum += operand(p.a, i * p.lda + t, precision) * operand(p.b, t * p.ldb + j, precision);
      }
      p.c[i * p.ldc + j] = static_cast<float>(sum);
    }
  }
}

}  // namespace

std::span<const RungInfo> FakeMatmul::rungs() const {
  return cuda_rungs();
}

std::optional<std::string> FakeMatmul::unsupported(const RungInfo& rung,
                                                   const GpuProduct& /*product*/) {
  const auto found = refusals.find(rung.name);
  return found == refusals.end() ? std::nullopt : std::optional(found->second);
}

void FakeMatmul::run(const RungInfo& rung, const GpuProduct& product, GpuStream& stream) {
  gpu_.enter("matmul");
  const std::int64_t operand_bytes = size_of(storage_of(rung.takes.front()));
  gpu_.require_mine(product.a, operand_bytes * product.m * product.lda);
  gpu_.require_mine(product.b, operand_bytes * product.k * product.ldb);
  gpu_.require_mine(product.c, 4 * product.m * product.ldc);
  multiply(product, rung.takes.front());
  if (wrong == rung.name) product.c[0] += 1000;
  const double flop = 2.0 * static_cast<double>(product.m * product.n * product.k);
  spend(stream, gpu_.costs.call_s + flop / gpu_.costs.flop_per_s);
}

std::optional<double> FakeMatmul::run_peak(Precision precision, std::int64_t rounds,
                                           GpuStream& stream) {
  if (no_peak) return std::nullopt;
  gpu_.enter("run_peak");
  const double flop = kFlopARound * static_cast<double>(rounds);
  const double faster = precision == Precision::F32 ? 1 : 8;
  spend(stream, gpu_.costs.call_s + flop / (faster * gpu_.costs.peak_flop_per_s));
  return flop;
}

}  // namespace lab::test
