#include "compute/kernels/gemm/gemm.h"

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/kernels/gemm/gemm_bf16.h"
#include "compute/kernels/gemm/gemm_blocks.h"
#include "compute/kernels/gemm/gemm_kernels.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {
namespace {

// The terms are divided instead of C if C has too few tiles to divide among threads and to make
// adding the partial sums expensive. Whether and how depends on the shape only, because it
// determines the sums' rounding.
constexpr std::int64_t kFewTiles = 32;
constexpr std::int64_t kFewestTerms = 1024;
constexpr std::int64_t kMostTermParts = 16;

// Returns wide tiles where there are enough columns for them to save more than a partial last strip
// costs, and enough rows and terms to save more than packing strips of B and writing C cost.
const GemmKernels& kernels_for(const GemmOperands& op) {
  constexpr std::int64_t kMany = 1500, kManyTerms = 1000;
  const bool wide = op.m >= kMany && op.n >= kMany && op.k >= kManyTerms;
  // One wide tile takes less time than a tile and a part of the next one.
  const bool one_tile = op.n > gemm_kernels().nr && op.n <= wide_gemm_kernels().nr;
  return wide || one_tile ? wide_gemm_kernels() : gemm_kernels();
}

// The product of FP32 matrices; a step is one term.
class F32Product {
 public:
  using Word = float;
  struct Args {
    TileArgs tile;
    Range steps;
    std::int64_t row = 0, col = 0;  // in C
  };

  // Packs only what the kernels cannot read in place if not `packs`.
  F32Product(const GemmOperands& op, const GemmKernels& kernels, bool packs)
      : op_(op), kernels_(kernels), packs_(packs), mr_(rows_of_tiles()) {}

  std::int64_t steps() const { return op_.k; }
  int mr() const { return mr_; }
  int nr() const { return kernels_.nr; }
  static std::int64_t whole_steps() { return 1; }
  static bool takes_strips() { return true; }
  // Few columns of B stay in L2 for more terms, which read longer pieces of A's rows, where
  // prefetchers follow. The distance of a single row's terms is no part of the shape.
  std::int64_t most_steps() const {
    constexpr std::int64_t kElementsInL2 = 1 << 16, kFewestColumns = 32;  // of a packed strip
    if (op_.a_k != 1 || op_.m == 1) return kStepsOfBlock;
    return std::max(kStepsOfBlock, kElementsInL2 / std::max(op_.n, kFewestColumns));
  }

  // Strips of a stored row are read in place, except tall ones whose rows share the sets of L1.
  // Those of a stored column lie in as many lines as there are terms, most of them pages apart.
  bool packs_a(std::int64_t col_tiles) const {
    if (is_tall() && is_aliased(op_.a_row)) return true;
    return packs_ && is_far(op_.a_k) && col_tiles >= kTilesToPack && op_.k > kFewSteps;
  }
  // B stays in L2, if not in L1, for all strips of A that read it in place; where L1 cannot hold a
  // tile's rows of B together, many strips repay packing it nevertheless.
  bool packs_b(std::int64_t row_tiles, std::int64_t cols) const {
    const bool fits = is_aligned_b() ? stays_in_l2() : b_bytes() <= cache_sizes().l1_bytes;
    const bool thrashes = is_aliased(op_.b_k) && op_.k > rows_in_a_set();
    const bool repays =
        fits ? thrashes && row_tiles >= kTilesToPackAliased : is_far(op_.b_k) && row_tiles > 1;
    return !reads_b(cols) || (packs_ && repays);
  }
  void pack_a(std::int64_t row, int rows, Range steps, float* out) const {
    kernels_.pack({.source = a_at(row, steps),
                   .strip_stride = op_.a_row,
                   .k_stride = op_.a_k,
                   .k = steps.size(),
                   .valid = rows,
                   .width = mr_,
                   .out = out});
  }

