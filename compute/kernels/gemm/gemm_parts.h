#pragma once
// What the ways to run a GEMM have in common, and how threads share one. Internal to matmul.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/gemm_kernels.h"
#include "compute/machine/thread_pool.h"
#include "hwy/aligned_allocator.h"

namespace lab {

// Half-open range of rows, columns or terms.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

// op(A) and op(B) by strides: A(i, p) = a[i * a_row + p * a_k], B(p, j) = b[p * b_k + j * b_col].
template <typename T>
struct Operands {
  template <class Args>  // GemmArgs, or Bf16GemmArgs
  explicit Operands(const Args& args)
      : m(args.m),
        n(args.n),
        k(args.k),
        a(args.a),
        a_row(args.a_transposed ? 1 : args.lda),
        a_k(args.a_transposed ? args.lda : 1),
        b(args.b),
        b_k(args.b_transposed ? 1 : args.ldb),
        b_col(args.b_transposed ? args.ldb : 1),
        c(args.c),
        ldc(args.ldc),
        accumulate(args.accumulate) {}
  std::int64_t m, n, k;
  const T* a;
  std::int64_t a_row, a_k;
  const T* b;
  std::int64_t b_k, b_col;
  float* c;
  std::int64_t ldc;
  bool accumulate;
};
using GemmOperands = Operands<float>;

// Threads as a grid over C: rows x columns.
struct ThreadGrid {
  int rows = 1;
  int cols = 1;
  int size() const { return rows * cols; }
};
// On all threads of the pool, or as the only one on the caller for nullptr.
void run_on(ThreadPool* pool, FunctionRef<void(int thread)> task);
// The grid of exactly `threads` whose largest part of C, in whole tiles, is smallest; among equals
// the one with more rows when `prefer_rows`, else with more columns.
ThreadGrid choose_grid(int threads, std::int64_t row_tiles, std::int64_t col_tiles,
                       bool prefer_rows);

// Piece `index` of `pieces` of [0, total), cut at multiples of `multiple`.
Range piece(std::int64_t total, std::int64_t multiple, int pieces, int index);

// Memory for packing that a thread keeps from call to call; grows, never shrinks.
class PackingBuffer {
 public:
  template <typename Word = float>
  Word* at_least(std::int64_t words) {
    return static_cast<Word*>(bytes_at_least(words * static_cast<std::int64_t>(sizeof(Word))));
  }

 private:
  void* bytes_at_least(std::int64_t bytes);
  hwy::AlignedFreeUniquePtr<std::byte[]> data_;
  std::int64_t bytes_ = 0;
};
// The calling thread's own.
struct GemmScratch {
  PackingBuffer a;         // block of A of this thread
  PackingBuffer b;         // panel of B of this thread
  PackingBuffer shared_b;  // blocks of B for all threads, owned by the caller of gemm()
  PackingBuffer sums;      // what the threads sum apart, owned by the caller of gemm()
};
GemmScratch& gemm_scratch();

// All `threads` arrive before any leaves. Spins for a fraction of a millisecond,
// then sleeps.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads), waiting_for_(threads) {}
  void arrive_and_wait();

 private:
  const int threads_;
  std::atomic<int> waiting_for_;
  std::atomic<unsigned> phase_ = 0;
};

// C[rows, cols] on the calling thread alone. A is read as it lies, B is packed in panels that stay
// in the second cache, where packing pays. Returns early once `stop` is requested.
void gemm_direct(const GemmOperands& op, Range rows, Range cols, const GemmKernels& kernels,
                 const std::stop_token& stop = {});

// Whether gemm_direct() packs B for a part of C of so many rows and columns: where the kernels
// cannot read it as it lies, or only slowly.
bool packs_b(const GemmOperands& op, std::int64_t rows, std::int64_t cols,
             const GemmKernels& kernels);

// For a small C with many terms: each thread sums a range of the terms for all of C, then the sums
// are added in the order of the threads.
void gemm_split_terms(const GemmOperands& op, ThreadPool& pool, const GemmKernels& kernels,
                      const std::stop_token& stop);

// Throws Error(InvalidArgument) naming the operation and the shapes.
// Args: GemmArgs or Bf16GemmArgs.
template <class Args>
void check_gemm(const Args& args);

// gemm() on our own kernels; leaves C half done once `stop` is requested. Packs always when
// `always_pack`.
void lab_gemm(const GemmArgs& args, ThreadPool* pool, bool always_pack,
              const std::stop_token& stop);

// True when there is nothing to multiply: C is then what it must be.
template <class Args>
bool finish_if_empty(const Args& args);

// gemm() by oneDNN on as many threads as `pool` has, on its cores; on the caller for nullptr.
void onednn_gemm(const GemmArgs& args, const ThreadPool* pool);

}  // namespace lab
