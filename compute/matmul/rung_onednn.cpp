// C = A*B, FP32, by oneDNN: dnnl_sgemm, row-major, on as many threads as the device has.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Limits   any M,N,K >= 0
// Numerics FP32; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Errors   Unsupported with oneDNN's status
#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <vector>

#include "compute/device/affinity.h"
#include "compute/matmul/gemm_parts.h"
#include "compute/matmul/rung.h"
#include "compute/types/error.h"

namespace lab {
namespace {

// oneDNN computes on the OpenMP threads of whoever calls it. They would inherit the affinity of a
// caller that is pinned to one core, so each is put on its own core of the device.
void place_openmp_threads(const std::vector<int>& cores) {
#pragma omp parallel num_threads(static_cast <int>(cores.size()))
  if (const int t = omp_get_thread_num(); t > 0) {
    set_thread_affinity({&cores[static_cast<std::size_t>(t)], 1});
  }
}

void use_openmp_threads(const ThreadPool* pool) {
  thread_local std::vector<int> placed;  // the cores of the calling thread's OpenMP threads
  const int threads = pool == nullptr ? 1 : pool->size();
  if (threads > 1 && placed != pool->cores()) {
    place_openmp_threads(pool->cores());
    placed = pool->cores();
  }
  omp_set_num_threads(threads);
}

void onednn(const GemmArgs& args, ThreadPool& pool, const std::stop_token& stop) {
  for_row_blocks(args, stop, [&](const GemmArgs& block) { onednn_gemm(block, &pool); });
}

}  // namespace

Rung onednn_rung() {
  return {"onednn", "oneDNN",
          "Intel's library writes machine code for this processor at run time: the ceiling that "
          "good engineering reaches here.",
          true, &onednn};
}

void onednn_gemm(const GemmArgs& args, const ThreadPool* pool) {
  if (finish_if_empty(args)) return;
  use_openmp_threads(pool);
  const dnnl_status_t status = dnnl_sgemm(
      args.a_transposed ? 'T' : 'N', args.b_transposed ? 'T' : 'N', args.m, args.n, args.k, 1.0F,
      args.a, args.lda, args.b, args.ldb, args.accumulate ? 1.0F : 0.0F, args.c, args.ldc);
  if (status != dnnl_success) {
    throw Error(Errc::Unsupported,
                fmt::format("oneDNN: sgemm of [{},{}] by [{},{}] failed with status {}", args.m,
                            args.k, args.k, args.n, int{status}));
  }
}

}  // namespace lab
