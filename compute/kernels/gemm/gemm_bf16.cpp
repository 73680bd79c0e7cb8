#include "compute/kernels/gemm/gemm_bf16.h"

#include <fmt/format.h>

#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/gemm_packed.h"

namespace lab {
namespace {

// With less work, waking the threads costs more than they save.
constexpr double kParallelBf16Flop = 3e6;

// The packed GEMM's product of bf16 operands; a step is a pair of terms. T as in PairPackArgs.
template <typename T>
class Bf16Product {
 public:
  using Word = std::uint32_t;
  static constexpr int kStripsOfB = 1;

  Bf16Product(const Operands<T>& op, const Bf16Kernels& kernels) : op_(op), kernels_(kernels) {}

  std::int64_t m() const { return op_.m; }
  std::int64_t n() const { return op_.n; }
  std::int64_t steps() const { return (op_.k + 1) / 2; }
  int mr() const { return kernels_.mr; }
  int nr() const { return kernels_.nr; }

  void pack_a(std::int64_t row, int valid, Range steps, Word* out) const {
    pack({.source = op_.a + row * op_.a_row + 2 * steps.begin * op_.a_k,
          .strip_stride = op_.a_row,
          .k_stride = op_.a_k,
          .terms = terms(steps),
          .valid = valid,
          .width = kernels_.mr,
          .out = out});
  }
  void pack_b(std::int64_t col, int valid, Range steps, Word* out) const {
    pack({.source = op_.b + 2 * steps.begin * op_.b_k + col * op_.b_col,
          .strip_stride = op_.b_col,
          .k_stride = op_.b_k,
          .terms = terms(steps),
          .valid = valid,
          .width = kernels_.nr,
          .out = out});
  }
  void tile(const PackedTile<Word>& t) const {
    kernels_.tile({.k_pairs = t.steps,
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
  std::int64_t terms(Range steps) const { return std::min(2 * steps.end, op_.k) - 2 * steps.begin; }
  void pack(const PairPackArgs<float>& args) const { kernels_.pack_f32(args); }
  void pack(const PairPackArgs<std::uint16_t>& args) const { kernels_.pack_bf16(args); }

  const Operands<T>& op_;
  const Bf16Kernels& kernels_;
};

template <typename T>
void multiply(const Operands<T>& op, ThreadPool* pool, const std::stop_token& stop) {
  const double flop =
      2.0 * static_cast<double>(op.m) * static_cast<double>(op.n) * static_cast<double>(op.k);
  if (flop < kParallelBf16Flop) pool = nullptr;
  const Bf16Product<T> product(op, bf16_kernels());
  const std::int64_t row_tiles = ceil_div(op.m, product.mr());
  const std::int64_t col_tiles = ceil_div(op.n, product.nr());
  const ThreadGrid grid = choose_grid(pool == nullptr ? 1 : pool->size(), row_tiles, col_tiles,
                                      /*prefer_rows=*/true);
  PackedGemm packed(product, grid, stop);
  run_on(pool, [&](int t) { packed.run(t); });
}

}  // namespace

void bf16_gemm(const Bf16GemmArgs& args, ThreadPool* pool, const std::stop_token& stop) {
  check_gemm(args);
  if (!finish_if_empty(args)) multiply(Operands<std::uint16_t>(args), pool, stop);
}

void gemm_of_rounded(const GemmArgs& args, ThreadPool* pool, const std::stop_token& stop) {
  if (!finish_if_empty(args)) multiply(Operands<float>(args), pool, stop);
}

}  // namespace lab
