#include "compute/kernels/gemm/gemm.h"

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/kernels/gemm/gemm_bf16.h"
#include "compute/kernels/gemm/gemm_kernels.h"
#include "compute/kernels/gemm/gemm_packed.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {
namespace {

// With less work, waking the threads costs more than they save.
constexpr double kParallelFlop = 4e5;
// Work that one thread does at a time: long enough to hide the cost of handing it out, short enough
// that threads end at about the same time though some cores are slower or busy.
constexpr double kPartFlop = 2e7;
constexpr int kMostPartsPerThread = 8;
// The terms are divided instead of C if C has too few tiles to divide among threads and to make
// adding the partial sums expensive. Whether and how depends on the shape only, because it
// determines the sums' rounding.
constexpr std::int64_t kFewTiles = 32;
constexpr std::int64_t kFewestTerms = 1024;
constexpr std::int64_t kMostTermParts = 16;
// Up to this many terms, writing C dominates.
constexpr std::int64_t kFewTerms = 32;

ThreadGrid grid_for(const GemmOperands& op, int threads, int parts_per_thread,
                    const GemmKernels& kernels) {
  const int parts = threads * parts_per_thread;
  const std::int64_t row_tiles = ceil_div(op.m, kernels.mr);
  const std::int64_t col_tiles = ceil_div(op.n, kernels.nr);
  // Parts side by side would write to the same cache lines where C's rows are not aligned.
  if (op.k <= kFewTerms && row_tiles >= parts) return {parts, 1};
  // Parts side by side each read or pack their own columns of B. Parts below each other each read
  // their own rows of A and all of B, which is cheap if B is small.
  const std::int64_t b_bytes = op.k * op.n * static_cast<std::int64_t>(sizeof(float));
  const bool small_b = op.m > op.n || b_bytes <= cache_sizes().l2_bytes / 8;
  const bool prefer_rows = small_b && !packs_b(op, op.m, op.n, kernels);
  // With several parts per thread, their lengths may differ by a tile.
  constexpr int kSeveral = 3;
  if (parts_per_thread >= kSeveral) {
    if (prefer_rows && row_tiles >= parts) return {parts, 1};
    if (!prefer_rows && col_tiles >= parts) return {1, parts};
  }
  return choose_grid(parts, row_tiles, col_tiles, prefer_rows);
}

// The packed GEMM's product of FP32 matrices; a step is one term.
class F32Product {
 public:
  using Word = float;
  static constexpr int kStripsOfB = 16;

  F32Product(const GemmOperands& op, const GemmKernels& kernels) : op_(op), kernels_(kernels) {}

  std::int64_t m() const { return op_.m; }
  std::int64_t n() const { return op_.n; }
  std::int64_t steps() const { return op_.k; }
  int mr() const { return kernels_.mr; }
  int nr() const { return kernels_.nr; }

  void pack_a(std::int64_t row, int valid, Range steps, float* out) const {
    kernels_.pack({.source = op_.a + row * op_.a_row + steps.begin * op_.a_k,
                   .strip_stride = op_.a_row,
                   .k_stride = op_.a_k,
                   .k = steps.size(),
                   .valid = valid,
                   .width = kernels_.mr,
                   .out = out});
  }
  void pack_b(std::int64_t col, int valid, Range steps, float* out) const {
    kernels_.pack({.source = op_.b + steps.begin * op_.b_k + col * op_.b_col,
                   .strip_stride = op_.b_col,
                   .k_stride = op_.b_k,
                   .k = steps.size(),
                   .valid = valid,
                   .width = kernels_.nr,
                   .out = out});
  }
  void tile(const PackedTile<float>& t) const {
    kernels_.tile_packed({.k = t.steps,
                          .a = t.a,
                          .a_row_stride = 1,
                          .a_k_stride = kernels_.mr,
                          .b = t.b,
                          .b_k_stride = kernels_.nr,
                          .c = op_.c + t.row * op_.ldc + t.col,
                          .ldc = op_.ldc,
                          .rows = t.rows,
                          .cols = t.cols,
                          .accumulate = op_.accumulate || !t.first});
  }

 private:
  const GemmOperands& op_;
  const GemmKernels& kernels_;
};

void check_products(const GemmArgs& args) {
  if (args.products == Precision::F32 || args.products == Precision::BF16) return;
  throw Error(
      Errc::InvalidArgument,
      trf("gemm: operand type {} is not available; choose f32 or bf16", to_string(args.products)));
}
void check_products(const Bf16GemmArgs& /*args*/) {}

}  // namespace

