#include "compute/kernels/gemm/gemm_bf16.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/gemm_blocks.h"

namespace lab {
namespace {

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

  std::int64_t most_steps() const { return kernels_.block_steps; }
  std::int64_t whole_steps() const { return kernels_.by_rows ? kernels_.lanes : 1; }
  bool takes_strips() const { return !kernels_.by_rows; }
  static bool packs_a(std::int64_t /*col_tiles*/) { return true; }
  static bool packs_b(std::int64_t /*row_tiles*/, std::int64_t /*cols*/) { return true; }
  void pack_a(std::int64_t row, int rows, Range steps, Word* out) const {
    for (int first = 0; first < rows; first += kernels_.mr) {
      if (packs_rows()) {
        pack_rows(row + first, std::min(rows - first, kernels_.mr), steps,
                  out + first * steps.size());
        continue;
      }
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
                     .a_row_stride = packs_rows() ? steps.size() : 1,
                     .a_k_stride = packs_rows() ? 1 : kernels_.mr,
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
    const std::int64_t nr = kernels_.nr;
    t.tile.tiles = ceil_div(panel.size(), nr);
    t.tile.b_tile_stride = nr * t.steps.size();
    set_b(t, panel.begin, static_cast<int>(panel.size() - (t.tile.tiles - 1) * nr), packed_b);
    tile(t);
  }
  void tile_row_and_pack(Args& t, Range panel, Word* out) const {
    for (std::int64_t j = panel.begin; j < panel.end; j += kernels_.nr) {
      const auto cols = static_cast<int>(std::min<std::int64_t>(kernels_.nr, panel.end - j));
      Word* const strip = out + (j - panel.begin) * t.steps.size();
      pack({.source = op_.b + first_term(t.steps) * op_.b_k + j * op_.b_col,
            .strip_stride = op_.b_col,
            .k_stride = op_.b_k,
            .terms = terms(t.steps),
            .valid = cols,
            .width = kernels_.nr,
            .out = strip});
      if (kernels_.by_rows) continue;
      set_b(t, j, cols, strip);
      tile(t);
    }
    if (kernels_.by_rows) tile_row(t, panel, out);
  }

 private:
  std::int64_t first_term(Range steps) const { return kernels_.terms_per_word * steps.begin; }
  std::int64_t terms(Range steps) const {
    return std::min(kernels_.terms_per_word * steps.end, op_.k) - first_term(steps);
  }
  // Rows whose terms are contiguous become rows of words; columns are packed as for other kernels.
  bool packs_rows() const { return kernels_.by_rows && op_.a_k == 1; }
  void pack_rows(std::int64_t row, int rows, Range steps, Word* out) const {
    for (int i = 0; i < rows; ++i) {
      const T* const from = op_.a + (row + i) * op_.a_row + first_term(steps);
      words_of_row(from, out + i * steps.size(), terms(steps));
    }
  }
  void words_of_row(const float* from, Word* out, std::int64_t terms) const {
    kernels_.round_row(from, out, terms);
  }
  static void words_of_row(const std::uint16_t* from, Word* out, std::int64_t terms) {
    if (terms % 2 != 0) out[terms / 2] = 0;
    std::memcpy(out, from, static_cast<std::size_t>(terms) * sizeof(*from));
  }
  void pack(const Bf16PackArgs<float>& args) const { kernels_.pack_f32(args); }
  void pack(const Bf16PackArgs<std::uint16_t>& args) const { kernels_.pack_bf16(args); }

  const Operands<T>& op_;
  const Bf16Kernels& kernels_;
};

template <typename T>
void multiply_bf16(const Operands<T>& op, ThreadPool* pool, const std::stop_token& stop) {
  const Bf16Kernels& kernels = bf16_kernels();
  // AMX adds 16 times as many terms at once, of which packing leaves a quarter.
  const int terms_at_once = kernels.lanes * kernels.terms_per_word * (kernels.by_rows ? 4 : 1);
  pool = pool_if_it_pays(pool, op, terms_at_once);
  multiply(Bf16Product<T>(op, kernels), op, pool, stop);
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
