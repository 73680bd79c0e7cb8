// Sums of gradients in the memory of emulated GPUs. A stream of an emulated GPU runs its work when
// something waits for it, so that a missing dependency between streams gives wrong sums.
#include "compute/train/data_parallel/gpu_reducer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/machine/machine.h"
#include "compute/tensor/buffer.h"
#include "compute/tensor/random.h"
#include "compute/train/data_parallel/shared_memory_reducer.h"
#include "tests/support/slow_ranks.h"

namespace lab {
namespace {

constexpr std::int64_t kGradients = 1003;
constexpr std::int64_t kLongestBucket = 700;

std::vector<GradientBucket> ragged_buckets() {
  return plan_buckets(std::vector<std::int64_t>{0, 3, 303, kGradients}, 2800, 12);
}

// Gradients that "backward" copies to the GPU, or on the CPU writes to memory, bucket by bucket.
class DeviceGradients {
 public:
  DeviceGradients(DeviceContext& device, std::uint64_t number)
      : device_(device), gradients_(kGradients) {
    RandomStream{1, number}.fill_normal(gradients_);
    on_host_.resize(kGradients);
    if (gpu() == nullptr) return;
    on_gpu_ = named_buffer(device, kGradients * 4, "gradients");
    pinned_ = gpu()->allocate_pinned(2 * kGradients * 4);
    std::copy(gradients_.begin(), gradients_.end(), pinned());
  }
  GpuDevice* gpu() const { return device_.gpu(); }
  const std::vector<float>& gradients() const { return gradients_; }
  GpuArray array() { return {&device_, values()}; }
  SharedMemoryReducer::Source host_source(std::span<const GradientBucket> buckets) {
    if (gpu() == nullptr) return {on_host_.data()};
    float* const host = pinned() + kGradients;
    return {host, std::make_unique<GradientCopies>(*gpu(), values(), host, buckets)};
  }
  void compute(const GradientBucket& bucket) {
    if (gpu() == nullptr) {
      std::copy_n(gradients_.data() + bucket.begin, bucket.end - bucket.begin,
                  on_host_.data() + bucket.begin);
      return;
    }
    gpu()->copy(GpuCopy::HostToDevice, values() + bucket.begin, pinned() + bucket.begin,
                bucket.bytes(), gpu()->main_stream());
  }
  std::vector<float> result() {
    if (gpu() == nullptr) return on_host_;
    std::vector<float> all(kGradients);
    gpu()->copy(GpuCopy::DeviceToHost, all.data(), values(), kGradients * 4, gpu()->main_stream());
    gpu()->main_stream().synchronise();
    return all;
  }

 private:
  float* values() { return reinterpret_cast<float*>(on_gpu_.data()); }
  float* pinned() { return reinterpret_cast<float*>(pinned_->data()); }

  DeviceContext& device_;
  std::vector<float> gradients_, on_host_;
  Buffer on_gpu_;
  std::unique_ptr<PinnedMemory> pinned_;
};

struct DeviceGroup {
  DeviceGroup(int gpus, int cpus, bool peer_access = true)
      : machine({.cpu_devices = std::max(cpus, 1),
                 .emulated_gpus = std::max(gpus, 1),
                 .emulated_peer_access = peer_access}) {
    for (int i = 0; i < gpus; ++i) add(emulated_gpu(i));
    for (int i = 0; i < cpus; ++i) add(cpu(i));
  }
  void add(Device device) {
    sources.push_back(std::make_unique<DeviceGradients>(machine.at(device), sources.size()));
  }
  std::vector<GpuArray> arrays() {
    std::vector<GpuArray> all;
    for (const auto& source : sources) all.push_back(source->array());
    return all;
  }
  std::unique_ptr<GradientReducer> on_gpus() {
    return std::make_unique<GpuReducer>(make_peer_sums(arrays(), kLongestBucket), buckets);
  }
  std::unique_ptr<GradientReducer> on_host(RankGroup& ranks = single_rank()) {
    std::vector<SharedMemoryReducer::Source> all;
    for (const auto& source : sources) all.push_back(source->host_source(buckets));
    return std::make_unique<SharedMemoryReducer>(std::move(all), buckets, ranks, false);
  }

  // One step, each device on its own thread.
  void run(GradientReducer& reducer, const std::vector<std::int64_t>& images) {
    reducer.begin_step(images);
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < sources.size(); ++r) {
      threads.emplace_back([&, r] {
        for (std::size_t b = 0; b < buckets.size(); ++b) {
          if (images[r] > 0) sources[r]->compute(buckets[b]);
          reducer.ready(r, b);
          reducer.progress(r);
        }
        reducer.finish(r, {});
      });
    }
  }
  // In the order of the devices.
  std::vector<float> expected(const std::vector<std::int64_t>& images) const {
    std::vector<float> sum;
    for (std::size_t r = 0; r < sources.size(); ++r) {
      if (images[r] == 0) continue;
      const std::vector<float>& more = sources[r]->gradients();
      if (sum.empty()) {
        sum = more;
      } else {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
      }
    }
    return sum;
  }