template <class Args>
void check_gemm(const Args& args) {
  const auto shapes = [&] {
    const std::string transposed = std::string(" ") + tr("(stored transposed)");
    return fmt::format("gemm: A [{},{}] lda {}{}, B [{},{}] ldb {}{}, C [{},{}] ldc {}", args.m,
                       args.k, args.lda, args.a_transposed ? transposed : "", args.k, args.n,
                       args.ldb, args.b_transposed ? transposed : "", args.m, args.n, args.ldc);
  };
  check_products(args);
  if (args.m < 0 || args.n < 0 || args.k < 0) {
    throw Error(Errc::InvalidArgument, trf("{}; sizes must not be negative", shapes()));
  }
  const std::int64_t a_row = args.a_transposed ? args.m : args.k;
  const std::int64_t b_row = args.b_transposed ? args.k : args.n;
  if (args.lda < a_row || args.ldb < b_row || args.ldc < args.n) {
    throw Error(
        Errc::InvalidArgument,
        trf("{}; a leading dimension must not be less than the stored row's length", shapes()));
  }
  const bool reads = args.m > 0 && args.n > 0 && args.k > 0;
  if ((reads && (args.a == nullptr || args.b == nullptr)) ||
      (args.m > 0 && args.n > 0 && args.c == nullptr)) {
    throw Error(Errc::InvalidArgument, trf("{}; a non-empty matrix has no memory", shapes()));
  }
}

template <class Args>
bool finish_if_empty(const Args& args) {
  if (args.m == 0 || args.n == 0) return true;
  if (args.k > 0) return false;
  for (std::int64_t i = 0; i < args.m && !args.accumulate; ++i) {
    std::fill_n(args.c + i * args.ldc, args.n, 0.0F);
  }
  return true;
}

template void check_gemm(const GemmArgs&);
template void check_gemm(const Bf16GemmArgs&);
template bool finish_if_empty(const GemmArgs&);
template bool finish_if_empty(const Bf16GemmArgs&);

void lab_gemm(const GemmArgs& args, ThreadPool* pool, bool always_pack,
              const std::stop_token& stop) {
  if (args.products == Precision::BF16) return gemm_of_rounded(args, pool, stop);
  if (finish_if_empty(args)) return;
  const GemmKernels& kernels = gemm_kernels();
  const GemmOperands op(args);
  const double flop =
      2.0 * static_cast<double>(op.m) * static_cast<double>(op.n) * static_cast<double>(op.k);
  if (flop < kParallelFlop) pool = nullptr;
  const int threads = pool == nullptr ? 1 : pool->size();
  const std::int64_t row_tiles = ceil_div(op.m, kernels.mr);
  const std::int64_t col_tiles = ceil_div(op.n, kernels.nr);
  if (always_pack) {
    const ThreadGrid grid = choose_grid(threads, row_tiles, col_tiles, /*prefer_rows=*/true);
    const F32Product product(op, kernels);
    PackedGemm packed(product, grid, stop);
    run_on(pool, [&](int t) { packed.run(t); });
    return;
  }
  if (row_tiles * col_tiles < kFewTiles && op.k >= 2 * kFewestTerms) {
    const auto parts = static_cast<int>(std::min(op.k / kFewestTerms, kMostTermParts));
    gemm_split_terms(op, parts, pool, kernels, stop);
    return;
  }
  const auto per_thread = static_cast<int>(
      std::clamp(flop / threads / kPartFlop, 1.0, static_cast<double>(kMostPartsPerThread)));
  const ThreadGrid grid = grid_for(op, threads, threads == 1 ? 1 : per_thread, kernels);
  run_parts_on(pool, grid.size(), [&](std::int64_t part, int /*thread*/) {
    const int at = static_cast<int>(part);
    gemm_direct(op, piece(op.m, kernels.mr, grid.rows, at / grid.cols),
                piece(op.n, kernels.nr, grid.cols, at % grid.cols), kernels, stop);
  });
}

void gemm(const GemmArgs& args, ThreadPool& pool, Kernels kernels) {
  check_gemm(args);
  if (kernels == Kernels::Library) {
    onednn_gemm(args, &pool);
  } else {
    lab_gemm(args, &pool, /*always_pack=*/false, {});
  }
}

}  // namespace lab
