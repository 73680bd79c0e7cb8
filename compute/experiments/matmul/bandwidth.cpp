#include "compute/experiments/matmul/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/kernels/ops/read_sum.h"
#include "compute/measure/measure.h"
#include "compute/measure/own_rates.h"
#include "compute/tensor/tensor.h"

namespace lab {
namespace {

constexpr int kUsualLevels = 3;
constexpr std::int64_t kGrain = 1024;  // bytes; loops over whole grains have no remainder
constexpr std::int64_t kLeastMemory = 64 * kMiB;
constexpr std::int64_t kUnknownCaches = 32 * kMiB;  // assumed if the machine reports none

// Caches of one level; sizes may differ between cores.
struct CacheLevel {
  std::int64_t all_bytes = 0;
  // The least that one cache has for each core that it serves.
  std::int64_t least_share_bytes = std::numeric_limits<std::int64_t>::max();
};

CacheLevel level_of(std::span<const CacheInfo> caches, int level) {
  CacheLevel found;
  for (const CacheInfo& cache : caches) {
    if (cache.level != level || cache.size_bytes <= 0) continue;
    found.all_bytes += cache.size_bytes * std::max(cache.instances, 1);
    std::size_t most_served = 1;
    for (const std::vector<int>& served : cache.cores) {
      most_served = std::max(most_served, served.size());
    }
    found.least_share_bytes = std::min(found.least_share_bytes,
                                       cache.size_bytes / static_cast<std::int64_t>(most_served));
  }
  return found;
}

std::int64_t whole_grains(std::int64_t bytes) {
  return bytes / kGrain * kGrain;
}

constexpr std::int64_t kMostOfBelow = 16;

WorkingSet cache_set(const std::string& name, const CacheLevel& level, std::int64_t share,
                     std::int64_t below, const std::string& below_name) {
  WorkingSet set{.name = name, .cache_bytes = level.all_bytes};
  std::int64_t wanted = share / 2 + (below > share / 4 ? below : 0);
  if (below > 0) wanted = std::min(wanted, kMostOfBelow * below);
  if (wanted <= share) {
    set.bytes_per_thread = whole_grains(wanted);
    return set;
  }
  set.skip_reason =
      trf("a thread's share of {} is {}, too small relative to the {} of {} below it to isolate {}",
          name, format_bytes(share), format_bytes(below), below_name, name);
  return set;
}

std::string too_little_memory(const char* what, std::int64_t needed, std::int64_t free_bytes) {
  return trf("{} needs {}, but only {} can be allocated", what, format_bytes(needed),
             format_bytes(std::max<std::int64_t>(free_bytes, 0)));
}

WorkingSet memory_set(std::int64_t last_level, int threads, std::int64_t free_bytes) {
  WorkingSet set{.name = LAB_TEXT("memory")};
  const std::int64_t bytes = std::min(std::max(4 * last_level, kLeastMemory), free_bytes);
  if (bytes >= 2 * last_level) {
    set.bytes_per_thread = whole_grains(bytes / threads);
    return set;
  }
  set.skip_reason =
      too_little_memory(tr("a working set beyond the caches"), 2 * last_level, free_bytes);
  return set;
}

constexpr double kLevelBudget_s = 0.25;
// Long compared with the 10 us that waking the threads takes, short compared with the time slices
// of other programs, so that some repetitions run uninterrupted.
constexpr double kPassesRepetition_s = 0.7e-3;
// A set that takes much longer is read in parts, one part per repetition, so that the budget allows
// many repetitions. A part is read again only after all others.
constexpr double kPartRepetition_s = 2e-3;
constexpr double kMostParts = 64;
constexpr std::int64_t kPieceWords = std::int64_t{1} << 22;   // between polls of the stop token
constexpr std::int64_t kLittleWords = std::int64_t{1} << 13;  // takes a few microseconds
constexpr std::int64_t kPageWords = 512;
constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15U;  // odd, so that all words i * kStep differ

// Sum of the words [begin, end) modulo 2^64; end < 2^32.
std::uint64_t expected_sum(std::uint64_t begin, std::uint64_t end) {
  const auto below = [](std::uint64_t n) { return n == 0 ? 0 : n * (n - 1) / 2; };
  return kStep * (below(end) - below(begin));
}

// One array with a share per thread, first touched by that thread so that its pages are local.
class ReadArray {
 public:
  ReadArray(DeviceContext& device, std::int64_t words_per_thread, const std::stop_token& stop)
      : pool_(device.threads()),
        stop_(stop),
        stride_((words_per_thread + kPageWords - 1) / kPageWords * kPageWords),
        slots_(static_cast<std::size_t>(pool_.size())) {
    storage_ = Tensor(device, {stride_ * pool_.size()}, DType::I64, "bandwidth array");
    words_ = reinterpret_cast<std::uint64_t*>(storage_.values<std::int64_t>().data());
    pool_.run([&](int t) {
      const std::int64_t begin = stride_ * t;
      for (std::int64_t at = begin; at < begin + words_per_thread; at += kPieceWords) {
        if (stop_.stop_requested()) return;
        const std::int64_t end = std::min(at + kPieceWords, begin + words_per_thread);
        for (std::int64_t i = at; i < end; ++i) words_[i] = static_cast<std::uint64_t>(i) * kStep;
      }
    });
  }

