#include "compute/kernels/gemm/cache_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compute/machine/system_files.h"

namespace lab {
namespace {

// Returns the size of a data or unified cache of `level`; 0 if sysfs does not report it.
std::int64_t cache_bytes(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    if (read_number(folder + "level") != level) continue;
    if (read_text(folder + "type") == "Instruction") continue;
    const std::string unit = read_text(folder + "size").value_or("");  // "48K"
    const std::int64_t size = read_number(folder + "size").value_or(0);
    if (unit.ends_with('K')) return size << 10;
    if (unit.ends_with('M')) return size << 20;
  }
  return 0;
}

CacheSizes read_caches() {
  CacheSizes sizes;
  if (const auto l1 = cache_bytes(1); l1 > 0) sizes.l1_bytes = l1;
  if (const auto l2 = cache_bytes(2); l2 > 0) sizes.l2_bytes = l2;
  const auto l3 = cache_bytes(3);
  sizes.l3_bytes = l3 > 0 ? l3 : sizes.l2_bytes;
  return sizes;
}

std::int64_t round_down(std::int64_t value, std::int64_t multiple) {
  return std::max(value / multiple, std::int64_t{1}) * multiple;
}

}  // namespace

const CacheSizes& cache_sizes() {
  static const CacheSizes sizes = read_caches();
  return sizes;
}

CacheBlocks cache_blocks(const CacheSizes& caches, std::int64_t kc, int mr, int nr) {
  CacheBlocks blocks;
  const std::int64_t step_bytes = std::max<std::int64_t>(kc, 1) * std::int64_t{sizeof(float)};
  blocks.nc = round_down(caches.l2_bytes / 2 / step_bytes, nr);
  // L3 is shared with other cores.
  const std::int64_t mc = caches.l3_bytes / 8 / step_bytes;
  blocks.mc = round_down(std::clamp<std::int64_t>(mc, 512, 4096), mr);
  return blocks;
}

std::int64_t even_piece(std::int64_t total, std::int64_t limit, std::int64_t multiple) {
  if (total <= 0) return 0;
  const std::int64_t pieces = (total + limit - 1) / limit;
  const std::int64_t length = (total + pieces - 1) / pieces;
  return (length + multiple - 1) / multiple * multiple;
}

std::int64_t piece_for_threads(std::int64_t total, std::int64_t limit, int threads,
                               std::int64_t fewest) {
  const std::int64_t per_thread = ceil_div(total, threads);
  const std::int64_t pieces = std::max(ceil_div(per_thread, limit), std::min(fewest, per_thread));
  return std::max<std::int64_t>(ceil_div(total, threads * std::max<std::int64_t>(pieces, 1)), 1);
}

}  // namespace lab
