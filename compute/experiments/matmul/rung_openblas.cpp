// C = A*B, FP32, by OpenBLAS: cblas_sgemm with one thread per thread of the device.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Limits   sizes and leading dimensions below 2^31; OpenBLAS owns its threads and keeps them
//          between calls, on the cores of the device that started them
// Numerics FP32; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Errors   Unsupported for sizes that its interface cannot express
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "compute/core/error.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/machine/cpu_topology.h"

namespace lab {
namespace {

// OpenBLAS starts its threads here, and they inherit the caller's affinity: all cores of the device
// except the first, on which the caller itself computes.
void start_threads(const ThreadPool& pool) {
  const std::vector<int> before = thread_affinity();
  const std::span cores(pool.cores());
  const bool widened = set_thread_affinity(cores.subspan(cores.size() > 1 ? 1 : 0));
  openblas_set_num_threads(pool.size());
  if (widened) set_thread_affinity(before);
}

void use_threads(const ThreadPool& pool) {
  thread_local std::vector<int> started_for;  // cores of this thread's last request
  if (started_for == pool.cores() && openblas_get_num_threads() == pool.size()) return;
  start_threads(pool);
  started_for = pool.cores();
}

void openblas(const GemmArgs& g, ThreadPool& pool, const std::stop_token& stop) {
  if (finish_if_empty(g)) return;
  const std::int64_t largest = std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc});
  if (largest > std::numeric_limits<blasint>::max()) {
    throw Error(Errc::Unsupported,
                fmt::format("OpenBLAS: a size of {} does not fit its 32-bit interface", largest));
  }
  use_threads(pool);
  const auto narrow = [](std::int64_t x) { return static_cast<blasint>(x); };
  for_row_blocks(g, stop, [&](const GemmArgs& block) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, narrow(block.m), narrow(block.n),
                narrow(block.k), 1.0F, block.a, narrow(block.lda), block.b, narrow(block.ldb), 0.0F,
                block.c, narrow(block.ldc));
  });
}

}  // namespace

Rung openblas_rung() {
  return {"openblas", "OpenBLAS",
          "The BLAS that most Linux programs use, with kernels in assembly: what a program gets "
          "without tuning.",
          true, &openblas};
}

}  // namespace lab