  int threads() const { return pool_.size(); }

  // All threads concurrently read the first `words` words of their shares, `passes` times. Returns
  // the CPU time that the calling thread spent on its own share.
  double read(std::int64_t words, std::int64_t passes) {
    double caller_s = 0;
    pool_.run([&](int t) {
      const double begin_s = t == 0 ? thread_cpu_s() : 0;
      read_words(t, 0, words, passes);
      if (t == 0) caller_s = thread_cpu_s() - begin_s;
    });
    return caller_s;
  }

  // Reads `count` words from `begin` on, of the first `words` words of each share; returns the
  // seconds in which the threads complete it at their own rates.
  double timed_read(std::int64_t begin, std::int64_t count, std::int64_t words,
                    std::int64_t passes) {
    // What the first threads read while they wait for the last one is far from what comes next.
    for (Slot& slot : slots_) slot.next = (begin + words / 2) % words;
    return time_at_own_rates(
        pool_, [&](int t) { read_words(t, begin, count, passes); },
        [&](int t) {
          Slot& slot = slots_[static_cast<std::size_t>(t)];
          const std::int64_t little = std::min(kLittleWords, words);
          if (slot.next + little > words) slot.next = 0;
          slot.more += simd::read_sum(words_ + stride_ * t + slot.next, little, 1);
          slot.next += little;
        });
  }

  // True if the sums of the last read() are correct.
  bool right(std::int64_t words, std::int64_t passes) const {
    for (int t = 0; t < threads(); ++t) {
      const auto begin = static_cast<std::uint64_t>(stride_ * t);
      const std::uint64_t once = expected_sum(begin, begin + static_cast<std::uint64_t>(words));
      const std::uint64_t sum = slots_[static_cast<std::size_t>(t)].sum;
      if (sum != once * static_cast<std::uint64_t>(passes)) return false;
    }
    return true;
  }

 private:
  struct alignas(64) Slot {
    std::uint64_t sum = 0;
    std::uint64_t more = 0;  // of words that were read while other threads were being timed
    std::int64_t next = 0;   // such a word, relative to the start of the share
  };

  void read_words(int thread, std::int64_t begin, std::int64_t words, std::int64_t passes) {
    const std::uint64_t* first = words_ + stride_ * thread + begin;
    const std::int64_t passes_at_once = std::max<std::int64_t>(kPieceWords / words, 1);
    std::uint64_t sum = 0;
    for (std::int64_t pass = 0; pass < passes; pass += passes_at_once) {
      const std::int64_t now = std::min(passes_at_once, passes - pass);
      for (std::int64_t at = 0; at < words; at += kPieceWords) {
        if (stop_.stop_requested()) return;
        sum += simd::read_sum(first + at, std::min(kPieceWords, words - at), now);
      }
    }
    slots_[static_cast<std::size_t>(thread)].sum = sum;
  }

