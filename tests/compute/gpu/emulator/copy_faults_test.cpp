// Faults planted in uses of copy_async.
#include <gtest/gtest.h>

#include <numeric>

#include "compute/gpu/cuda/kernel/simt.h"
#include "tests/compute/gpu/emulator/fault_of.h"

namespace lab::simt {
namespace {

// 32 threads copy 128 numbers and read each other's.
void copy_and_read(const float* from, bool wait, bool barrier) {
  LAB_SHARED(float, s, 128);
  const int i = thread_idx().x;
  copy_async<16>(s + 4 * i, global(from) + 4 * i);
  copy_commit();
  if (wait) copy_wait<0>();
  if (barrier) sync_threads();
  const float x = s[127 - i];
  EXPECT_EQ(x, static_cast<float>(127 - i));
}

GlobalArray<float> numbers(std::size_t n) {
  GlobalArray<float> in("in", n);
  std::iota(in.data(), in.data() + n, 0.0F);
  return in;
}

TEST(CopyFaults, DetectsReadBeforeWaitOrBarrier) {
  GlobalArray<float> in = numbers(128);
  const LaunchOptions options{.grid = {1}, .block = {32}, .arrays = {in.input()}};
  launch(options, [&] { copy_and_read(in.data(), true, true); });
  EXPECT_TRUE(has(
      fault_of(FaultKind::CopyNotWaited, options, [&] { copy_and_read(in.data(), false, true); }),
      "read of s[127] while the copy_async of thread 31"));
  // Without a barrier, the first thread finds the others' part unwritten or still being copied.
  LaunchOptions last_first = options;
  last_first.last_thread_first = true;
  EXPECT_THROW(launch(last_first, [&] { copy_and_read(in.data(), true, false); }), Fault);
}

TEST(CopyFaults, DetectsMissingBarrierAfterWait) {
  GlobalArray<float> in = numbers(4);
  fault_of(FaultKind::Race, {.grid = {1}, .block = {64}, .arrays = {in.input()}}, [&] {
    LAB_SHARED(float, s, 4);
    if (thread_idx().x == 0) {
      copy_async<16>(s + 0, global(in.data()));
      copy_commit();
      copy_wait<0>();
    }
    const float x = s[1];
    (void)x;
  });
}

TEST(CopyFaults, DetectsReadOfOwnDataBeforeWait) {
  GlobalArray<float> in = numbers(8);
  const auto body = [&](bool newest_too) {
    LAB_SHARED(float, s, 8);
    copy_async<16>(s + 0, global(in.data()));
    copy_commit();
    copy_async<16>(s + 4, global(in.data()) + 4);
    copy_commit();
    copy_wait<1>();
    EXPECT_EQ(float(s[3]), 3.0F);
    if (newest_too) {
      EXPECT_EQ(float(s[4]), 4.0F);
    }
  };
  const LaunchOptions options{.grid = {1}, .block = {1}, .arrays = {in.input()}};
  launch(options, [&] { body(false); });
  fault_of(FaultKind::CopyNotWaited, options, [&] { body(true); });
}

TEST(CopyFaults, WaitIgnoresUncommittedCopies) {
  GlobalArray<float> in = numbers(4);
  fault_of(FaultKind::CopyNotWaited, {.grid = {1}, .block = {1}, .arrays = {in.input()}}, [&] {
    LAB_SHARED(float, s, 4);
    copy_async<16>(s + 0, global(in.data()));
    copy_wait<0>();
    const float x = s[0];
    (void)x;
  });
}

TEST(CopyFaults, DetectsOverwriteOfDataStillRead) {
  GlobalArray<float> in = numbers(256);
  const auto body = [&](bool barrier) {
    LAB_SHARED(float, s, 128);
    const int i = thread_idx().x;
    for (int step = 0; step < 2; ++step) {
      copy_async<16>(s + 4 * i, global(in.data()) + 128 * step + 4 * i);
      copy_commit();
      copy_wait<0>();
      sync_threads();
      EXPECT_EQ(float(s[127 - i]), static_cast<float>(128 * step + 127 - i));
      if (barrier) sync_threads();
    }
  };
  const LaunchOptions options{.grid = {1}, .block = {32}, .arrays = {in.input()}};
  launch(options, [&] { body(true); });
  EXPECT_TRUE(has(fault_of(FaultKind::Race, options, [&] { body(false); }),
                  "copy_async of s[103] after a read by thread 24"));
}

TEST(CopyFaults, FillsZerosAfterValidBytes) {
  GlobalArray<float> in = numbers(6);
  launch({.grid = {1}, .block = {1}, .arrays = {in.input()}}, [&] {
    LAB_SHARED(float, s, 12);
    const auto from = global(in.data());
    copy_async<16>(s + 0, from, 16);
    copy_async<16>(s + 4, from + 4, 8);
    copy_async<16>(s + 8, from + 100, 0);
    copy_commit();
    copy_wait<0>();
    for (int i = 0; i < 12; ++i) EXPECT_EQ(float(s[i]), i < 6 ? static_cast<float>(i) : 0.0F);
  });
  const LaunchOptions options{.grid = {1}, .block = {1}, .arrays = {in.input()}};
  EXPECT_TRUE(has(fault_of(FaultKind::OutOfBounds, options,
                           [&] {
                             LAB_SHARED(float, s, 4);
                             copy_async<16>(s + 0, global(in.data()) + 4);
                           }),
                  "in[4] of 6"));
}

TEST(CopyFaults, DetectsMisalignedSourceOrTarget) {
  GlobalArray<float> in = numbers(16);
  const LaunchOptions options{.grid = {1}, .block = {1}, .arrays = {in.input()}};
  fault_of(FaultKind::Misaligned, options, [&] {
    LAB_SHARED(float, s, 8);
    copy_async<16>(s + 1, global(in.data()));
  });
  EXPECT_TRUE(has(fault_of(FaultKind::Misaligned, options,
                           [&] {
                             LAB_SHARED(float, s, 8);
                             copy_async<16>(s + 0, global(in.data()) + 2);
                           }),
                  "access of 16 bytes to in, 8 bytes past"));
}

}  // namespace
}  // namespace lab::simt