  Machine machine;
  const std::vector<GradientBucket> buckets = ragged_buckets();
  std::vector<std::unique_ptr<DeviceGradients>> sources;
};

TEST(GpuReducer, SumsInReplicaOrderForEveryReplica) {
  for (const auto& [gpus, peer_access] :
       {std::pair{2, true}, std::pair{3, true}, std::pair{5, true}, std::pair{3, false}}) {
    DeviceGroup group(gpus, 0, peer_access);
    const auto reducer = group.on_gpus();
    for (int step = 0; step < 3; ++step) {
      std::vector<std::int64_t> images(group.sources.size(), 4);
      if (step == 1) images[1] = 0;
      group.run(*reducer, images);
      const std::vector<float> sum = group.expected(images);
      for (const auto& source : group.sources) ASSERT_EQ(source->result(), sum);
    }
  }
}

// The updates of a step take the sums, although the next steps' gradients are queued behind them.
TEST(GpuReducer, UpdatesThatAreAheadTakeTheSumsOfTheirStep) {
  constexpr int kSteps = 5;
  DeviceGroup group(3, 0);
  GpuReducer reducer(make_peer_sums(group.arrays(), kLongestBucket), group.buckets);
  std::vector<std::unique_ptr<PinnedMemory>> results;
  std::vector<std::vector<float>> expected;
  for (const auto& source : group.sources) {
    results.push_back(source->gpu()->allocate_pinned(kSteps * kGradients * 4));
  }
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::int64_t> images(group.sources.size(), 4);
    if (step % 2 == 1) images[static_cast<std::size_t>(step) / 2] = 0;
    expected.push_back(group.expected(images));
    reducer.begin_ahead(images);
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < group.sources.size(); ++r) {
      threads.emplace_back([&, r] {
        const auto& source = group.sources[r];
        for (std::size_t b = 0; b < group.buckets.size(); ++b) {
          if (images[r] > 0) source->compute(group.buckets[b]);
          reducer.ready(r, b);
        }
        const auto update = [&] {
          std::byte* const to = results[r]->data() + std::ptrdiff_t{step} * kGradients * 4;
          source->gpu()->copy(GpuCopy::DeviceToHost, to, source->array().values, kGradients * 4,
                              source->gpu()->main_stream());
        };
        reducer.update_ahead(r, update, {});
      });
    }
  }
  for (int step = 0; step < kSteps; ++step) {
    ASSERT_EQ(reducer.finish_ahead().size(), group.sources.size());
    for (const auto& result : results) {
      const auto* const values = reinterpret_cast<const float*>(result->data());
      EXPECT_TRUE(std::equal(expected[static_cast<std::size_t>(step)].begin(),
                             expected[static_cast<std::size_t>(step)].end(),
                             values + std::ptrdiff_t{step} * kGradients))
          << step;
    }
  }
}

// The floats behind the gradients; those of a replica without images do not count.
TEST(GpuReducer, SumsTheFloatsBehindTheGradients) {
  constexpr std::int64_t kBehind = 2;
  Machine machine({.emulated_gpus = 3});
  const std::vector<GradientBucket> buckets =
      plan_buckets(std::vector<std::int64_t>{0, 3, 40}, 100, 12);
  std::vector<Buffer> buffers;
  std::vector<GpuArray> arrays;
  for (int i = 0; i < 3; ++i) {
    DeviceContext& device = machine.at(emulated_gpu(i));
    buffers.push_back(named_buffer(device, (40 + kBehind) * 4, "gradients"));
    arrays.push_back({&device, reinterpret_cast<float*>(buffers.back().data())});
    const float value =
        i == 1 ? std::numeric_limits<float>::quiet_NaN() : 1.0F + static_cast<float>(i);
    device.gpu()->fill({.bits = std::bit_cast<std::uint32_t>(value),
                        .to = buffers.back().data(),
                        .count = 40 + kBehind},
                       device.gpu()->main_stream());
  }
  GpuReducer reducer(make_peer_sums(arrays, 40 + kBehind), buckets, kLongestGpuSum, kBehind);
  reducer.begin_step(std::vector<std::int64_t>{4, 0, 4});
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t b = 0; b < buckets.size(); ++b) reducer.ready(r, b);
  }
  for (std::size_t r = 0; r < 3; ++r) {
    reducer.finish(r, {});
    GpuDevice& gpu = *arrays[r].device->gpu();
    std::vector<float> values(40 + kBehind);
    gpu.copy(GpuCopy::DeviceToHost, values.data(), arrays[r].values, std::ssize(values) * 4,
             gpu.main_stream());
    gpu.main_stream().synchronise();
    EXPECT_EQ(values, std::vector<float>(40 + kBehind, 4.0F));
  }
}