  ThreadPool& pool_;
  const std::stop_token stop_;
  const std::int64_t stride_;  // words between the starts of consecutive shares
  std::vector<Slot> slots_;
  Tensor storage_;
  std::uint64_t* words_ = nullptr;
};

struct Repetition {
  std::int64_t passes = 1;
  std::int64_t words = 0;  // of each thread's share
};

// What makes one repetition long enough, but not longer than necessary. Every attempt is verified.
Repetition find_repetition(ReadArray& array, const WorkingSet& set, std::int64_t words,
                           const std::stop_token& stop) {
  for (std::int64_t passes = 1;; passes *= 2) {
    const double took_s = array.read(words, passes);
    throw_if_cancelled(stop);
    if (!array.right(words, passes)) {
      throw Error(Errc::Internal,
                  trf("bandwidth of {}: wrong sum after each thread read {} words {} "
                      "times; not timed",
                      set.name, words, passes));
    }
    if (took_s < kPassesRepetition_s) continue;
    const auto parts =
        static_cast<std::int64_t>(std::clamp(took_s / kPartRepetition_s, 1.0, kMostParts));
    if (passes > 1 || words / parts < kPageWords) return {passes, words};
    return {passes, words / parts};
  }
}

BandwidthCeiling measure_level(ReadArray& array, const WorkingSet& set, double budget_s,
                               const std::stop_token& stop) {
  const auto words = set.bytes_per_thread / static_cast<std::int64_t>(sizeof(std::uint64_t));
  const Repetition one = find_repetition(array, set, words, stop);
  std::int64_t begin = 0;  // of the next repetition
  BandwidthCeiling ceiling{.name = set.name,
                           .cache_bytes = set.cache_bytes,
                           .working_set_bytes = set.bytes_per_thread * array.threads()};
  Timing& time = ceiling.time;
  const auto calls = [&](std::int64_t times) {
    double seconds = 0;
    for (std::int64_t i = 0; i < times; ++i) {
      if (begin + one.words > words) begin = 0;
      seconds += array.timed_read(begin, one.words, words, one.passes);
      begin += one.words;
    }
    return seconds;
  };
  time = measure(TimedCalls{calls},
                 {.budget_s = budget_s, .cancelled = [&stop] { return stop.stop_requested(); }});
  const double share = static_cast<double>(one.words) / static_cast<double>(words);  // of a pass
  for (double* seconds : {&time.median_s, &time.p10_s, &time.p90_s, &time.min_s, &time.max_s}) {
    *seconds /= static_cast<double>(one.passes) * share;
  }
  set_rates(ceiling);
  return ceiling;
}

}  // namespace

std::vector<WorkingSet> choose_working_sets(std::span<const CacheInfo> caches, int threads,
                                            std::int64_t free_bytes) {
  int levels = kUsualLevels;
  for (const CacheInfo& cache : caches) levels = std::max(levels, cache.level);
  std::vector<WorkingSet> sets;
  std::int64_t below = 0, last_level = 0;
  std::string below_name = "none";
  for (int l = 1; l <= levels; ++l) {
    const std::string name = fmt::format("L{}", l);
    const CacheLevel level = level_of(caches, l);
    if (level.all_bytes == 0) {
      sets.push_back({.name = name, .skip_reason = trf("the machine reports no {} cache", name)});
      continue;
    }
    const std::int64_t share = std::min(level.all_bytes / threads, level.least_share_bytes);
    sets.push_back(cache_set(name, level, share, below, below_name));
    if (const std::int64_t needed = sets.back().bytes_per_thread * threads; needed > free_bytes) {
      sets.back().bytes_per_thread = 0;
      sets.back().skip_reason = too_little_memory(tr("its working set"), needed, free_bytes);
    }
    below = share;
    below_name = name;
    last_level = level.all_bytes;
  }
  sets.push_back(memory_set(last_level > 0 ? last_level : kUnknownCaches, threads, free_bytes));
  return sets;
}

void set_rates(BandwidthCeiling& level) {
  const auto rate = [&](double pass_s) {
    return static_cast<double>(level.working_set_bytes) / pass_s / 1e9;
  };
  level.gb_per_s = rate(level.time.min_s);
  level.median_gb_per_s = rate(level.time.median_s);
  level.p10_gb_per_s = rate(level.time.p90_s);
  level.p90_gb_per_s = rate(level.time.p10_s);
}

bool settled(const MeasuredBandwidths& measured) {
  return std::none_of(measured.levels.begin(), measured.levels.end(),
                      [](const BandwidthCeiling& level) { return level.time.unstable; });
}

void keep_faster(MeasuredBandwidths& now, const MeasuredBandwidths& before) {
  for (BandwidthCeiling& level : now.levels) {
    for (const BandwidthCeiling& old : before.levels) {
      if (old.name != level.name || old.gb_per_s <= level.gb_per_s) continue;
      const bool unstable = level.time.unstable && old.time.unstable;
      level = old;
      level.time.unstable = unstable;  // one stable measurement is enough
    }
  }
}

MeasuredBandwidths measure_bandwidths(DeviceContext& device, std::span<const WorkingSet> sets,
                                      double budget_s, const std::stop_token& stop) {
  MeasuredBandwidths measured;
  std::int64_t most_bytes = 0;
  for (const WorkingSet& set : sets) {
    if (!set.skip_reason.empty()) measured.missing.push_back({set.name, set.skip_reason});
    most_bytes = std::max(most_bytes, set.bytes_per_thread);
  }
  if (most_bytes == 0) return measured;
  ReadArray array(device, most_bytes / static_cast<std::int64_t>(sizeof(std::uint64_t)), stop);
  throw_if_cancelled(stop);
  for (const WorkingSet& set : sets) {
    if (!set.skip_reason.empty()) continue;
    measured.levels.push_back(measure_level(array, set, budget_s, stop));
  }
  return measured;
}

const MeasuredBandwidths& bandwidths_of(DeviceContext& device, const std::stop_token& stop) {
  std::optional<MeasuredBandwidths>& known = device.bandwidths();
  if (known && settled(*known)) return *known;
  const std::int64_t free_bytes = device.memory().limit_bytes() - device.memory().used_bytes();
  // Half of the free memory: the machine has other work as well.
  const std::vector<WorkingSet> sets =
      choose_working_sets(device.info().caches, device.threads().size(), free_bytes / 2);
  MeasuredBandwidths now = measure_bandwidths(device, sets, kLevelBudget_s, stop);
  if (known) keep_faster(now, *known);
  return known.emplace(std::move(now));
}

}  // namespace lab
