#include "compute/kernels/gemm/gemm_bf16.h"

#include <fmt/format.h>

#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/gemm_blocks.h"

namespace lab {
namespace {

// With less work, waking the threads costs more than they save.
constexpr double kParallelBf16Flop = 3e6;

// The product of bf16 operands; a step is one word. T as in Bf16PackArgs.
template <typename T>
class Bf16Product {
 public:
  using Word = std::uint32_t;
  struct Args {
    Bf16TileArgs tile;
    Range steps;
    std::int64_t row = 0, col = 0;  // in C
  };

  Bf16Product(const Operands<T>& op, const Bf16Kernels& kernels) : op_(op), kernels_(kernels) {}

  std::int64_t steps() const { return kernels_.words(op_.k); }
  int mr() const { return kernels_.mr; }
  int nr() const { return kernels_.nr; }

  static std::int64_t most_steps() { return kStepsOfBlock; }
  static bool packs_a(std::int64_t /*col_tiles*/) { return true; }
  static bool packs_b(std::int64_t /*row_tiles*/, std::int64_t /*cols*/) { return true; }
  void pack_a(std::int64_t row, int rows, Range steps, Word* out) const {
    for (int first = 0; first < rows; first += kernels_.mr) {
      pack({.source = op_.a + (row + first) * op_.a_row + first_term(steps) * op_.a_k,
            .strip_stride = op_.a_row,
            .k_stride = op_.a_k,
            .terms = terms(steps),
            .valid = std::min(rows - first, kernels_.mr),
            .width = kernels_.mr,
            .out = out + first * steps.size()});
    }
  }

  Args tile_args(Range steps) const {
    return {.tile = {.steps = steps.size(),
                     .a_row_stride = 1,
                     .a_k_stride = kernels_.mr,
                     .b_k_stride = kernels_.nr,
                     .ldc = op_.ldc,
                     .accumulate = op_.accumulate || steps.begin > 0},
            .steps = steps};
  }
  static void set_a(Args& t, std::int64_t row, int rows, const Word* packed) {
    t.row = row;
    t.tile.rows = rows;
    t.tile.a = packed;
  }
  static void set_b(Args& t, std::int64_t col, int cols, const Word* packed) {
    t.col = col;
    t.tile.cols = cols;
    t.tile.b = packed;
  }
  void tile(Args& t) const {
    t.tile.c = op_.c + t.row * op_.ldc + t.col;
    kernels_.tile(t.tile);
  }
  void tile_row(Args& t, Range panel, const Word* packed_b) const {
    for (std::int64_t j = panel.begin; j < panel.end; j += kernels_.nr) {
      const auto cols = static_cast<int>(std::min<std::int64_t>(kernels_.nr, panel.end - j));
      set_b(t, j, cols, packed_b + (j - panel.begin) * t.steps.size());
      tile(t);
    }
  }
  void tile_and_pack(Args& t, Word* out) const {
    pack({.source = op_.b + first_term(t.steps) * op_.b_k + t.col * op_.b_col,
          .strip_stride = op_.b_col,
          .k_stride = op_.b_k,
          .terms = terms(t.steps),
          .valid = t.tile.cols,
          .width = kernels_.nr,
          .out = out});
    t.tile.b = out;
    tile(t);
  }

 private:
  std::int64_t first_term(Range steps) const { return kernels_.terms_per_word * steps.begin; }
  std::int64_t terms(Range steps) const {
    return std::min(kernels_.terms_per_word * steps.end, op_.k) - first_term(steps);
  }
  void pack(const Bf16PackArgs<float>& args) const { kernels_.pack_f32(args); }
  void pack(const Bf16PackArgs<std::uint16_t>& args) const { kernels_.pack_bf16(args); }

  const Operands<T>& op_;
  const Bf16Kernels& kernels_;
};

template <typename T>
void multiply_bf16(const Operands<T>& op, ThreadPool* pool, const std::stop_token& stop) {
  if (op.flop() < kParallelBf16Flop) pool = nullptr;
  multiply(Bf16Product<T>(op, bf16_kernels()), op, pool, stop);
}

}  // namespace

void bf16_gemm(const Bf16GemmArgs& args, ThreadPool* pool, const std::stop_token& stop) {
  check_gemm(args);
  if (!finish_if_empty(args)) multiply_bf16(Operands<std::uint16_t>(args), pool, stop);
}

void gemm_of_rounded(const GemmArgs& args, ThreadPool* pool, const std::stop_token& stop) {
  if (!finish_if_empty(args)) multiply_bf16(Operands<float>(args), pool, stop);
}

}  // namespace lab
