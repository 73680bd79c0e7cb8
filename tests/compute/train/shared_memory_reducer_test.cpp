#include "compute/train/data_parallel/shared_memory_reducer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "compute/core/error.h"
#include "compute/tensor/random.h"
#include "tests/support/slow_ranks.h"

namespace lab {
namespace {

constexpr std::int64_t kFloats = 100'003;  // several chunks, the last one ragged

std::vector<GradientBucket> three_buckets() {
  return plan_buckets(std::vector<std::int64_t>{0, 5, 40'000, kFloats}, 300'000, 100);
}

// The gradients of several replicas before and after a step.
struct Step {
  explicit Step(std::size_t replicas, std::uint64_t seed = 1) : gradients(replicas) {
    for (std::size_t r = 0; r < replicas; ++r) {
      gradients[r].resize(kFloats);
      RandomStream{seed, r}.fill_normal(gradients[r]);
    }
  }

  // Runs every replica on its own thread; replica `late` lags behind the others at every bucket.
  void run(GradientReducer& reducer, const std::vector<std::int64_t>& images,
           std::size_t late = 99) {
    reducer.begin_step(images);
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < gradients.size(); ++r) {
      threads.emplace_back([&, r] {
        for (std::size_t b = 0; b < buckets.size(); ++b) {
          if (r == late) std::this_thread::sleep_for(std::chrono::milliseconds(3));
          reducer.ready(r, b);
          reducer.progress(r);
        }
        reducer.finish(r, {});
      });
    }
  }

  std::vector<SharedMemoryReducer::Source> sources() {
    std::vector<SharedMemoryReducer::Source> all;
    for (std::vector<float>& g : gradients) all.push_back({g.data()});
    return all;
  }

  const std::vector<GradientBucket> buckets = three_buckets();
  std::vector<std::vector<float>> gradients;
};

// Sums in replica order, skipping replicas without images.
std::vector<float> reference(const Step& step, const std::vector<std::int64_t>& images) {
  std::vector<float> sum;
  for (std::size_t r = 0; r < images.size(); ++r) {
    if (images[r] == 0) continue;
    if (sum.empty()) {
      sum = step.gradients[r];
      continue;
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += step.gradients[r][i];
  }
  return sum;
}

TEST(SharedMemoryReducer, SumsInReplicaOrderForEveryReplica) {
  for (const std::size_t replicas : {2U, 3U, 7U}) {
    for (const std::size_t late : {99U, 0U, 1U}) {
      Step step(replicas);
      SharedMemoryReducer reducer(step.sources(), step.buckets, single_rank(), /*spin=*/false);
      const std::vector<std::int64_t> images(replicas, 4);
      const std::vector<float> sum = reference(step, images);
      step.run(reducer, images, late);
      for (const auto& gradients : step.gradients) {
        ASSERT_EQ(std::memcmp(gradients.data(), sum.data(), sum.size() * 4), 0);
      }
    }
  }
}

TEST(SharedMemoryReducer, SkipsReplicasWithoutImages) {
  Step step(3);
  step.gradients[1].assign(kFloats, std::numeric_limits<float>::quiet_NaN());
  SharedMemoryReducer reducer(step.sources(), step.buckets, single_rank(), true);
  const std::vector<std::int64_t> images = {4, 0, 3};
  const std::vector<float> sum = reference(step, images);
  step.run(reducer, images);
  for (const auto& gradients : step.gradients) EXPECT_EQ(gradients, sum);
}

TEST(SharedMemoryReducer, CanBeReused) {
  Step step(4);
  SharedMemoryReducer reducer(step.sources(), step.buckets, single_rank(), false);
  for (std::int64_t n = 0; n < 50; ++n) {
    const std::vector<std::int64_t> images = {n % 2, 1, n % 3, 1};
    for (std::size_t r = 0; r < 4; ++r) {
      RandomStream{static_cast<std::uint64_t>(n), r}.fill_normal(step.gradients[r]);
    }
    const std::vector<float> sum = reference(step, images);
    step.run(reducer, images);
    for (const auto& gradients : step.gradients) ASSERT_EQ(gradients, sum);
  }
}

TEST(SharedMemoryReducer, HidesNothingOnceBackwardHasFilledTheLastBucket) {
  Step step(2);
  SharedMemoryReducer reducer(step.sources(), step.buckets, single_rank(), /*spin=*/false);
  for (const bool early : {false, true}) {
    reducer.begin_step(std::vector<std::int64_t>{4, 4});
    for (std::size_t b = 0; b < step.buckets.size(); ++b) {
      for (const std::size_t r : {0U, 1U}) reducer.ready(r, b);
      if (early || b + 1 == step.buckets.size()) reducer.progress(0);
    }
    {
      const std::jthread other([&] { reducer.finish(1, {}); });
      reducer.finish(0, {});
    }
    EXPECT_EQ(reducer.times(0).hidden_s > 0, early);
    EXPECT_EQ(reducer.times(1).hidden_s, 0);
  }
}

TEST(SharedMemoryReducer, StopEndsTheWaitOfAReplica) {
  Step step(2);
  SharedMemoryReducer reducer(step.sources(), step.buckets, single_rank(), true);
  reducer.begin_step(std::vector<std::int64_t>{1, 1});
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request_stop();
  });
  for (std::size_t b = 0; b < step.buckets.size(); ++b) reducer.ready(0, b);
  EXPECT_THROW(reducer.finish(0, stop.get_token()), Error);
}

TEST(SharedMemoryReducer, SumsReplicasAndProcesses) {
  for (const std::size_t replicas : {1U, 2U, 5U}) {
    Step step(replicas);
    test::SlowRanks ranks;
    SharedMemoryReducer reducer(step.sources(), step.buckets, ranks, false);
    const std::vector<std::int64_t> images(replicas, 4);
    std::vector<float> sum = reference(step, images);
    for (float& v : sum) v *= 2;
    step.run(reducer, images, 1);
    for (const auto& gradients : step.gradients) ASSERT_EQ(gradients, sum);
    std::vector<std::int64_t> in_order;
    for (const GradientBucket& b : step.buckets) in_order.push_back(b.end - b.begin);
    EXPECT_EQ(ranks.begun, in_order);
  }
}

TEST(SharedMemoryReducer, SendsZerosForAProcessWithoutImages) {
  Step step(2);
  test::SlowRanks ranks;
  SharedMemoryReducer reducer(step.sources(), step.buckets, ranks, false);
  step.run(reducer, {0, 0});
  for (const auto& gradients : step.gradients) {
    EXPECT_EQ(gradients, std::vector<float>(kFloats, 0.0F));
  }
}

}  // namespace
}  // namespace lab