  Args tile_args(Range steps) const {
    const bool accumulate = op_.accumulate || steps.begin > 0;
    return {.tile = {.k = steps.size(),
                     .ldc = op_.ldc,
                     .accumulate = accumulate,
                     .fetches_b = is_tall() && op_.m <= mr_},
            .steps = steps};
  }
  void set_a(Args& t, std::int64_t row, int rows, const float* packed) const {
    t.row = row;
    t.tile.rows = rows;
    t.tile.a = packed != nullptr ? packed : a_at(row, t.steps);
    t.tile.a_row_stride = packed != nullptr ? 1 : op_.a_row;
    t.tile.a_k_stride = packed != nullptr ? mr_ : op_.a_k;
  }
  void set_b(Args& t, std::int64_t col, int cols, const float* packed) const {
    t.col = col;
    t.tile.cols = cols;
    t.tile.b = packed != nullptr ? packed : b_at(col, t.steps);
    t.tile.b_k_stride = packed != nullptr ? kernels_.nr : op_.b_k;
  }
  void tile(Args& t) const {
    t.tile.c = op_.c + t.row * op_.ldc + t.col;
    kernels_.tile(t.tile);
  }
  void tile_row(Args& t, Range panel, const float* packed_b) const {
    const std::int64_t nr = kernels_.nr;
    t.tile.tiles = ceil_div(panel.size(), nr);
    t.tile.b_tile_stride = packed_b != nullptr ? nr * t.steps.size() : nr;
    set_b(t, panel.begin, static_cast<int>(panel.size() - (t.tile.tiles - 1) * nr), packed_b);
    tile(t);
  }
  void tile_row_and_pack(Args& t, Range panel, float* out) const {
    for (std::int64_t j = panel.begin; j < panel.end; j += kernels_.nr) {
      const auto cols = static_cast<int>(std::min<std::int64_t>(kernels_.nr, panel.end - j));
      set_b(t, j, cols, nullptr);
      tile_and_pack(t, out + (j - panel.begin) * t.steps.size());
    }
  }

 private:
  void tile_and_pack(Args& t, float* out) const {
    if (reads_b(t.tile.cols) &&
        (t.tile.rows == kernels_.product_mr || t.tile.rows == kernels_.mr)) {
      t.tile.c = op_.c + t.row * op_.ldc + t.col;
      t.tile.packed_b = out;
      return kernels_.tile_and_pack(t.tile);
    }
    kernels_.pack({.source = b_at(t.col, t.steps),
                   .strip_stride = op_.b_col,
                   .k_stride = op_.b_k,
                   .k = t.steps.size(),
                   .valid = t.tile.cols,
                   .width = kernels_.nr,
                   .out = out});
    t.tile.b = out;
    t.tile.b_k_stride = kernels_.nr;
    tile(t);
  }

  static constexpr std::int64_t kL1Way_bytes = 4096;  // of most processors: a page

  // Fewer tiles than this read a strip of A in place in less time than packing it takes.
  static constexpr std::int64_t kTilesToPack = 2;
  // Packing a B that L1 or L2 holds costs less than this many strips of A that read its aliased
  // rows in place.
  static constexpr std::int64_t kTilesToPackAliased = 4;

  int rows_of_tiles() const {
    if (op_.n <= kernels_.lanes && is_aliased(op_.a_row)) {
      return std::min(kernels_.product_mr, rows_in_a_set());
    }
    // Reading a large B from L3 takes longer than multiplying a strip of A by it. A few strips do
    // not hide that, so they are tall.
    constexpr std::int64_t kFewStrips = 4;
    const bool few = op_.m > kernels_.product_mr && op_.m <= kFewStrips * kernels_.mr;
    return packs_ && few && !stays_in_l2() && op_.k > kFewSteps ? kernels_.mr : kernels_.product_mr;
  }
  bool is_tall() const { return mr_ > kernels_.product_mr; }
  std::int64_t b_bytes() const { return op_.k * op_.n * static_cast<std::int64_t>(sizeof(float)); }
  // Whether L2 holds B in addition to A and C.
  bool stays_in_l2() const { return b_bytes() <= cache_sizes().l2_bytes / 3; }