TEST(GpuReducer, StopEndsTheWaitForAReplicaOfAStepAhead) {
  DeviceGroup group(2, 0);
  GpuReducer reducer(make_peer_sums(group.arrays(), kLongestBucket), group.buckets);
  reducer.begin_ahead(std::vector<std::int64_t>{1, 1});
  for (std::size_t b = 0; b < group.buckets.size(); ++b) reducer.ready(0, b);
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request_stop();
  });
  EXPECT_THROW(reducer.update_ahead(
                   0, [] {}, stop.get_token()),
               Error);
}

TEST(SharedMemoryReducer, SumsGradientsOfGpusAndCpus) {
  for (const auto& [gpus, cpus] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}}) {
    DeviceGroup group(gpus, cpus);
    const auto reducer = group.on_host();
    for (int step = 0; step < 3; ++step) {
      std::vector<std::int64_t> images(group.sources.size(), 4);
      if (step == 1) images[0] = 0;
      group.run(*reducer, images);
      const std::vector<float> sum = group.expected(images);
      for (const auto& source : group.sources) ASSERT_EQ(source->result(), sum);
    }
  }
}

TEST(SharedMemoryReducer, SumsGradientsOfGpusOverProcesses) {
  for (const auto& [gpus, cpus] : {std::pair{1, 0}, std::pair{2, 0}, std::pair{1, 1}}) {
    DeviceGroup group(gpus, cpus);
    test::SlowRanks ranks;
    const auto reducer = group.on_host(ranks);
    const std::vector<std::int64_t> images(group.sources.size(), 4);
    group.run(*reducer, images);
    std::vector<float> sum = group.expected(images);
    for (float& v : sum) v *= 2;
    for (const auto& source : group.sources) ASSERT_EQ(source->result(), sum);
  }
}

TEST(GpuReducer, SumsABucketBeforeTheNextIsReady) {
  DeviceGroup group(2, 0);
  auto sums = make_peer_sums(group.arrays(), kLongestBucket);
  const auto members = sums->members();
  GpuReducer reducer(std::move(sums), group.buckets);
  reducer.begin_step(std::vector<std::int64_t>{1, 1});
  for (const std::size_t r : {0U, 1U}) {
    group.sources[r]->compute(group.buckets[0]);
    reducer.ready(r, 0);
  }
  const std::vector<float> sum = group.expected({1, 1});
  const auto begin = group.buckets[0].begin;
  for (const std::size_t r : {0U, 1U}) {
    members[r].stream->synchronise();
    const std::vector<float> result = group.sources[r]->result();
    EXPECT_TRUE(std::equal(result.begin() + begin, result.end(), sum.begin() + begin));
  }
}

TEST(SharedMemoryReducer, SumsABucketOfAGpuBeforeTheNextIsReady) {
  DeviceGroup group(1, 1);
  const auto reducer = group.on_host();
  reducer->begin_step(std::vector<std::int64_t>{1, 1});
  for (const std::size_t r : {0U, 1U}) {
    group.sources[r]->compute(group.buckets[0]);
    reducer->ready(r, 0);
  }
  const std::vector<float> sum = group.expected({1, 1});
  const auto begin = group.buckets[0].begin;
  for (int polls = 0; polls < 3; ++polls) {  // the GPU's copy, then both replicas' chunks
    reducer->progress(0);
    reducer->progress(1);
  }
  const std::vector<float> result = group.sources[1]->result();
  EXPECT_TRUE(std::equal(result.begin() + begin, result.end(), sum.begin() + begin));
}

TEST(GpuReducer, StopEndsTheWaitForAReplica) {
  DeviceGroup group(2, 0);
  const auto reducer = group.on_gpus();
  reducer->begin_step(std::vector<std::int64_t>{1, 1});
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request_stop();
  });
  for (std::size_t b = 0; b < group.buckets.size(); ++b) reducer->ready(0, b);
  EXPECT_THROW(reducer->finish(0, stop.get_token()), Error);
}

// Sums that never end: their streams wait for an event of the test's choice.
class HungSums final : public GpuSums {
 public:
  explicit HungSums(std::span<const GpuArray> arrays, int& abandoned)
      : GpuSums(arrays), abandoned_(abandoned) {}
  void queue(std::int64_t /*begin*/, std::int64_t /*end*/) override {}
  void abandon() noexcept override { ++abandoned_; }

 private:
  int& abandoned_;
};

TEST(GpuReducer, AbandonsSumsOfAnUnfinishedStep) {
  DeviceGroup group(2, 0);
  int abandoned = 0;
  {
    GpuReducer reducer(std::make_unique<HungSums>(group.arrays(), abandoned), group.buckets);
    reducer.begin_step(std::vector<std::int64_t>{1, 1});
    reducer.ready(0, 0);
  }
  EXPECT_EQ(abandoned, 1);
}

}  // namespace
}  // namespace lab
