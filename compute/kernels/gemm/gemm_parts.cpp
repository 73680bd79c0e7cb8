#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/kernels/gemm/cache_blocks.h"

#include <new>
#include <utility>

namespace lab {

template <typename T>
ThreadPool* pool_if_it_pays(ThreadPool* pool, const Operands<T>& op, int terms_at_once) {
  constexpr double kFewestFlop = 1e5, kMostFlop = 2e7;  // outside, the answer is known
  // What one thread of a current core reaches: most of two multiply-adds per cycle, and storing C
  // in L2.
  constexpr double kFlopPerTerm_s = 12e9, kStored_bytes_s = 80e9;
  if (pool == nullptr || op.flop() > kMostFlop) return pool;
  if (op.flop() < kFewestFlop) return nullptr;
  const double c_bytes = sizeof(float) * static_cast<double>(op.m) * static_cast<double>(op.n);
  const double alone_s =
      std::max(op.flop() / (terms_at_once * kFlopPerTerm_s), c_bytes / kStored_bytes_s);
  const double saved_s = alone_s * (1 - 1.0 / pool->size());
  // Some cores are faster than that, and lines of C move between them.
  constexpr double kMargin = 1.5;
  return saved_s > kMargin * pool->handing_out_s() ? pool : nullptr;
}

template ThreadPool* pool_if_it_pays(ThreadPool*, const Operands<float>&, int);
template ThreadPool* pool_if_it_pays(ThreadPool*, const Operands<std::uint16_t>&, int);

void run_parts_on(ThreadPool* pool, std::int64_t parts,
                  FunctionRef<void(std::int64_t part, int thread)> task) {
  if (pool != nullptr) return pool->run_parts(parts, task);
  for (std::int64_t part = 0; part < parts; ++part) task(part, 0);
}

Grid grid_of_parts(const ThreadPool* pool, double flop, std::int64_t row_tiles,
                   std::int64_t col_tiles) {
  // Parts are long enough to hide the cost of handing them out and of packing an operand again.
  constexpr double kPartFlop = 1e8, kMostPerThread = 4;
  // Costs in tiles: reading a strip of A; packing a strip of B from L3.
  constexpr double kReadA = 0.3, kPackB = 2;
  if (pool == nullptr || pool->size() == 1) return {};
  const int threads = pool->size();
  const int parts =
      threads * static_cast<int>(std::clamp(flop / threads / kPartFlop, 1.0, kMostPerThread));
  Grid best;
  double best_time = 0;  // of the largest part, in tiles
  for (int rows = 1; rows <= parts; ++rows) {
    if (parts % rows != 0) continue;
    const auto high = static_cast<double>(ceil_div(row_tiles, rows));
    const auto wide = static_cast<double>(ceil_div(col_tiles, parts / rows));
    const double time = high * wide + high * kReadA + wide * kPackB;
    if (rows == 1 || time < best_time) {
      best = {rows, parts / rows};
      best_time = time;
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

}  // namespace lab
