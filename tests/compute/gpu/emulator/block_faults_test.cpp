// Faults planted in barriers, warp operations and global memory accesses.
#include <gtest/gtest.h>

#include "compute/gpu/cuda/kernel/simt.h"
#include "tests/compute/gpu/emulator/fault_of.h"

namespace lab::simt {
namespace {

TEST(BarrierFaults, DetectsExitWhileOthersWait) {
  const std::string what = fault_of(FaultKind::Deadlock, {.grid = {1, 2}, .block = {64}}, [] {
    if (block_idx().y == 1 && thread_idx().x == 40) return;
    sync_threads();
  });
  EXPECT_TRUE(has(what, "threads 0-39 at sync_threads, block_faults_test.cpp:"));
  EXPECT_TRUE(has(what, "thread 40 left the kernel; threads 41-63 at"));
  EXPECT_TRUE(has(what, "in block (0,1,0)"));
}

TEST(BarrierFaults, DetectsDivergentBarriers) {
  const std::string what = fault_of(FaultKind::DivergentBarrier, {.grid = {1}, .block = {64}}, [] {
    int side = 0;
    if (thread_idx().x < 32) {
      side = 1;
      sync_threads();
    } else {
      sync_threads();
    }
    EXPECT_EQ(side, 2);  // not reached
  });
  EXPECT_TRUE(has(what, "threads 0-31 at sync_threads"));
  EXPECT_TRUE(has(what, "threads 32-63 at sync_threads"));
}

TEST(BarrierFaults, DetectsLanesInDifferentOperations) {
  const std::string what = fault_of(FaultKind::Deadlock, {.grid = {1}, .block = {32}}, [] {
    if (lane() < 16) {
      (void)shuffle_xor(1, 1);
    } else {
      (void)ballot(true);
    }
  });
  EXPECT_TRUE(has(what, "threads 0-15 in shuffle_xor"));
  EXPECT_TRUE(has(what, "threads 16-31 in ballot"));
}

TEST(BarrierFaults, DetectsMaskedLaneWaitingElsewhere) {
  EXPECT_TRUE(has(fault_of(FaultKind::Deadlock, {.grid = {1}, .block = {32}},
                           [] {
                             if (lane() != 3) (void)vote_all(true);
                             sync_threads();
                           }),
                  "thread 3 at sync_threads"));
}

TEST(WarpFaults, DetectsShuffleFromInactiveLane) {
  const std::string what = fault_of(FaultKind::InactiveLane, {.grid = {1}, .block = {32}}, [] {
    if (lane() < 16) (void)shuffle_down(lane(), 1, 0x0000ffffU);
  });
  EXPECT_TRUE(has(what, "shuffle_down: lane 15 reads lane 16"));
}

TEST(WarpFaults, DetectsShuffleFromExitedLane) {
  fault_of(FaultKind::InactiveLane, {.grid = {1}, .block = {32}}, [] {
    if (lane() == 7) return;
    (void)shuffle(1, 7);
  });
}

TEST(WarpFaults, PartialWarpsSynchronizePresentLanes) {
  launch({.grid = {1}, .block = {40}}, [] {
    const int in_warp = thread_idx().x < 32 ? 32 : 8;
    EXPECT_EQ(std::popcount(ballot(true)), in_warp);
    EXPECT_TRUE(vote_all(true));
    EXPECT_FALSE(vote_any(false));
    EXPECT_EQ(vote_any(lane() == 3), true);
    EXPECT_EQ(vote_all(lane() != 3), false);
    EXPECT_EQ(shuffle(lane(), 5), 5);
  });
  fault_of(FaultKind::InactiveLane, {.grid = {1}, .block = {40}}, [] { (void)warp_sum(1); });
}

TEST(WarpFaults, HalfWarpsSynchronizeSeparately) {
  launch({.grid = {1}, .block = {32}}, [] {
    const int me = lane();
    const std::uint32_t mask = me < 16 ? 0x0000ffffU : 0xffff0000U;
    EXPECT_EQ(shuffle_xor(me, 3, mask), me ^ 3);
    EXPECT_EQ(ballot(me % 2 == 0, mask), 0x55555555U & mask);
    if (me < 16) {
      EXPECT_EQ(shuffle_up(me, 1, mask), me == 0 ? 0 : me - 1);
    }
    sync_warp();
    EXPECT_EQ(shuffle_down(me, 4), me + 4 < 32 ? me + 4 : me);
  });
}

TEST(WarpFaults, DetectsMaskWithoutCaller) {
  fault_of(FaultKind::InactiveLane, {.grid = {1}, .block = {32}}, [] { sync_warp(0xfffffffeU); });
}

TEST(WarpFaults, LaneRequiresRowsOfWholeWarps) {
  launch({.grid = {1}, .block = {64, 2}}, [] { EXPECT_EQ(lane(), thread_idx().x % 32); });
  fault_of(FaultKind::Launch, {.grid = {1}, .block = {16, 4}}, [] { (void)lane(); });
}

TEST(GlobalFaults, OutOfBoundsNamesTheArray) {
  GlobalArray<float> out("C", 100);
  const LaunchOptions options{.grid = {2}, .block = {64}, .arrays = {out}};
  const std::string what = fault_of(FaultKind::OutOfBounds, options, [&] {
    global(out.data())[block_idx().x * 64 + thread_idx().x] = 1.0F;
  });
  EXPECT_TRUE(has(what, "at C[100] of 100"));
  EXPECT_TRUE(has(what, "in block (1,0,0), thread 36"));
  fault_of(FaultKind::OutOfBounds, options, [&] { (void)load<float>(global(out.data()) - 1); });
  fault_of(FaultKind::OutOfBounds, options, [&] { (void)load<float>(global<float>(nullptr)); });
}

TEST(GlobalFaults, DetectsPointersOutsideLaunchArrays) {
  GlobalArray<float> given("given", 8);
  GlobalArray<float> other("other", 8);
  fault_of(FaultKind::Launch, {.grid = {1}, .block = {1}, .arrays = {given}},
           [&] { (void)global(other.data()); });
  launch({.grid = {1}, .block = {1}}, [&] { global(other.data())[7] = 2.0F; });
  EXPECT_EQ(other[7], 2.0F);
}

TEST(GlobalFaults, DetectsTwoWritersOfOneElement) {
  GlobalArray<int> out("out", 64);
  const auto body = [&](int modulus) {
    const int i = block_idx().x * 32 + thread_idx().x;
    global(out.data())[i % modulus] = 1;
  };
  LaunchOptions options{.grid = {2}, .block = {32}, .arrays = {out}};
  launch(options, [&] { body(64); });
  EXPECT_TRUE(has(fault_of(FaultKind::TwoWriters, options, [&] { body(63); }),
                  "write to out[0], already written by thread 0 of the launch"));
  options.one_writer = false;
  launch(options, [&] { body(63); });
}

TEST(GlobalFaults, AllowsAtomicsOnOneElement) {
  GlobalArray<std::uint64_t> out("out", 1);
  out[0] = 0;
  const LaunchOptions options{.grid = {2}, .block = {32}, .arrays = {out}};
  launch(options, [&] {
    atomic_add(out.data(), std::uint64_t{3});
    atomic_max(global(out.data()), std::uint64_t{1});
    atomic_cas(global(out.data()), std::uint64_t{192}, std::uint64_t{1000});
  });
  EXPECT_EQ(out[0], 1000U);
  fault_of(FaultKind::TwoWriters, options, [&] {
    if (thread_idx().x == 5) global(out.data())[0] = 1;
    atomic_add(global(out.data()), std::uint64_t{1});
  });
}

TEST(GlobalFaults, DetectsInputWritesAndReadonlyOutputLoads) {
  GlobalArray<float> in("in", 4);
  GlobalArray<float> out("out", 4);
  const LaunchOptions options{.grid = {1}, .block = {1}, .arrays = {in.input(), out}};
  EXPECT_TRUE(has(fault_of(FaultKind::ReadOnly, options, [&] { global(in.data())[2] = 1.0F; }),
                  "write to in[2]"));
  fault_of(FaultKind::ReadOnly, options, [&] {
    global(out.data())[1] = 1.0F;
    (void)load_readonly<Float4>(global(out.data()));
  });
}

TEST(GlobalFaults, DetectsMisalignedVector) {
  GlobalArray<float> in("in", 9);
  const LaunchOptions options{.grid = {1}, .block = {1}, .arrays = {in}};
  launch(options, [&] { store(global(in.data()) + 4, Float4{1, 2, 3, 4}); });
  EXPECT_EQ(in[7], 4.0F);
  fault_of(FaultKind::Misaligned, options, [&] { (void)load<Float4>(global(in.data()) + 2); });
  fault_of(FaultKind::Misaligned, {.grid = {1}, .block = {1}}, [&] {
    store(in.data() + 1, Float2{1, 2});
  });
}

TEST(LaunchFaults, RejectsInvalidSizes) {
  fault_of(FaultKind::Launch, {.grid = {0}, .block = {1}}, [] {});
  fault_of(FaultKind::Launch, {.grid = {1}, .block = {32, 33}}, [] {});
  EXPECT_THROW((void)thread_idx(), std::logic_error);
}

}  // namespace
}  // namespace lab::simt
