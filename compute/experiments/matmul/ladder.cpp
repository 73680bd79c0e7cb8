#include <algorithm>
#include <array>

#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/cache_blocks.h"

namespace lab {
namespace {

constexpr double kLargeFlop = 40e9;
constexpr double kBlockFlop = 24e9;
constexpr std::int64_t kFewestRows = 512;

}  // namespace

template <class Args>
void for_row_blocks(const Args& args, const std::stop_token& stop,
                    FunctionRef<void(const std::type_identity_t<Args>&)> product) {
  const double flop_a_row = 2.0 * static_cast<double>(args.n) * static_cast<double>(args.k);
  if (flop_a_row * static_cast<double>(args.m) <= kLargeFlop) return product(args);
  const auto limit = std::max(static_cast<std::int64_t>(kBlockFlop / flop_a_row), kFewestRows);
  const std::int64_t rows = even_piece(args.m, limit, 1);
  for (std::int64_t i = 0; i < args.m && !stop.stop_requested(); i += rows) {
    Args block = args;
    block.m = std::min(rows, args.m - i);
    block.a += i * args.lda;
    block.c += i * args.ldc;
    product(block);
  }
}

template void for_row_blocks(const GemmArgs&, const std::stop_token&,
                             FunctionRef<void(const GemmArgs&)>);
template void for_row_blocks(const Bf16GemmArgs&, const std::stop_token&,
                             FunctionRef<void(const Bf16GemmArgs&)>);

std::span<const Rung> cpu_ladder() {
  static const std::array kLadder = {naive_rung(),  loop_order_rung(), tiles_rung(),
                                     simd_rung(),   packed_rung(),     parallel_rung(),
                                     onednn_rung(), openblas_rung()};
  return kLadder;
}

}  // namespace lab
