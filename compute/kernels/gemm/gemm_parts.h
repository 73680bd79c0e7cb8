#pragma once
// Parts shared by the implementations of GEMM, and the division of work among threads.
#include <algorithm>
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

// op(A) and op(B) as strided arrays:
//   A(i, p) = a[i * a_row + p * a_k]     B(p, j) = b[p * b_k + j * b_col]
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
  double flop() const {
    return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }

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

// C divided into parts: rows x columns.
struct Grid {
  int rows = 1;
  int cols = 1;
  int size() const { return rows * cols; }
};
// Returns a grid with parts for all threads of `pool` (one part if null): several for each thread
// if there is enough work, so that threads end at about the same time though some cores are slower
// or busy. The tiles are those of C.
Grid grid_of_parts(const ThreadPool* pool, double flop, std::int64_t row_tiles,
                   std::int64_t col_tiles);
// Returns `pool`, or null where the threads save less than one and a half times what handing out
// parts of the product costs. A multiply-add instruction of the kernels adds `terms_at_once` terms.
template <typename T>
ThreadPool* pool_if_it_pays(ThreadPool* pool, const Operands<T>& op, int terms_at_once);
// Works on the pool's threads, or as thread 0 on the caller if `pool` is null.
void run_parts_on(ThreadPool* pool, std::int64_t parts,
                  FunctionRef<void(std::int64_t part, int thread)> task);

// Returns piece `index` of [0, total) divided into `pieces`, with cuts at multiples of `multiple`.
Range piece(std::int64_t total, std::int64_t multiple, int pieces, int index);

// Packing memory that a thread keeps between calls; grows, never shrinks.
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
// Scratch memory of the calling thread.
struct GemmScratch {
  PackingBuffer a;     // block of A
  PackingBuffer b;     // panel of B
  PackingBuffer sums;  // partial sums of all parts, owned by the caller of gemm()
};
GemmScratch& gemm_scratch();

// Computes C[rows, cols] on the calling thread; packs A and B where that pays off, or only what the
// kernels cannot read in place if not `packs`. Returns early once `stop` is requested.
void gemm_part(const GemmOperands& op, const GemmKernels& kernels, Range rows, Range cols,
               bool packs, const std::stop_token& stop);

// Throws Error(Errc::InvalidArgument) naming the operation and the shapes. Args is GemmArgs or
// Bf16GemmArgs.
template <class Args>
void check_gemm(const Args& args);

// gemm() with the lab's kernels, on the caller if `pool` is null; leaves C incomplete once `stop`
// is requested.
void lab_gemm(const GemmArgs& args, ThreadPool* pool, const std::stop_token& stop);

// Returns true if there is nothing to multiply; C then holds the result.
template <class Args>
bool finish_if_empty(const Args& args);

// gemm() through oneDNN, with the thread count and cores of `pool`; on the caller if null.
void onednn_gemm(const GemmArgs& args, const ThreadPool* pool);

}  // namespace lab
