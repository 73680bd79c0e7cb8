#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/kernels/gemm/cache_blocks.h"

#include <new>
#include <utility>

namespace lab {
namespace {

constexpr int kSpins = 4000;  // 40 to 200 us, depending on the processor's pause instruction

}  // namespace

void run_on(ThreadPool* pool, FunctionRef<void(int thread)> task) {
  if (pool == nullptr) {
    task(0);
  } else {
    pool->run(task);
  }
}

void run_parts_on(ThreadPool* pool, std::int64_t parts,
                  FunctionRef<void(std::int64_t part, int thread)> task) {
  if (pool != nullptr) return pool->run_parts(parts, task);
  for (std::int64_t part = 0; part < parts; ++part) task(part, 0);
}

ThreadGrid choose_grid(int parts, std::int64_t row_tiles, std::int64_t col_tiles,
                       bool prefer_rows) {
  ThreadGrid best{1, parts};
  std::int64_t best_tiles = 0;
  for (int rows = 1; rows <= parts; ++rows) {
    if (parts % rows != 0) continue;
    const std::int64_t tiles = ceil_div(row_tiles, rows) * ceil_div(col_tiles, parts / rows);
    const bool better = prefer_rows ? tiles <= best_tiles : tiles < best_tiles;
    if (rows == 1 || better) {
      best = {rows, parts / rows};
      best_tiles = tiles;
    }
  }
  return best;
}

Range piece(std::int64_t total, std::int64_t multiple, int pieces, int index) {
  const std::int64_t units = ceil_div(total, multiple);
  const auto cut = [&](int i) { return std::min(units * i / pieces * multiple, total); };
  return {cut(index), cut(index + 1)};
}

void* PackingBuffer::bytes_at_least(std::int64_t bytes) {
  if (bytes > bytes_) {
    auto larger = hwy::AllocateAligned<std::byte>(static_cast<std::size_t>(bytes));
    if (!larger) throw std::bad_alloc();
    data_ = std::move(larger);
    bytes_ = bytes;
  }
  return data_.get();
}

GemmScratch& gemm_scratch() {
  thread_local GemmScratch scratch;
  return scratch;
}

void Barrier::arrive_and_wait() {
  const unsigned phase = phase_.load(std::memory_order_acquire);
  if (waiting_for_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    waiting_for_.store(threads_, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    phase_.notify_all();
    return;
  }
  for (int i = 0; i < kSpins; ++i) {
    if (phase_.load(std::memory_order_acquire) != phase) return;
    spin_pause();
  }
  phase_.wait(phase, std::memory_order_acquire);
}

}  // namespace lab
