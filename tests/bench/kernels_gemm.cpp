#include <fmt/format.h>

#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_kernels.h"
#include "tests/bench/kernels.h"

namespace lab::bench {
namespace {

struct Product {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  Precision products = Precision::F32;
};

// The ladder's square and ragged shapes, and the models' linear layers with their gradients at
// batch 256.
constexpr Product kProducts[] = {
    {64, 64, 64},
    {128, 128, 128},
    {256, 256, 256},
    {512, 512, 512},
    {1024, 1024, 1024},
    {2048, 2048, 2048},
    {1024, 1024, 1024, true, false},
    {1024, 1024, 1024, false, true},
    {1024, 1024, 1024, true, true},
    {1024, 1024, 1024, false, false, Precision::BF16},
    {2048, 2048, 2048, false, false, Precision::BF16},
    {4096, 64, 256},
    {64, 4096, 256},
    {1024, 1024, 16},
    {333, 777, 555},
    {100, 1000, 3},
    {256, 256, 784, false, true},
    {256, 784, 256, true, false},
    {256, 120, 400, false, true},
    {120, 400, 256, true, false},
    {256, 400, 120},
};

void multiply(benchmark::State& state, const Product& p, Kernels kernels, ThreadPool& pool) {
  const std::vector<float> a = random_floats(p.m * p.k, 1);
  const std::vector<float> b = random_floats(p.k * p.n, 2);
  std::vector<float> c(static_cast<std::size_t>(p.m * p.n));
  const GemmArgs args{.m = p.m,
                      .n = p.n,
                      .k = p.k,
                      .a = a.data(),
                      .lda = p.a_transposed ? p.m : p.k,
                      .b = b.data(),
                      .ldb = p.b_transposed ? p.k : p.n,
                      .c = c.data(),
                      .ldc = p.n,
                      .a_transposed = p.a_transposed,
                      .b_transposed = p.b_transposed,
                      .products = p.products};
  repeat(state, [&] { gemm(args, pool, kernels); });
  count(state, "FLOP", 2.0 * static_cast<double>(p.m * p.n) * static_cast<double>(p.k));
}

std::string name(const Product& p, Kernels kernels) {
  return fmt::format("gemm/{}/{}/{}{}/{}x{}x{}", to_string(kernels), to_string(p.products),
                     p.a_transposed ? "t" : "n", p.b_transposed ? "t" : "n", p.m, p.n, p.k);
}

// The micro-kernel only: one tile from packed strips in L1, on the calling thread.
void tile(benchmark::State& state) {
  const GemmKernels& kernels = gemm_kernels();
  const std::int64_t k = state.range(0);
  const std::vector<float> a = random_floats(k * kernels.mr, 1);
  const std::vector<float> b = random_floats(k * kernels.nr, 2);
  std::vector<float> c(static_cast<std::size_t>(kernels.mr * kernels.nr));
  const TileArgs args{.k = k,
                      .a = a.data(),
                      .a_row_stride = 1,
                      .a_k_stride = kernels.mr,
                      .b = b.data(),
                      .b_k_stride = kernels.nr,
                      .c = c.data(),
                      .ldc = kernels.nr,
                      .rows = kernels.mr,
                      .cols = kernels.nr};
  repeat(state, [&] { kernels.tile(args); });
  count(state, "FLOP", 2.0 * static_cast<double>(kernels.mr * kernels.nr * k));
}

// Packs one strip of A (`by_rows`) or of B.
void pack(benchmark::State& state, bool by_rows) {
  const GemmKernels& kernels = gemm_kernels();
  constexpr std::int64_t kTerms = 256, kLength = 1024;
  const int width = by_rows ? kernels.mr : kernels.nr;
  const std::vector<float> source = random_floats(kTerms * kLength, 1);
  std::vector<float> out(static_cast<std::size_t>(kTerms * width));
  const PackArgs args{.source = source.data(),
                      .strip_stride = by_rows ? kLength : 1,
                      .k_stride = by_rows ? 1 : kLength,
                      .k = kTerms,
                      .valid = width,
                      .width = width,
                      .out = out.data()};
  repeat(state, [&] { kernels.pack(args); });
  count(state, "bytes", 8.0 * static_cast<double>(kTerms * width));
}

}  // namespace

void register_gemm(DeviceContext& device) {
  for (const Kernels kernels : {Kernels::Lab, Kernels::Library}) {
    for (const Product& product : kProducts) {
      add(name(product, kernels),
          [&product, kernels, &device](benchmark::State& state) {
            multiply(state, product, kernels, device.threads());
          })
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  add("gemm_tile", tile)->ArgName("k")->Arg(64)->Arg(256);
  add("gemm_pack/a", [](benchmark::State& state) { pack(state, /*by_rows=*/true); });
  add("gemm_pack/b", [](benchmark::State& state) { pack(state, /*by_rows=*/false); });
}

}  // namespace lab::bench
