#include "compute/matmul/gemm.h"

#include <fmt/format.h>

#include "compute/matmul/gemm_parts.h"
#include "compute/types/error.h"

namespace lab {
namespace {

// Below this much work, waking the threads costs more than they save.
constexpr double kParallelFlop = 1.5e6;
// A packed element should serve at least so many tiles, else packing it does not pay.
constexpr std::int64_t kTilesToPack = 4;
// A and B together up to this many times the second cache are read fast enough as they lie.
constexpr std::int64_t kUnpackedCaches = 2;

std::int64_t tiles(std::int64_t length, std::int64_t tile) {
  return (length + tile - 1) / tile;
}

bool worth_packing(const GemmArgs& args, const GemmKernels& kernels) {
  const std::int64_t row_tiles = tiles(args.m, kernels.mr);
  const std::int64_t col_tiles = tiles(args.n, kernels.nr);
  const std::int64_t bytes = (args.m + args.n) * args.k * static_cast<std::int64_t>(sizeof(float));
  return row_tiles > kTilesToPack && col_tiles > kTilesToPack && args.k > kernels.mr &&
         bytes > kUnpackedCaches * cache_sizes().l2_bytes;
}

void run_on(ThreadPool* pool, FunctionRef<void(int)> task) {
  if (pool == nullptr) {
    task(0);
  } else {
    pool->run(task);
  }
}

}  // namespace

void check_gemm(const GemmArgs& args) {
  const auto shapes = [&] {
    return fmt::format("gemm: A [{},{}] lda {}{}, B [{},{}] ldb {}{}, C [{},{}] ldc {}", args.m,
                       args.k, args.lda, args.a_transposed ? " (stored transposed)" : "", args.k,
                       args.n, args.ldb, args.b_transposed ? " (stored transposed)" : "", args.m,
                       args.n, args.ldc);
  };
  if (args.m < 0 || args.n < 0 || args.k < 0) {
    throw Error(Errc::InvalidArgument, shapes() + "; sizes must not be negative");
  }
  const std::int64_t a_row = args.a_transposed ? args.m : args.k;
  const std::int64_t b_row = args.b_transposed ? args.k : args.n;
  if (args.lda < a_row || args.ldb < b_row || args.ldc < args.n) {
    throw Error(Errc::InvalidArgument,
                shapes() + "; a leading dimension must not be less than the stored row's length");
  }
  const bool reads = args.m > 0 && args.n > 0 && args.k > 0;
  if ((reads && (args.a == nullptr || args.b == nullptr)) ||
      (args.m > 0 && args.n > 0 && args.c == nullptr)) {
    throw Error(Errc::InvalidArgument, shapes() + "; a matrix that is not empty has no memory");
  }
}

bool finish_if_empty(const GemmArgs& args) {
  if (args.m == 0 || args.n == 0) return true;
  if (args.k > 0) return false;
  for (std::int64_t i = 0; i < args.m && !args.accumulate; ++i) {
    std::fill_n(args.c + i * args.ldc, args.n, 0.0F);
  }
  return true;
}

void lab_gemm(const GemmArgs& args, ThreadPool* pool, bool always_pack,
              const std::stop_token& stop) {
  if (finish_if_empty(args)) return;
  const GemmKernels& kernels = gemm_kernels();
  const GemmOperands op(args);
  const double flop =
      2.0 * static_cast<double>(op.m) * static_cast<double>(op.n) * static_cast<double>(op.k);
  if (flop < kParallelFlop) pool = nullptr;
  const bool packs = always_pack || worth_packing(args, kernels);
  const ThreadGrid grid = choose_grid(pool == nullptr ? 1 : pool->size(), tiles(op.m, kernels.mr),
                                      tiles(op.n, kernels.nr), /*prefer_rows=*/packs);
  if (packs) {
    PackedGemm packed(op, grid, kernels, stop);
    run_on(pool, [&](int t) { packed.run(t); });
    return;
  }
  run_on(pool, [&](int t) {
    gemm_direct(op, piece(op.m, kernels.mr, grid.rows, t / grid.cols),
                piece(op.n, kernels.nr, grid.cols, t % grid.cols), kernels);
  });
}

void gemm(const GemmArgs& args, ThreadPool& pool, GemmLibrary library) {
  check_gemm(args);
  if (library == GemmLibrary::OneDnn) {
    onednn_gemm(args, &pool);
  } else {
    lab_gemm(args, &pool, /*always_pack=*/false, {});
  }
}

void gemm_one_thread(const GemmArgs& args, GemmLibrary library) {
  check_gemm(args);
  if (library == GemmLibrary::OneDnn) {
    onednn_gemm(args, nullptr);
  } else {
    lab_gemm(args, nullptr, /*always_pack=*/false, {});
  }
}

}  // namespace lab
