#include <algorithm>
#include <utility>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/ceilings.h"
#include "compute/measure/gated_clock.h"
#include "compute/tensor/tensor.h"

namespace lab {
namespace {

constexpr double kCeilingBudget_s = 0.3;
constexpr double kCopyRepetition_s = 500e-6;
constexpr std::int64_t kMaxCopies = GatedClock::kMaxOperations;
// A quarter of the L2 cache reliably stays resident; of eight times its capacity, nothing does.
constexpr std::int64_t kCacheParts = 4;
constexpr std::int64_t kCachesFull = 8;
constexpr std::int64_t kAssumedCache_bytes = 128 * kMiB;

// Copies one array to another repeatedly, by a kernel and by the copy engine; `bytes` is the size
// of both arrays together. Returns the faster way.
BandwidthCeiling copy_within(DeviceContext& device, std::int64_t bytes,
                             const std::stop_token& stop) {
  GpuDevice& gpu = *device.gpu();
  const std::int64_t words = bytes / 2 / 16 * 4;
  Tensor from(device, {words}, DType::I32, "bandwidth array");
  Tensor to(device, {words}, DType::I32, "bandwidth array");
  auto* const source = reinterpret_cast<std::uint32_t*>(from.data());
  auto* const target = reinterpret_cast<std::uint32_t*>(to.data());
  gpu.transfers().fill_pattern(source, words, 1, gpu.main_stream());
  gpu.main_stream().synchronise();
  GatedClock clock(gpu, 1);
  const auto rate_of = [&](const auto& copy) {
    const auto copies = [&](std::int64_t times) { return clock.gated_runs(times, copy); };
    // A kernel's first run must not be gated.
    clock.by_host([&](int /*stream*/) { copy(clock.stream(0)); });
    BandwidthCeiling level;
    level.copied = true;
    level.working_set_bytes = 8 * words;
    level.time = measure(TimedCalls{copies}, {.budget_s = kCeilingBudget_s,
                                              .min_repetition_s = kCopyRepetition_s,
                                              .max_calls = kMaxCopies,
                                              .cancelled = [&] { return stop.stop_requested(); }});
    set_rates(level);
    return level;
  };
  const BandwidthCeiling by_kernel = rate_of(
      [&](GpuStream& stream) { gpu.transfers().copy_by_kernel(target, source, words, 1, stream); });
  const BandwidthCeiling by_engine = rate_of([&](GpuStream& stream) {
    gpu.copy(GpuCopy::DeviceToDevice, target, source, 4 * words, stream);
  });
  return by_kernel.gb_per_s >= by_engine.gb_per_s ? by_kernel : by_engine;
}

struct MemoryLevel {
  const char* name;
  std::int64_t bytes;  // both arrays together
  std::int64_t cache_bytes;
};

void add_level(MeasuredBandwidths& to, DeviceContext& device, const MemoryLevel& level,
               const std::stop_token& stop) {
  const std::int64_t free_bytes = device.gpu()->memory().free_bytes;
  if (level.bytes > free_bytes / 2) {
    to.missing.push_back({level.name, trf("needs {}, but only {} are free on the GPU",
                                          format_bytes(level.bytes), format_bytes(free_bytes))});
    return;
  }
  BandwidthCeiling measured = copy_within(device, level.bytes, stop);
  measured.name = level.name;
  measured.cache_bytes = level.cache_bytes;
  to.levels.push_back(std::move(measured));
}

bool is_memory(const BandwidthCeiling& level) {
  return level.cache_bytes == 0;
}

// Keeps levels that had memory enough only before.
void keep_missing(MeasuredBandwidths& now, const MeasuredBandwidths& before) {
  for (const BandwidthCeiling& old : before.levels) {
    if (std::ranges::find(now.levels, old.name, &BandwidthCeiling::name) != now.levels.end())
      continue;
    std::erase_if(now.missing, [&](const MissingCeiling& one) { return one.name == old.name; });
    now.levels.push_back(old);
  }
  std::stable_partition(now.levels.begin(), now.levels.end(),
                        [](const BandwidthCeiling& level) { return !is_memory(level); });
}

// The time of a copy within L2 is mostly that of its start where L2 is small, and then no ceiling.
void withhold_slow_cache(MeasuredBandwidths& now) {
  const auto memory = std::ranges::find_if(now.levels, is_memory);
  if (memory == now.levels.end()) return;
  const double memory_gb_per_s = memory->gb_per_s;
  std::erase_if(now.levels, [&](const BandwidthCeiling& level) {
    if (is_memory(level) || level.gb_per_s > memory_gb_per_s) return false;
    now.missing.push_back(
        {level.name, tr("a copy that fits into this cache is so short that its start takes most of "
                        "the time")});
    return true;
  });
}

}  // namespace

const MeasuredBandwidths& gpu_bandwidths_of(DeviceContext& device, const std::stop_token& stop) {
  std::optional<MeasuredBandwidths>& known = device.bandwidths();
  // Memory may have been missing because too little of it was free.
  const bool may_gain =
      known && !known->missing.empty() && std::ranges::none_of(known->levels, is_memory);
  if (known && settled(*known) && !may_gain) return *known;
  const std::int64_t cache = device.gpu()->facts().l2_bytes;
  MeasuredBandwidths now;
  if (cache > 0) {
    add_level(now, device, {"L2", cache / kCacheParts, cache}, stop);
  } else {
    now.missing.push_back({"L2", tr("the driver does not report the size of this cache")});
  }
  const std::int64_t full = kCachesFull * (cache > 0 ? cache : kAssumedCache_bytes);
  add_level(now, device, {LAB_TEXT("memory"), full, 0}, stop);
  if (known) {
    keep_faster(now, *known);
    keep_missing(now, *known);
  }
  withhold_slow_cache(now);
  return known.emplace(std::move(now));
}

}  // namespace lab
