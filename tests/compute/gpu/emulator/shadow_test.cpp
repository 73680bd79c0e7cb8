// Compares the race detector with a complete log of all accesses, over random histories.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "compute/gpu/emulator/memory/shadow.h"

namespace lab::simt {
namespace {

enum class Operation { Read, Write, Atomic, SyncLanes, SyncThreads };

// Stores every access and orders them by vector clocks over all threads.
class AccessLog {
 public:
  static constexpr std::size_t kThreads = 6;  // three in each of two warps
  static std::size_t warp_begin(std::size_t thread) { return thread / 3 * 3; }

  AccessLog() {
    for (std::size_t t = 0; t < kThreads; ++t) clocks_[t][t] = 1;
  }
  void sync(std::size_t begin, std::size_t end) {
    Clock joined{};
    for (std::size_t t = begin; t < end; ++t)
      for (std::size_t i = 0; i < kThreads; ++i) joined[i] = std::max(joined[i], clocks_[t][i]);
    for (std::size_t t = begin; t < end; ++t) {
      clocks_[t] = joined;
      ++clocks_[t][t];
    }
  }
  // Returns true if the access races with an earlier one.
  bool races(std::size_t thread, Operation act) {
    bool race = false;
    for (const Access& a : accesses_) {
      const bool harmless = a.act == act && act != Operation::Write;
      race = race || (!harmless && a.thread != thread && clocks_[thread][a.thread] < a.time);
    }
    accesses_.push_back({thread, act, clocks_[thread][thread]});
    return race;
  }

 private:
  using Clock = std::array<int, kThreads>;
  struct Access {
    std::size_t thread;
    Operation act;
    int time;
  };
  std::array<Clock, kThreads> clocks_{};
  std::vector<Access> accesses_;
};

class Detector {
 public:
  Detector() {
    for (std::size_t t = 0; t < AccessLog::kThreads; ++t) {
      times_[t].thread = static_cast<int>(t / 3 * kWarpLanes + t % 3);
      times_[t].seen[static_cast<std::size_t>(times_[t].lane())] = 1;
    }
    cell_.write(times_[0]);
    sync_threads();
  }
  void sync_threads() {
    for (ThreadTime& t : times_) ++t.epoch;
  }
  void sync_lanes(std::size_t begin, std::size_t end) {
    std::vector<ThreadTime*> lanes;
    for (std::size_t t = begin; t < end; ++t) lanes.push_back(&times_[t]);
    sync_in_warp(lanes);
  }
  bool races(std::size_t thread, Operation act) {
    const ThreadTime& me = times_[thread];
    const Conflict c = act == Operation::Read    ? cell_.read(me)
                       : act == Operation::Write ? cell_.write(me)
                                                 : cell_.atomic(me);
    return static_cast<bool>(c);
  }

 private:
  std::array<ThreadTime, AccessLog::kThreads> times_;
  ShadowCell cell_;
};

struct Verdict {
  bool race = false;   // a race exists
  bool found = false;  // the detector reports a race
};

// Runs one history up to its first race or first report. With `partial_warps`, some sync_warp calls
// cover only two lanes.
Verdict run_history(std::uint32_t seed, bool partial_warps) {
  std::mt19937 random(seed);
  const std::array<Operation, 8> acts{
      Operation::Read,      Operation::Read,      Operation::Write,     Operation::Atomic,
      Operation::SyncLanes, Operation::SyncLanes, Operation::SyncLanes, Operation::SyncThreads};
  AccessLog account;
  Detector detector;
  Verdict verdict;
  for (int step = 0; step < 40 && !verdict.race && !verdict.found; ++step) {
    const std::size_t thread = random() % AccessLog::kThreads;
    const Operation act = acts[random() % acts.size()];
    if (act == Operation::SyncThreads) {
      account.sync(0, AccessLog::kThreads);
      detector.sync_threads();
    } else if (act == Operation::SyncLanes) {
      const std::size_t begin = AccessLog::warp_begin(thread) + (partial_warps ? random() % 2 : 0);
      const std::size_t end = begin + (partial_warps ? 2 : 3);
      account.sync(begin, end);
      detector.sync_lanes(begin, end);
    } else {
      verdict = {account.races(thread, act), detector.races(thread, act)};
    }
  }
  return verdict;
}

constexpr std::uint32_t kHistories = 20000;

TEST(RaceDetector, MatchesAFullAccessHistory) {
  std::uint32_t races = 0;
  for (std::uint32_t seed = 0; seed < kHistories; ++seed) {
    const Verdict verdict = run_history(seed, false);
    ASSERT_EQ(verdict.found, verdict.race) << "history " << seed;
    races += verdict.race ? 1 : 0;
  }
  EXPECT_GT(races, kHistories / 2);
}

// Diverging lanes can hide a race from the detector, but it must not report a false one.
TEST(RaceDetector, ReportsNoFalseRaceForPartialWarps) {
  std::uint32_t races = 0;
  std::uint32_t missed = 0;
  for (std::uint32_t seed = 0; seed < kHistories; ++seed) {
    const Verdict verdict = run_history(seed, true);
    ASSERT_TRUE(verdict.race || !verdict.found) << "history " << seed;
    races += verdict.race ? 1 : 0;
    missed += verdict.race && !verdict.found ? 1 : 0;
  }
  EXPECT_LT(missed, races / 100) << races;
}

}  // namespace
}  // namespace lab::simt
