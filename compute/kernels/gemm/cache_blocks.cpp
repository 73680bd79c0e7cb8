#include "compute/kernels/gemm/cache_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "compute/machine/system_files.h"

namespace lab {
namespace {

// Returns the number of processors in a mask of sysfs, "00000000,0000000f"; 0 without a file.
int processors(const std::string& file) {
  int count = 0;
  for (const char digit : read_text(file).value_or("")) {
    unsigned bits = 0;
    if (std::from_chars(&digit, &digit + 1, bits, 16).ec == std::errc())
      count += std::popcount(bits);
  }
  return count;
}

// Returns the size of a data or unified cache of `level`, which the processor described in `folder`
// uses: one core's share of L1 and L2, the whole of L3. 0 if sysfs does not report it.
std::int64_t cache_bytes(const std::string& folder, int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string cache = fmt::format("{}/cache/index{}/", folder, index);
    if (read_number(cache + "level") != level) continue;
    if (read_text(cache + "type") == "Instruction") continue;
    const std::string unit = read_text(cache + "size").value_or("");  // "48K"
    const std::int64_t size = read_number(cache + "size").value_or(0);
    const int threads = std::max(processors(folder + "/topology/thread_siblings"), 1);
    const int sharing = std::max(processors(cache + "shared_cpu_map") / threads, 1);
    const int cores = level < 3 ? sharing : 1;
    if (unit.ends_with('K')) return (size << 10) / cores;
    if (unit.ends_with('M')) return (size << 20) / cores;
  }
  return 0;
}

std::int64_t round_down(std::int64_t value, std::int64_t multiple) {
  return std::max(value / multiple, std::int64_t{1}) * multiple;
}

}  // namespace

CacheSizes read_cache_sizes(const std::string& cpus) {
  std::int64_t l1 = 0, l2 = 0, l3 = 0;
  const auto keep_smallest = [](std::int64_t& smallest, std::int64_t size) {
    if (size > 0 && (smallest == 0 || size < smallest)) smallest = size;
  };
  for (const std::string& name : list_directory(cpus)) {
    if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != std::string::npos) {
      continue;
    }
    const std::string folder = fmt::format("{}/{}", cpus, name);
    keep_smallest(l1, cache_bytes(folder, 1));
    keep_smallest(l2, cache_bytes(folder, 2));
    keep_smallest(l3, cache_bytes(folder, 3));
  }
  CacheSizes sizes;
  if (l1 > 0) sizes.l1_bytes = l1;
  if (l2 > 0) sizes.l2_bytes = l2;
  sizes.l3_bytes = l3 > 0 ? l3 : sizes.l2_bytes;
  return sizes;
}

const CacheSizes& cache_sizes() {
  static const CacheSizes sizes = read_cache_sizes("/sys/devices/system/cpu");
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
  std::int64_t length = total;
  if (total > limit) {
    const std::int64_t pieces = (total + limit - 1) / limit;
    length = (total + pieces - 1) / pieces;
  }
  return (length + multiple - 1) / multiple * multiple;
}

std::int64_t piece_for_threads(std::int64_t total, std::int64_t limit, int threads,
                               std::int64_t fewest) {
  const std::int64_t per_thread = ceil_div(total, threads);
  const std::int64_t pieces = std::max(ceil_div(per_thread, limit), std::min(fewest, per_thread));
  return std::max<std::int64_t>(ceil_div(total, threads * std::max<std::int64_t>(pieces, 1)), 1);
}

}  // namespace lab
