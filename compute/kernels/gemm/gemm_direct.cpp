// GEMM without shared blocks: threads do not wait for each other.
//   for each block of terms, for each panel of columns that stays in L2:
//     for each strip of mr rows, for each strip of nr columns: the micro-kernel
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {
namespace {

constexpr std::int64_t kTermsPerPass = 512;
// Rows of B at this distance are on pages of their own. A strip that is slow to read in place is
// worth packing if it serves so many tiles.
constexpr std::int64_t kFarRow_bytes = 4096;
constexpr std::int64_t kTilesToPack = 16, kTilesToPackAliased = 2;

class DirectGemm {
 public:
  DirectGemm(const GemmOperands& op, Range rows, Range cols, const GemmKernels& kernels);
  void run(const std::stop_token& stop) const;

 private:
  void multiply_panel(Range terms, Range cols) const;
  // Sets `tile` to the strip of A that starts at row `i`.
  void read_a(Range terms, std::int64_t i, TileArgs& tile) const;

  const GemmOperands& op_;
  const Range rows_, cols_;
  const GemmKernels& kernels_;
  const bool packs_b_;
};

DirectGemm::DirectGemm(const GemmOperands& op, Range rows, Range cols, const GemmKernels& kernels)
    : op_(op),
      rows_(rows),
      cols_(cols),
      kernels_(kernels),
      packs_b_(packs_b(op, rows.size(), cols.size(), kernels)) {}

void DirectGemm::run(const std::stop_token& stop) const {
  const std::int64_t kc = even_piece(op_.k, kTermsPerPass, 1);
  const std::int64_t fit =
      cache_sizes().l2_bytes / 2 / (kc * static_cast<std::int64_t>(sizeof(float)));
  const std::int64_t nc =
      even_piece(cols_.size(), std::max<std::int64_t>(fit, kernels_.nr), kernels_.nr);
  for (std::int64_t p = 0; p < op_.k; p += kc) {
    for (std::int64_t j = cols_.begin; j < cols_.end; j += nc) {
      if (stop.stop_requested()) return;
      multiply_panel({p, std::min(p + kc, op_.k)}, {j, std::min(j + nc, cols_.end)});
    }
  }
}

void DirectGemm::multiply_panel(Range terms, Range cols) const {
  const std::int64_t nr = kernels_.nr;
  TileArgs tile{.k = terms.size(),
                .b_k_stride = op_.b_k,
                .ldc = op_.ldc,
                .accumulate = op_.accumulate || terms.begin > 0};
  const float* b = op_.b + terms.begin * op_.b_k + cols.begin * op_.b_col;
  std::int64_t strip_stride = nr;
  if (packs_b_) {
    float* packed = gemm_scratch().b.at_least(ceil_div(cols.size(), nr) * nr * terms.size());
    kernels_.pack({.source = b,
                   .strip_stride = op_.b_col,
                   .k_stride = op_.b_k,
                   .k = terms.size(),
                   .valid = static_cast<int>(cols.size()),
                   .width = kernels_.nr,
                   .out = packed});
    b = packed;
    tile.b_k_stride = nr;
    strip_stride = nr * terms.size();
  }
  for (std::int64_t i = rows_.begin; i < rows_.end; i += kernels_.mr) {
    read_a(terms, i, tile);
    tile.b = b;
    for (std::int64_t j = cols.begin; j < cols.end; j += nr, tile.b += strip_stride) {
      tile.c = op_.c + i * op_.ldc + j;
      tile.cols = static_cast<int>(std::min(nr, cols.end - j));
      kernels_.tile_strided(tile);
    }
  }
}

void DirectGemm::read_a(Range terms, std::int64_t i, TileArgs& tile) const {
  tile.rows = static_cast<int>(std::min<std::int64_t>(kernels_.mr, rows_.end - i));
  tile.a = op_.a + i * op_.a_row + terms.begin * op_.a_k;
  tile.a_row_stride = op_.a_row;
  tile.a_k_stride = op_.a_k;
}

// Rows at this distance, in floats, map to so few cache sets that a strip does not stay in L1.
bool is_aliased(std::int64_t row) {
  return row * static_cast<std::int64_t>(sizeof(float)) % kFarRow_bytes == 0;
}

}  // namespace

bool packs_b(const GemmOperands& op, std::int64_t rows, std::int64_t cols,
             const GemmKernels& kernels) {
  if (op.b_col != 1) return true;
  if (!kernels.loads_parts && cols % kernels.lanes != 0) return true;
  const std::int64_t row_bytes = op.b_k * static_cast<std::int64_t>(sizeof(float));
  if (row_bytes < kFarRow_bytes) return false;
  const std::int64_t enough = is_aliased(op.b_k) ? kTilesToPackAliased : kTilesToPack;
  return ceil_div(rows, kernels.mr) >= enough;
}

void gemm_direct(const GemmOperands& op, Range rows, Range cols, const GemmKernels& kernels,
                 const std::stop_token& stop) {
  if (rows.size() > 0 && cols.size() > 0) DirectGemm(op, rows, cols, kernels).run(stop);
}

void gemm_split_terms(const GemmOperands& op, int parts, ThreadPool* pool,
                      const GemmKernels& kernels, const std::stop_token& stop) {
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
    gemm_direct(part, {0, op.m}, {0, op.n}, kernels, stop);
  });
  if (stop.stop_requested()) return;
  run_parts_on(pool, op.m, [&](std::int64_t i, int /*thread*/) {
    float* c = op.c + i * op.ldc;
    for (int p = 1; p < parts; ++p) {
      const float* part = sums + (p - 1) * size + i * op.n;
      for (std::int64_t j = 0; j < op.n; ++j) c[j] += part[j];
    }
  });
}

}  // namespace lab
