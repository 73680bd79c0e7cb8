// Faults planted in uses of shared memory and copies to it, each beside a correct variant.
#include <gtest/gtest.h>

#include <stdexcept>

#include "compute/gpu/cuda/kernel/simt.h"
#include "tests/compute/gpu/emulator/fault_of.h"

namespace lab::simt {
namespace {

TEST(SharedFaults, OutOfBoundsNamesBlockAndThread) {
  const std::string what = fault_of(FaultKind::OutOfBounds, {.grid = {2}, .block = {64}}, [] {
    LAB_SHARED(float, tile, 64);
    const int i = thread_idx().x;
    tile[block_idx().x == 1 && i == 37 ? 1040 : i] = 1.0F;
  });
  EXPECT_TRUE(has(what, "tile[1040] of 64"));
  EXPECT_TRUE(has(what, "in block (1,0,0), thread 37 (37,0,0)"));
}

TEST(SharedFaults, DetectsNegativeIndexAndVectorPastEnd) {
  EXPECT_TRUE(has(fault_of(FaultKind::OutOfBounds, {.grid = {1}, .block = {1}},
                           [] {
                             LAB_SHARED(int, s, 8);
                             s[thread_idx().x - 1] = 1;
                           }),
                  "s[-1] of 8"));
  EXPECT_TRUE(has(fault_of(FaultKind::OutOfBounds, {.grid = {1}, .block = {1}},
                           [] {
                             LAB_SHARED(float, s, 10);
                             store(s + 8, Float4{1, 2, 3, 4});
                           }),
                  "write of 16 bytes at s[8] of 10"));
}

TEST(SharedFaults, DynamicMemoryHasTheLaunchSize) {
  const auto body = [] {
    LAB_DYNAMIC_SHARED(float, s);
    s[thread_idx().x] = 1.0F;
  };
  launch({.grid = {2}, .block = {16}, .dynamic_shared_bytes = 64}, body);
  EXPECT_TRUE(has(fault_of(FaultKind::OutOfBounds,
                           {.grid = {1}, .block = {17}, .dynamic_shared_bytes = 64}, body),
                  "s[16] of 16"));
}

TEST(SharedFaults, RejectsMoreSharedMemoryThanABlockHas) {
  fault_of(FaultKind::Launch, {.grid = {1}, .block = {1}}, [] {
    LAB_SHARED(float, s, 12289);
    (void)s;
  });
  fault_of(FaultKind::Launch, {.grid = {1}, .block = {1}, .dynamic_shared_bytes = 240 << 10}, [] {
    LAB_DYNAMIC_SHARED(float, s);
    (void)s;
  });
}

TEST(SharedFaults, DetectsUninitializedRead) {
  const std::string what = fault_of(FaultKind::Unwritten, {.grid = {1}, .block = {32}}, [] {
    LAB_SHARED(float, s, 33);
    const int i = thread_idx().x;
    s[i] = 1.0F;
    sync_threads();
    const float next = s[i + 1];
    (void)next;
  });
  EXPECT_TRUE(has(what, "read of s[32], which no thread has written"));
  EXPECT_TRUE(has(what, "thread 31"));
}

TEST(SharedFaults, SharedMemoryDoesNotPersistAcrossBlocks) {
  fault_of(FaultKind::Unwritten, {.grid = {2}, .block = {1}}, [] {
    LAB_SHARED(int, s, 1);
    if (block_idx().x == 0) s[0] = 1;
    const int value = s[0];
    (void)value;
  });
}

void neighbours(bool with_barrier, bool one_warp_barrier) {
  LAB_SHARED(int, s, 64);
  const int i = thread_idx().x;
  s[i] = i;
  if (with_barrier) sync_threads();
  if (one_warp_barrier) sync_warp();
  const int other = s[i ^ 1];
  (void)other;
}

TEST(SharedFaults, DetectsMissingBarrierInBothOrders) {
  for (const bool reversed : {false, true}) {
    const LaunchOptions options{.grid = {1}, .block = {64}, .last_thread_first = reversed};
    launch(options, [] { neighbours(true, false); });
    launch(options, [] { neighbours(false, true); });
    // The first thread to run reads unwritten memory; if a value is already there, the access is a
    // race.
    fault_of(FaultKind::Unwritten, options, [] { neighbours(false, false); });
    const std::string what = fault_of(FaultKind::Race, options, [] {
      LAB_SHARED(int, s, 64);
      const int i = thread_idx().x;
      s[i] = 0;
      sync_threads();
      s[i] = i;
      const int other = s[i ^ 1];
      (void)other;
    });
    EXPECT_TRUE(has(what, "without sync_threads or sync_warp in between"));
  }
}

TEST(SharedFaults, DetectsWriteAfterReadWithoutBarrier) {
  const auto body = [](bool second_barrier) {
    LAB_SHARED(int, s, 64);
    const int i = thread_idx().x;
    for (int step = 0; step < 2; ++step) {
      s[i] = i;
      sync_threads();
      const int other = s[63 - i];
      (void)other;
      if (second_barrier) sync_threads();
    }
  };
  launch({.grid = {1}, .block = {64}}, [&] { body(true); });
  const std::string what =
      fault_of(FaultKind::Race, {.grid = {1}, .block = {64}}, [&] { body(false); });
  EXPECT_TRUE(has(what,
                  "read of s[31] after a write by thread 31 without sync_threads in "
                  "between"));
}

TEST(SharedFaults, DetectsTwoWritersOfOneElement) {
  const std::string what = fault_of(FaultKind::Race, {.grid = {1}, .block = {40}}, [] {
    LAB_SHARED(int, s, 32);
    s[thread_idx().x % 32] = 7;
  });
  EXPECT_TRUE(has(what, "write of s[0] after a write by thread 0"));
  EXPECT_TRUE(has(what, "thread 32"));
}

TEST(SharedFaults, DetectsMissingSyncWarp) {
  const auto body = [](bool synced) {
    LAB_SHARED(int, s, 32);
    const int i = thread_idx().x;
    s[i] = i;
    sync_warp();
    int sum = 0;
    for (int distance = 1; distance < 32; distance *= 2) {
      sum = s[i ^ distance];
      if (synced) sync_warp();
      s[i] = sum + 1;
      if (synced) sync_warp();
    }
  };
  launch({.grid = {1}, .block = {32}}, [&] { body(true); });
  EXPECT_TRUE(has(fault_of(FaultKind::Race, {.grid = {1}, .block = {32}}, [&] { body(false); }),
                  "sync_warp"));
}

TEST(SharedFaults, SyncWarpDoesNotOrderOtherWarps) {
  fault_of(FaultKind::Race, {.grid = {1}, .block = {64}}, [] {
    LAB_SHARED(int, s, 64);
    const int i = thread_idx().x;
    s[i] = 0;
    sync_threads();
    s[i] = i;
    sync_warp();
    const int other = s[i ^ 32];
    (void)other;
  });
}

TEST(SharedFaults, SyncWarpOrdersOnlyMaskedLanes) {
  const auto body = [](std::uint32_t other_lane) {
    LAB_SHARED(int, s, 32);
    const std::uint32_t lane_bit = 1U << thread_idx().x;
    s[thread_idx().x] = 1;
    const std::uint32_t low = 0x0000ffffU;
    sync_warp((low & lane_bit) != 0 ? low : ~low);
    if (thread_idx().x == 0) {
      const int other = s[static_cast<int>(other_lane)];
      (void)other;
    }
    sync_warp();
  };
  launch({.grid = {1}, .block = {32}}, [&] { body(5); });
  fault_of(FaultKind::Race, {.grid = {1}, .block = {32}, .last_thread_first = true},
           [&] { body(20); });
}

TEST(SharedFaults, ShufflesDoNotOrderMemory) {
  fault_of(FaultKind::Race, {.grid = {1}, .block = {32}}, [] {
    LAB_SHARED(int, s, 32);
    s[lane()] = lane();
    (void)shuffle_xor(1, 1);
    const int other = s[lane() ^ 1];
    (void)other;
  });
}

TEST(SharedFaults, AtomicsRaceOnlyWithPlainAccesses) {
  const auto body = [](bool barrier) {
    LAB_SHARED(int, count, 1);
    if (thread_idx().x == 0) count[0] = 0;
    sync_threads();
    atomic_add(count + 0, 1);
    if (barrier) sync_threads();
    const int total = count[0];
    if (barrier) {
      EXPECT_EQ(total, 48);
    }
  };
  launch({.grid = {1}, .block = {48}}, [&] { body(true); });
  fault_of(FaultKind::Race, {.grid = {1}, .block = {48}}, [&] { body(false); });
  fault_of(FaultKind::Unwritten, {.grid = {1}, .block = {1}}, [] {
    LAB_SHARED(int, count, 1);
    atomic_add(count + 0, 1);
  });
}

TEST(SharedFaults, DetectsMisalignedVector) {
  const std::string what = fault_of(FaultKind::Misaligned, {.grid = {1}, .block = {1}}, [] {
    LAB_SHARED(float, s, 16);
    store(s + 2, Float4{1, 2, 3, 4});
  });
  EXPECT_TRUE(has(what, "write of 16 bytes at s[2]"));
  fault_of(FaultKind::Misaligned, {.grid = {1}, .block = {1}}, [] {
    LAB_SHARED(float, s, 16);
    for (int i = 0; i < 16; ++i) s[i] = 0;
    (void)load<Float2>(s + 1);
  });
}

TEST(SharedFaults, DetectsElementsSmallerThanDeclared) {
  fault_of(FaultKind::Launch, {.grid = {1}, .block = {1}}, [] {
    LAB_SHARED(float, s, 4);
    shared_cast<std::uint16_t>(s)[0] = 1;
  });
  launch({.grid = {1}, .block = {1}}, [] {
    LAB_SHARED(std::uint16_t, s, 8);
    shared_cast<float>(s)[1] = 1.0F;
    EXPECT_EQ(std::uint16_t(s[3]), 0x3f80);
  });
}

TEST(SharedFaults, ForwardsExceptionsAndUnwinds) {
  int unwound = 0;
  struct Counter {
    int& n;
    ~Counter() { ++n; }
  };
  EXPECT_THROW(launch({.grid = {3}, .block = {40}},
                      [&] {
                        const Counter counter{unwound};
                        if (thread_idx().x == 39) throw std::domain_error("of the body");
                        sync_threads();
                      }),
               std::domain_error);
  EXPECT_EQ(unwound, 40);
}

}  // namespace
}  // namespace lab::simt
