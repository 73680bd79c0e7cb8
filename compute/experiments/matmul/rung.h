#pragma once
// One step of the ladder: a way to multiply matrices, and what it teaches.
#include <span>
#include <stop_token>
#include <type_traits>

#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_bf16.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// C = A*B, FP32, row-major, any M,N,K >= 0 and leading dimensions >= the row length; K == 0 writes
// zeros. `args` is a plain product: nothing transposed, nothing accumulated. Our rungs look at
// `stop` between blocks of rows and then leave C half done. A library's call runs to its end, so
// products past 40 GFLOP are given to it in blocks of rows (which costs it at most about 4 %).
using RungFunction = void (*)(const GemmArgs& args, ThreadPool& pool, const std::stop_token& stop);
// The same for A and B in bf16.
using Bf16RungFunction = void (*)(const Bf16GemmArgs& args, ThreadPool& pool,
                                  const std::stop_token& stop);

struct Rung {
  const char* name;      // for --kernels
  const char* title;     // for people
  const char* sentence;  // what it adds to the rung before and why that helps
  bool library;
  RungFunction run;
  Bf16RungFunction run_bf16 = nullptr;  // null: FP32 only
  const char* bf16_sentence = "";       // its sentence when the factors are bf16
};

// Calls `product` for all of `args`, or for one block of rows after the other while it is large and
// `stop` is not requested.
// Args: GemmArgs or Bf16GemmArgs.
template <class Args>
void for_row_blocks(const Args& args, const std::stop_token& stop,
                    FunctionRef<void(const std::type_identity_t<Args>&)> product);

Rung naive_rung();
Rung loop_order_rung();
Rung tiles_rung();
Rung simd_rung();
Rung packed_rung();
Rung parallel_rung();
Rung onednn_rung();
Rung openblas_rung();

// All of them for CPU devices in ladder order, libraries last.
std::span<const Rung> cpu_ladder();

// The fastest of ours.
inline constexpr const char* kBestCpuRung = "parallel";

}  // namespace lab