  // Whether rows at this distance, in floats, are so far apart that prefetchers do not follow.
  static bool is_far(std::int64_t row) {
    constexpr std::int64_t kNear_bytes = 1024;
    return row * static_cast<std::int64_t>(sizeof(float)) > kNear_bytes;
  }
  // Whether rows at this distance, in floats, map to the same set of L1 at every term.
  static bool is_aliased(std::int64_t row) {
    return row * static_cast<std::int64_t>(sizeof(float)) % kL1Way_bytes == 0;
  }
  // How many such rows L1 holds in addition to B and C.
  static int rows_in_a_set() {
    constexpr std::int64_t kOtherWays = 2;
    return static_cast<int>(
        std::max<std::int64_t>(cache_sizes().l1_bytes / kL1Way_bytes - kOtherWays, 1));
  }
  // Whether every vector load of B in place stays within one cache line.
  bool is_aligned_b() const {
    const std::int64_t vector_bytes = kernels_.lanes * static_cast<std::int64_t>(sizeof(float));
    return op_.b_k % kernels_.lanes == 0 &&
           reinterpret_cast<std::uintptr_t>(op_.b) % static_cast<std::uintptr_t>(vector_bytes) == 0;
  }
  // Whether the kernels can read this number of columns of B in place.
  bool reads_b(std::int64_t cols) const {
    return op_.b_col == 1 && (kernels_.loads_parts || cols % kernels_.lanes == 0);
  }
  const float* a_at(std::int64_t row, Range steps) const {
    return op_.a + row * op_.a_row + steps.begin * op_.a_k;
  }
  const float* b_at(std::int64_t col, Range steps) const {
    return op_.b + steps.begin * op_.b_k + col * op_.b_col;
  }

  const GemmOperands& op_;
  const GemmKernels& kernels_;
  const bool packs_;
  const int mr_;
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

void gemm_part(const GemmOperands& op, const GemmKernels& kernels, Range rows, Range cols,
               bool packs, const std::stop_token& stop) {
  const F32Product product(op, kernels, packs);
  if (rows.size() > 0 && cols.size() > 0) PartOfGemm(product, rows, cols).run(stop);
}

namespace {

// For a small C with many terms: each part sums a range of the terms for all of C, then the partial
// sums are added in order.
void split_terms(const GemmOperands& op, int parts, ThreadPool* pool, const std::stop_token& stop) {
  constexpr int kSumParts = 8;
  const std::int64_t size = op.m * op.n;
  float* sums = gemm_scratch().sums.at_least((parts - 1) * size);
  run_parts_on(pool, parts, [&](std::int64_t p, int /*thread*/) {
    const Range terms = piece(op.k, 1, parts, static_cast<int>(p));
    GemmOperands part = op;
    part.k = terms.size();
    part.a += terms.begin * op.a_k;
    part.b += terms.begin * op.b_k;
    if (p > 0) {
      part.c = sums + (p - 1) * size;
      part.ldc = op.n;
      part.accumulate = false;
    }
    gemm_part(part, gemm_kernels(), {0, op.m}, {0, op.n}, /*packs=*/true, stop);
  });
  if (stop.stop_requested()) return;
  run_parts_on(pool, kSumParts, [&](std::int64_t at, int /*thread*/) {
    const Range rows = piece(op.m, 1, kSumParts, static_cast<int>(at));
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      float* c = op.c + i * op.ldc;
      for (int p = 1; p < parts; ++p) {
        const float* part = sums + (p - 1) * size + i * op.n;
        for (std::int64_t j = 0; j < op.n; ++j) c[j] += part[j];
      }
    }
  });
}

}  // namespace

void lab_gemm(const GemmArgs& args, ThreadPool* pool, const std::stop_token& stop) {
  if (args.products == Precision::BF16) return gemm_of_rounded(args, pool, stop);
  if (finish_if_empty(args)) return;
  const GemmOperands op(args);
  const GemmKernels& kernels = kernels_for(op);
  pool = pool_if_it_pays(pool, op, kernels.lanes);
  const std::int64_t row_tiles = ceil_div(op.m, kernels.product_mr);
  const std::int64_t col_tiles = ceil_div(op.n, kernels.nr);
  if (row_tiles * col_tiles < kFewTiles && op.k >= 2 * kFewestTerms) {
    return split_terms(op, static_cast<int>(std::min(op.k / kFewestTerms, kMostTermParts)), pool,
                       stop);
  }
  multiply(F32Product(op, kernels, /*packs=*/true), op, pool, stop);
}

void gemm(const GemmArgs& args, ThreadPool& pool, Kernels kernels) {
  check_gemm(args);
  if (kernels == Kernels::Library) {
    onednn_gemm(args, &pool);
  } else {
    lab_gemm(args, &pool, {});
  }
}

}  // namespace lab
