#include "compute/train/batch_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/counting_new.h"
#include "tests/support/numbered_images.h"

namespace lab {
namespace {

using test::numbered_images;

// Returns the labels of an epoch in order of batches, and checks that each batch's pixels match its
// labels.
std::vector<int> epoch_order(BatchLoader& loader, std::int64_t epoch) {
  ThreadPool pool({0});
  std::vector<float> pixels(4 * 28 * 28);
  std::array<std::uint8_t, 4> labels{};
  std::vector<int> order;
  loader.start_epoch(epoch);
  for (std::int64_t step = 0; step < loader.steps_per_epoch(); ++step) {
    const std::int64_t n = loader.batch_size(step);
    // Loads the batch in two slices, as two devices do.
    loader.load(step, {0, n / 2}, pool, pixels.data(), labels.data());
    loader.load(step, {n / 2, n}, pool, pixels.data() + n / 2 * 28 * 28, labels.data() + n / 2);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint8_t label = labels[static_cast<std::size_t>(i)];
      EXPECT_EQ(pixels[static_cast<std::size_t>(i * 28 * 28 + 17)],
                static_cast<float>(label) / 255.0F);
      order.push_back(label);
    }
  }
  return order;
}

TEST(BatchLoader, SequentialKeepsTheFileOrderAndThePartialBatch) {
  const ImageSet images = numbered_images(10);
  BatchLoader loader(images, 4, BatchOrder::Sequential, 1);
  EXPECT_EQ(loader.steps_per_epoch(), 3);
  EXPECT_EQ(loader.batch_size(2), 2);
  EXPECT_EQ(epoch_order(loader, 2), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(BatchLoader, ShuffledOrderDependsOnSeedAndEpoch) {
  const ImageSet images = numbered_images(50);
  BatchLoader loader(images, 4, BatchOrder::Shuffled, 1);
  const std::vector<int> first = epoch_order(loader, 1), second = epoch_order(loader, 2);
  EXPECT_NE(first, second);
  EXPECT_EQ(epoch_order(loader, 1), first);
  std::vector<int> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
  BatchLoader other(images, 4, BatchOrder::Shuffled, 2);
  EXPECT_NE(epoch_order(other, 1), first);
}

struct Loaded {
  std::vector<float> pixels = std::vector<float>(8 * 28 * 28);
  std::array<std::uint8_t, 8> labels{};
};

TEST(StagedBatch, MatchesADirectLoad) {
  ThreadPool pool({0});
  const ImageSet images = numbered_images(50);
  BatchLoader loader(images, 8, BatchOrder::Shuffled, 1);
  StagedBatch staged({0});
  for (const std::int64_t epoch : {0, 1}) {
    loader.start_epoch(epoch);
    for (std::int64_t step = 0; step < loader.steps_per_epoch(); ++step) {
      for (const BatchSlice slice : {BatchSlice{0, loader.batch_size(step)}, BatchSlice{1, 2}}) {
        Loaded direct, later;
        loader.load(step, slice, pool, direct.pixels.data(), direct.labels.data());
        staged.prepare(loader, step, slice);
        staged.wait();
        const BatchBytes bytes = staged.find(loader, step, slice);
        ASSERT_NE(bytes.pixels, nullptr);
        loader.convert(bytes, slice.end - slice.begin, pool, later.pixels.data(),
                       later.labels.data());
        EXPECT_EQ(later.pixels, direct.pixels);
        EXPECT_EQ(later.labels, direct.labels);
      }
    }
  }
}

TEST(StagedBatch, IsEmptyForOtherBatches) {
  const ImageSet images = numbered_images(50), others = numbered_images(50);
  BatchLoader loader(images, 8, BatchOrder::Shuffled, 1);
  const BatchLoader same_again(others, 8, BatchOrder::Shuffled, 1);
  StagedBatch staged({0});
  EXPECT_EQ(staged.find(loader, 0, {0, 0}).pixels, nullptr) << "no batch prepared";
  staged.prepare(loader, 3, {2, 6});
  staged.wait();
  EXPECT_NE(staged.find(loader, 3, {2, 6}).pixels, nullptr);
  EXPECT_EQ(staged.find(loader, 4, {2, 6}).pixels, nullptr);
  EXPECT_EQ(staged.find(loader, 3, {2, 5}).pixels, nullptr);
  EXPECT_EQ(staged.find(same_again, 3, {2, 6}).pixels, nullptr);
  loader.start_epoch(1);
  EXPECT_EQ(staged.find(loader, 3, {2, 6}).pixels, nullptr) << "another order";
}

TEST(StagedBatch, CanEndWhileCopyingAndAllocatesOnlyOnce) {
  const ImageSet images = numbered_images(50);
  const BatchLoader loader(images, 8, BatchOrder::Sequential, 1);
  for (int i = 0; i < 20; ++i) {
    StagedBatch staged({0});
    staged.prepare(loader, 0, {0, 8});
    staged.wait();
    const long before = test::allocation_count();
    for (std::int64_t step = 1; step < 4; ++step) staged.prepare(loader, step, {0, 8});
    EXPECT_EQ(test::allocation_count() - before, 0);
  }
  StagedBatch unused({0});
}

}  // namespace
}  // namespace lab
