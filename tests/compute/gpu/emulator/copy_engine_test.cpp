// The copy engine: which elements its boxes have, and waits for phases that never end.
#include "compute/gpu/cuda/kernel/copy_engine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/compute/gpu/emulator/fault_of.h"

namespace lab::simt {
namespace {

constexpr int kChannels = 64;

// Element (r, c) of the box at the beginning of shared memory.
std::uint16_t element(const SharedPtr<std::uint16_t>& shared, int r, int c) {
  return shared[r * 64 + (c / 8 ^ r % 8) * 8 + c % 8];
}

// One thread copies a box and returns the first channel of each of its rows.
template <class Boxes, class Copy>
std::vector<int> first_channels(const Boxes& boxes, GlobalArray<std::uint16_t>& array,
                                const Copy& copy) {
  std::vector<int> found;
  launch({.grid = {1},
          .block = {1},
          .dynamic_shared_bytes = static_cast<std::size_t>(boxes.box_rows) * kBoxRowBytes,
          .arrays = {array.input()}},
         [&] {
           LAB_SHARED(Barrier, done, 1);
           LAB_DYNAMIC_SHARED(std::uint16_t, shared);
           barrier_init(done, 1);
           publish_barriers();
           sync_threads();
           barrier_expect(done, boxes.box_rows * kBoxRowBytes);
           copy(box_at(shared), BoxMap{boxes}, done);
           barrier_wait<simt::WaitFor::Full>(done, 0);
           for (int row = 0; row < boxes.box_rows; ++row) {
             found.push_back(element(shared, row, 0));
             EXPECT_EQ(element(shared, row, 63), found.back() == 0 ? 0 : found.back() + 63);
           }
         });
  return found;
}

// Numbers of pixels or of taps of rows from 1 on, times 100, which each channel increases by 1.
GlobalArray<std::uint16_t> numbered(int count) {
  GlobalArray<std::uint16_t> array("array", static_cast<std::size_t>(count) * kChannels);
  for (int i = 0; i < count * kChannels; ++i) {
    array.data()[i] = static_cast<std::uint16_t>((i / kChannels + 1) * 100 + i % kChannels);
  }
  return array;
}

TEST(CopyEngine, CopiesThePixelsThatATapMeets) {
  GlobalArray<std::uint16_t> images = numbered(2 * 2 * 3);
  PixelBoxes boxes{.elements = images.data(),
                   .images = 2,
                   .height = 2,
                   .width = 3,
                   .channels = kChannels,
                   .first_y = -1,
                   .first_x = -1,
                   .grid_height = 2,
                   .grid_width = 3,
                   .step = 1,
                   .box_rows = 14};
  const auto met = [&](PixelPlace place, int tap_x, int tap_y) {
    return first_channels(boxes, images, [&](const Box& to, const BoxMap& map, const auto& done) {
      copy_pixels(to, map, 0, place, tap_x, tap_y, done);
    });
  };
  // The tap (0, 0) of a 3x3 kernel with padding 1, then the one in the middle, then beyond the end.
  EXPECT_EQ(met({-1, -1, 0}, 0, 0),
            (std::vector{0, 0, 0, 0, 100, 200, 0, 0, 0, 0, 700, 800, 0, 0}));
  EXPECT_EQ(met({1, -1, 1}, 1, 1),
            (std::vector{900, 1000, 1100, 1200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  // Every second pixel.
  boxes.step = 2;
  boxes.first_y = boxes.first_x = 0;
  boxes.grid_height = 1;
  boxes.grid_width = 2;
  boxes.box_rows = 5;
  EXPECT_EQ(met({0, 0, 0}, 0, 1), (std::vector{400, 600, 1000, 1200, 0}));
}

TEST(CopyEngine, CopiesRowsOfATap) {
  GlobalArray<std::uint16_t> weights = numbered(3 * 2);
  const WeightBoxes boxes{
      .elements = weights.data(), .rows = 3, .taps = 2, .channels = kChannels, .box_rows = 3};
  const auto rows =
      first_channels(boxes, weights, [&](const Box& to, const BoxMap& map, const auto& done) {
        copy_weights(to, map, 0, 1, 1, done);
      });
  EXPECT_EQ(rows, (std::vector{400, 600, 0}));
}

TEST(CopyEngine, FillsChannelsBeyondTheLastWithZeros) {
  GlobalArray<std::uint16_t> weights = numbered(1);
  const WeightBoxes boxes{
      .elements = weights.data(), .rows = 1, .taps = 1, .channels = kChannels, .box_rows = 1};
  const auto rows =
      first_channels(boxes, weights, [&](const Box& to, const BoxMap& map, const auto& done) {
        copy_weights(to, map, 64, 0, 0, done);
      });
  EXPECT_EQ(rows, std::vector{0});
}

// A producer fills a ring of two stages, which a consumer reads later than it could be overwritten.
TEST(CopyEngine, WaitsForReadersOfAStage) {
  constexpr int kSteps = 7, kStages = 2;
  GlobalArray<std::uint16_t> weights = numbered(kSteps);
  const WeightBoxes boxes{
      .elements = weights.data(), .rows = kSteps, .taps = 1, .channels = kChannels, .box_rows = 1};
  for (const bool last_thread_first : {false, true}) {
    std::vector<int> found;
    launch({.grid = {1},
            .block = {2},
            .dynamic_shared_bytes = kStages * kBoxAlignment,
            .arrays = {weights.input()},
            .last_thread_first = last_thread_first},
           [&] {
             LAB_SHARED(Barrier, full, kStages);
             LAB_SHARED(Barrier, empty, kStages);
             LAB_DYNAMIC_SHARED(std::uint16_t, shared);
             if (thread_idx().x == 0) {
               for (int s = 0; s < kStages; ++s) {
                 barrier_init(full + s, 1);
                 barrier_init(empty + s, 1);
               }
             }
             publish_barriers();
             sync_threads();
             for (int step = 0; step < kSteps; ++step) {
               const int slot = step % kStages, parity = step / kStages % 2;
               if (thread_idx().x == 0) {
                 barrier_wait<simt::WaitFor::Empty>(empty + slot, parity ^ 1);
                 barrier_expect(full + slot, kBoxRowBytes);
                 copy_weights(box_at(shared) + slot * kBoxAlignment, BoxMap{boxes}, 0, 0, step,
                              full + slot);
               } else {
                 barrier_wait<simt::WaitFor::Full>(full + slot, parity);
                 found.push_back(shared[slot * kBoxAlignment / 2]);
                 barrier_arrive(empty + slot);
               }
             }
           });
    EXPECT_EQ(found, (std::vector{100, 200, 300, 400, 500, 600, 700}));
  }
}

TEST(CopyEngine, DetectsAReadBeforeTheWait) {
  GlobalArray<std::uint16_t> weights = numbered(1);
  const WeightBoxes boxes{
      .elements = weights.data(), .rows = 1, .taps = 1, .channels = kChannels, .box_rows = 1};
  fault_of(FaultKind::Unwritten,
           {.grid = {1},
            .block = {1},
            .dynamic_shared_bytes = kBoxRowBytes,
            .arrays = {weights.input()}},
           [&] {
             LAB_SHARED(Barrier, done, 1);
             LAB_DYNAMIC_SHARED(std::uint16_t, shared);
             barrier_init(done, 2);
             barrier_expect(done, kBoxRowBytes);
             copy_weights(box_at(shared), BoxMap{boxes}, 0, 0, 0, done);
             const std::uint16_t x = shared[0];
             (void)x;
           });
}

TEST(CopyEngine, NamesAPhaseThatNeverEnds) {
  EXPECT_TRUE(has(fault_of(FaultKind::Deadlock, {.grid = {1}, .block = {32}},
                           [&] {
                             LAB_SHARED(Barrier, full, 1);
                             if (thread_idx().x == 0) {
                               barrier_init(full, 1);
                               barrier_expect(full, 128);  // of a copy that nobody asks for
                             }
                             sync_threads();
                             barrier_wait<simt::WaitFor::Full>(full, 0);
                           }),
                  "threads 0-31 at barrier_wait"));
}

TEST(CopyEngine, RefusesBarriersWithoutInitialisationAndWithTooManyArrivals) {
  EXPECT_TRUE(has(fault_of(FaultKind::PhaseBarrier, {.grid = {1}, .block = {1}},
                           [&] {
                             LAB_SHARED(Barrier, full, 1);
                             barrier_arrive(full);
                           }),
                  "before barrier_init"));
  EXPECT_TRUE(has(fault_of(FaultKind::PhaseBarrier, {.grid = {1}, .block = {1}},
                           [&] {
                             LAB_SHARED(Barrier, full, 1);
                             barrier_init(full, 1);
                             barrier_expect(full, 128);
                             barrier_arrive(full);
                           }),
                  "gets another one"));
}

TEST(CopyEngine, RefusesWhatMapsCannotDescribe) {
  GlobalArray<std::uint16_t> images = numbered(4);
  const PixelBoxes fits{.elements = images.data(),
                        .images = 1,
                        .height = 2,
                        .width = 2,
                        .channels = kChannels,
                        .grid_height = 2,
                        .grid_width = 2,
                        .box_rows = 4};
  const auto refused = [&](const PixelBoxes& boxes, int tap,
                           const std::string& words) -> testing::AssertionResult {
    const auto copy = [&](const Box& to, const BoxMap& map, const auto& done) {
      copy_pixels(to, map, 0, {boxes.first_x, boxes.first_y, 0}, tap, 0, done);
    };
    try {
      first_channels(boxes, images, copy);
    } catch (const Fault& fault) {
      return has(fault.what(), words);
    }
    return testing::AssertionFailure() << "no fault";
  };
  PixelBoxes boxes = fits;
  boxes.first_x = -129;
  EXPECT_TRUE(refused(boxes, 0, "a corner"));
  boxes = fits;
  boxes.step = 9;
  EXPECT_TRUE(refused(boxes, 0, "the step"));
  boxes = fits;
  boxes.box_rows = 257;
  EXPECT_TRUE(refused(boxes, 0, "the number of rows"));
  EXPECT_TRUE(refused(fits, -1, "a tap"));
}

}  // namespace
}  // namespace lab::simt
