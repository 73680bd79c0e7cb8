#pragma once
// The two ways to run a GEMM on our micro-kernels, and how threads share one. Internal to matmul.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "compute/device/thread_pool.h"
#include "compute/matmul/cache_blocks.h"
#include "compute/matmul/gemm.h"
#include "compute/matmul/gemm_kernels.h"
#include "hwy/aligned_allocator.h"

namespace lab {

// Half-open range of rows, columns or terms.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

// op(A) and op(B) by strides: A(i, p) = a[i * a_row + p * a_k], B(p, j) = b[p * b_k + j * b_col].
struct GemmOperands {
  explicit GemmOperands(const GemmArgs& args);
  std::int64_t m, n, k;
  const float* a;
  std::int64_t a_row, a_k;
  const float* b;
  std::int64_t b_k, b_col;
  float* c;
  std::int64_t ldc;
  bool accumulate;
};

// Threads as a grid over C: rows x columns.
struct ThreadGrid {
  int rows = 1;
  int cols = 1;
  int size() const { return rows * cols; }
};
// The grid of exactly `threads` whose largest part of C, in whole tiles, is smallest; among equals
// the one with more rows when `prefer_rows`, else with more columns.
ThreadGrid choose_grid(int threads, std::int64_t row_tiles, std::int64_t col_tiles,
                       bool prefer_rows);

// Piece `index` of `pieces` of [0, total), cut at multiples of `multiple`.
Range piece(std::int64_t total, std::int64_t multiple, int pieces, int index);

// Floats for packing that a thread keeps from call to call; grows, never shrinks.
class Scratch {
 public:
  float* at_least(std::int64_t floats);

 private:
  hwy::AlignedFreeUniquePtr<float[]> data_;
  std::int64_t floats_ = 0;
};
// The calling thread's own.
struct GemmScratch {
  Scratch a;         // block of A of this thread
  Scratch b;         // strip of B of this thread
  Scratch shared_b;  // blocks of B for all threads, owned by the caller of gemm()
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

// Without packing, but for strips of B that are transposed or narrower than a tile. C[rows, cols]
// on the calling thread.
void gemm_direct(const GemmOperands& op, Range rows, Range cols, const GemmKernels& kernels);

// Packed blocks, shared by the threads of a grid. run(t) is called once by each thread t at the
// same time; all of them return early once `stop` is requested, and throw std::bad_alloc when one
// of them gets no memory.
class PackedGemm {
 public:
  PackedGemm(const GemmOperands& op, ThreadGrid grid, const GemmKernels& kernels,
             const std::stop_token& stop);
  void run(int thread);

 private:
  void pack_b(Range terms, Range cols, int thread_row, float* out) const;
  // `mc` rows of A at a time through `packed_a`.
  void multiply(Range terms, Range rows, Range cols, std::int64_t mc, float* packed_a,
                const float* packed_b) const;

  const GemmOperands& op_;
  const ThreadGrid grid_;
  const GemmKernels& kernels_;
  const std::stop_token& stop_;
  const CacheBlocks blocks_;
  std::int64_t kc_ = 0;            // terms in a block, all blocks but the last
  std::int64_t nc_ = 0;            // columns in a block
  std::int64_t column_steps_ = 0;  // blocks of columns that the widest thread column has
  float* shared_b_ = nullptr;      // two blocks for each thread column, used in turn
  Barrier barrier_;
  std::atomic<bool> out_of_memory_ = false;
  std::atomic<bool> stopping_[2] = {false, false};  // as thread 0 saw it, for odd and even steps
};

// Throws Error(InvalidArgument) naming the operation and the shapes.
void check_gemm(const GemmArgs& args);

// gemm() on our own kernels; leaves C half done once `stop` is requested. Packs always when
// `always_pack`.
void lab_gemm(const GemmArgs& args, ThreadPool* pool, bool always_pack,
              const std::stop_token& stop);

// True when there is nothing to multiply: C is then what it must be.
bool finish_if_empty(const GemmArgs& args);

// gemm() by oneDNN on as many threads as `pool` has, on its cores; on the caller for nullptr.
void onednn_gemm(const GemmArgs& args, const ThreadPool* pool);

}  // namespace lab
