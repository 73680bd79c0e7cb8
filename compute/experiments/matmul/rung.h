#pragma once
// One rung of the CPU ladder: a matrix multiplication with its names and description.
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>

#include "compute/core/fields/enum_names.h"
#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_bf16.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// C = A*B, FP32, row-major, any M,N,K >= 0 and leading dimensions >= the row length; K == 0 writes
// zeros. `args` is a plain product: no transposed operand, no accumulation into C. The lab's own
// rungs poll `stop` between blocks of rows and then leave C incomplete. A library call cannot be
// interrupted, so a product above 40 GFLOP is passed to a library in blocks of rows, which costs at
// most about 4 %.
using RungFunction = void (*)(const GemmArgs& args, ThreadPool& pool, const std::stop_token& stop);
// Same for A and B in bf16.
using Bf16RungFunction = void (*)(const Bf16GemmArgs& args, ThreadPool& pool,
                                  const std::stop_token& stop);

struct Rung {
  const char* name;      // for --kernels
  const char* title;     // display name
  const char* sentence;  // what it adds to the previous rung and why that helps
  bool library;
  RungFunction run;
  Bf16RungFunction run_bf16 = nullptr;  // null: FP32 only
  const char* bf16_sentence = "";       // replaces `sentence` for bf16 operands
  // Returns RungInfo::chosen, once the rung has multiplied on `pool`; null: unknown.
  std::string (*chosen)(const ThreadPool& pool) = nullptr;
};

// Calls `product` once for all of `args`, or for consecutive blocks of rows if the product is
// large, until `stop` is requested.
// Args: GemmArgs or Bf16GemmArgs.
template <class Args>
void for_row_blocks(const Args& args, const std::stop_token& stop,
                    FunctionRef<void(const std::type_identity_t<Args>&)> product);

// A RungFunction or Bf16RungFunction that calls `kGemm`, a library's product, for blocks of rows.
template <auto kGemm, class Args>
void in_row_blocks(const Args& args, ThreadPool& pool, const std::stop_token& stop) {
  for_row_blocks(args, stop, [&](const Args& block) { kGemm(block, &pool); });
}

Rung naive_rung();
Rung loop_order_rung();
Rung tiles_rung();
Rung simd_rung();
Rung packed_rung();
Rung parallel_rung();
Rung onednn_rung();
Rung openblas_rung();

// All rungs of CPU devices in ladder order, libraries last.
std::span<const Rung> cpu_ladder();

// The fastest of the lab's own rungs.
inline constexpr const char* kBestCpuRung = "parallel";

}  // namespace lab
