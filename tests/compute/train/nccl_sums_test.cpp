// Sums by a fake NCCL on emulated GPUs.
#include "compute/train/data_parallel/nccl_sums.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/data/dataset.h"
#include "compute/machine/machine.h"
#include "compute/tensor/buffer.h"
#include "compute/train/data_parallel/gpu_reducer.h"
#include "compute/train/trainer.h"
#include "tests/support/compare.h"
#include "tests/support/contexts.h"
#include "tests/support/errors.h"
#include "tests/support/fake_nccl/fake_nccl.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

constexpr std::int64_t kValues = 300;

std::vector<GpuDevice*> gpus_of(Machine& machine, int count) {
  std::vector<GpuDevice*> gpus;
  gpus.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) gpus.push_back(machine.at(emulated_gpu(i)).gpu());
  return gpus;
}

void lose_gpu(GpuDevice& gpu) {
  std::byte nowhere{};
  gpu.release(&nowhere, gpu.main_stream());
}

// One array on each emulated GPU, filled with the number of the GPU.
struct NcclGroup {
  explicit NcclGroup(int gpus, bool peer_access = true)
      : machine({.emulated_gpus = gpus, .emulated_peer_access = peer_access}),
        nccl(gpus_of(machine, gpus)) {
    for (int i = 0; i < gpus; ++i) {
      DeviceContext& device = machine.at(emulated_gpu(i));
      buffers.push_back(named_buffer(device, kValues * 4, "values"));
      auto* const values = reinterpret_cast<float*>(buffers.back().data());
      arrays.push_back({&device, values});
      const float number = static_cast<float>(i);
      device.gpu()->fill({.bits = std::bit_cast<std::uint32_t>(number),
                          .to = buffers.back().data(),
                          .count = kValues},
                         device.gpu()->main_stream());
    }
  }
  std::vector<float> values(std::size_t i) {
    GpuDevice& gpu = *arrays[i].device->gpu();
    std::vector<float> all(kValues);
    gpu.copy(GpuCopy::DeviceToHost, all.data(), arrays[i].values, kValues * 4, gpu.main_stream());
    gpu.main_stream().synchronise();
    return all;
  }
  // All replicas announce all buckets.
  void queue_all(GpuReducer& reducer) {
    reducer.begin_step(std::vector<std::int64_t>(arrays.size(), 1));
    for (std::size_t r = 0; r < arrays.size(); ++r) {
      for (std::size_t b = 0; b < buckets.size(); ++b) reducer.ready(r, b);
    }
  }
  void queue_ahead(GpuReducer& reducer) {
    reducer.begin_ahead(std::vector<std::int64_t>(arrays.size(), 1));
    for (std::size_t r = 0; r < arrays.size(); ++r) {
      for (std::size_t b = 0; b < buckets.size(); ++b) reducer.ready(r, b);
    }
    for (std::size_t r = 0; r < arrays.size(); ++r) reducer.update_ahead(r, [] {}, {});
  }

  Machine machine;
  test::FakeNccl nccl;
  std::vector<Buffer> buffers;
  std::vector<GpuArray> arrays;
  const std::vector<GradientBucket> buckets =
      plan_buckets(std::vector<std::int64_t>{0, 10, 100, kValues}, 800, 40);
};

// NCCL writes to the other GPUs' arrays.
TEST(NcclSums, LetGpusReachEachOthersMemory) {
  NcclGroup group(2);
  GpuDevice& gpu = *group.arrays[0].device->gpu();
  const auto add_other = [&] {
    std::byte* const own = group.buffers[0].data();
    gpu.add({.x = group.buffers[1].data(), .y = own, .z = own, .count = kValues},
            gpu.main_stream());
    gpu.main_stream().synchronise();
  };
  group.arrays[1].device->gpu()->main_stream().synchronise();
  auto sums = make_nccl_sums(group.nccl.library(), group.arrays);
  add_other();
  EXPECT_EQ(group.values(0), std::vector<float>(kValues, 1.0F));
  sums.reset();
  EXPECT_THROW(add_other(), Error) << "the emulator checks it";
}

// NCCL brings its own ways between GPUs without peer access.
TEST(NcclSums, SumsEveryBucketOnAllGpus) {
  for (const bool peer_access : {true, false}) {
    NcclGroup group(3, peer_access);
    GpuReducer reducer(make_nccl_sums(group.nccl.library(), group.arrays), group.buckets);
    group.queue_all(reducer);
    for (std::size_t r = 0; r < 3; ++r) reducer.finish(r, {});
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_EQ(group.values(r), std::vector<float>(kValues, 3.0F));
    }
    EXPECT_EQ(group.nccl.sums(), static_cast<int>(group.buckets.size()));
  }
}

TEST(NcclSums, ReportsTheCallThatFails) {
  for (const char* function :
       {"ncclCommInitAll", "ncclGroupStart", "ncclAllReduce", "ncclGroupEnd"}) {
    NcclGroup group(2);
    group.nccl.fails = function;
    const std::string message = test::message_of(
        [&] {
          GpuReducer reducer(make_nccl_sums(group.nccl.library(), group.arrays), group.buckets);
          group.queue_all(reducer);
        },
        Errc::Cuda);
    EXPECT_NE(message.find(function), std::string::npos) << message;
    EXPECT_NE(message.find("invalid usage"), std::string::npos) << message;
    EXPECT_NE(message.find("--sum lab"), std::string::npos) << message;
  }
}

TEST(NcclSums, ReportsAnErrorOfRunningSums) {
  NcclGroup group(2);
  group.nccl.hangs = true;
  GpuReducer reducer(make_nccl_sums(group.nccl.library(), group.arrays), group.buckets);
  group.queue_all(reducer);
  group.nccl.async_error = nccl::kInvalidUsage;
  EXPECT_NE(test::message_of([&] { reducer.finish(0, {}); }, Errc::Cuda).find("invalid usage"),
            std::string::npos);
}

TEST(NcclSums, HungSumsAreAborted) {
  NcclGroup group(2);
  group.nccl.hangs = true;
  {
    GpuReducer reducer(make_nccl_sums(group.nccl.library(), group.arrays), group.buckets,
                       std::chrono::milliseconds(50));
    group.queue_all(reducer);
    EXPECT_NE(test::message_of([&] { reducer.finish(0, {}); }, Errc::Cuda).find("emu:0"),
              std::string::npos);
    EXPECT_EQ(group.nccl.aborted(), 2);
  }
  EXPECT_EQ(group.nccl.aborted(), 2) << "once each";
}

TEST(NcclSums, HungSumsOfAStepAheadAreAborted) {
  NcclGroup group(2);
  group.nccl.hangs = true;
  {
    GpuReducer reducer(make_nccl_sums(group.nccl.library(), group.arrays), group.buckets,
                       std::chrono::milliseconds(50));
    group.queue_ahead(reducer);
    EXPECT_NE(test::message_of([&] { reducer.finish_ahead(); }, Errc::Cuda).find("emu:0"),
              std::string::npos);
    EXPECT_EQ(group.nccl.aborted(), 2);
  }
  EXPECT_EQ(group.nccl.aborted(), 2) << "once each";
}

// It would end by itself, so it is not aborted.
TEST(NcclSums, AStepAheadWhoseResultIsNotTakenEnds) {
  NcclGroup group(2);
  {
    GpuReducer reducer(make_nccl_sums(group.nccl.library(), group.arrays), group.buckets);
    group.queue_ahead(reducer);
  }
  EXPECT_EQ(group.nccl.aborted(), 0);
  EXPECT_EQ(group.nccl.sums(), static_cast<int>(group.buckets.size()));
}

TEST(NcclSums, StopAbortsThem) {
  NcclGroup group(2);
  group.nccl.hangs = true;
  std::stop_source stop;
  {
    GpuReducer reducer(make_nccl_sums(group.nccl.library(), group.arrays), group.buckets);
    group.queue_all(reducer);
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request_stop();
    });
    EXPECT_THROW(reducer.finish(0, stop.get_token()), Error);
  }
  EXPECT_EQ(group.nccl.aborted(), 2);
}

TEST(NcclSums, ALostGpuAbortsThem) {
  NcclGroup group(2);
  {
    const auto sums = make_nccl_sums(group.nccl.library(), group.arrays);
    sums->queue(0, kValues);
    lose_gpu(*group.arrays[1].device->gpu());
  }
  EXPECT_EQ(group.nccl.aborted(), 2);
}

// ---- The checks of the fake

// Calls of the library by hand, for the two GPUs of a group.
class NcclCalls : public testing::Test {
 protected:
  NcclCalls() {
    constexpr std::array kOrdinals = {0, 1};
    EXPECT_EQ(nccl_.comm_init_all(ranks_.data(), 2, kOrdinals.data()), nccl::kSuccess);
    for (const GpuArray& array : group_.arrays) streams_.push_back(gpu_of(array).make_stream());
  }
  ~NcclCalls() override {
    fake().fails.clear();
    for (const nccl::Communicator one : ranks_) {
      if (one != nullptr) nccl_.comm_abort(one);
    }
  }

  static GpuDevice& gpu_of(const GpuArray& array) { return *array.device->gpu(); }
  GpuDevice& gpu(std::size_t rank) { return gpu_of(group_.arrays[rank]); }
  test::FakeNccl& fake() { return group_.nccl; }
  float* values(std::size_t rank) const { return group_.arrays[rank].values; }

  int add(std::size_t rank, const float* from, float* to, std::size_t count = kValues) {
    return nccl_.all_reduce(from, to, count, nccl::kFloat32, nccl::kSum, ranks_[rank],
                            streams_[rank]->native());
  }
  int add(std::size_t rank) { return add(rank, values(rank), values(rank)); }
  void queue_sum() {
    nccl_.group_start();
    EXPECT_EQ(add(0), nccl::kSuccess);
    EXPECT_EQ(add(1), nccl::kSuccess);
    EXPECT_EQ(nccl_.group_end(), nccl::kSuccess);
  }
  // Of rank 1, as the only call of a group.
  void expect_refused(const float* from, float* to, std::size_t count, const std::string& why) {
    nccl_.group_start();
    EXPECT_NONFATAL_FAILURE(add(1, from, to, count), "ncclAllReduce: " + why);
    EXPECT_EQ(nccl_.group_end(), nccl::kInvalidUsage);
  }
  void destroy(std::size_t rank) {
    EXPECT_EQ(nccl_.comm_destroy(ranks_[rank]), nccl::kSuccess);
    ranks_[rank] = nullptr;
  }

  NcclGroup group_{2};
  const nccl::Library nccl_ = group_.nccl.library();
  std::array<nccl::Communicator, 2> ranks_ = {};
  std::vector<std::unique_ptr<GpuStream>> streams_;
};

TEST_F(NcclCalls, AreCheckedForTheirBuffers) {
  const std::string outside = "a buffer is not within one allocation of the rank's GPU";
  std::vector<float> host(kValues);
  float* const mine = values(1);
  expect_refused(mine, values(0), kValues, outside);
  expect_refused(values(0), mine, kValues, outside);
  expect_refused(host.data(), mine, kValues, outside);
  expect_refused(mine, mine, kValues + 1, outside);
  expect_refused(mine, mine + 1, kValues - 1, "the result overlaps the operand");
  std::byte* const released = gpu(1).allocate(kValues * 4, gpu(1).main_stream());
  gpu(1).release(released, gpu(1).main_stream());
  expect_refused(mine, reinterpret_cast<float*>(released), kValues, outside);
  EXPECT_EQ(fake().sums(), 0);
  queue_sum();
}

TEST_F(NcclCalls, AreCheckedForTheirBuffersAgainWhenTheyRun) {
  std::byte* const memory = gpu(1).allocate(kValues * 4, gpu(1).main_stream());
  nccl_.group_start();
  add(0);
  add(1, reinterpret_cast<float*>(memory), values(1));
  EXPECT_EQ(nccl_.group_end(), nccl::kSuccess);
  gpu(1).release(memory, gpu(1).main_stream());
  gpu(1).main_stream().synchronise();
  EXPECT_NONFATAL_FAILURE(streams_[0]->synchronise(), "a buffer was released before the sum ran");
}

TEST_F(NcclCalls, AreCheckedForTheirStreamAndType) {
  const auto refused = [&](int type, int operation, GpuStream* stream, const std::string& why) {
    nccl_.group_start();
    EXPECT_NONFATAL_FAILURE(
        nccl_.all_reduce(values(1), values(1), kValues, type, operation, ranks_[1],
                         stream == nullptr ? nullptr : stream->native()),
        why);
    nccl_.group_end();
  };
  refused(nccl::kFloat32, nccl::kSum, nullptr, "no stream");
  refused(nccl::kFloat32, nccl::kSum, streams_[0].get(), "the stream belongs to another GPU");
  refused(nccl::kFloat32 + 1, nccl::kSum, streams_[1].get(), "not a sum of FP32 values");
  refused(nccl::kFloat32, nccl::kSum + 1, streams_[1].get(), "not a sum of FP32 values");
}

TEST_F(NcclCalls, AreCheckedForTheirGroup) {
  EXPECT_NONFATAL_FAILURE(add(0), "a group is needed");
  EXPECT_NONFATAL_FAILURE(nccl_.group_end(), "no group was started");
  const auto refused = [&](const auto& calls, const std::string& why) {
    nccl_.group_start();
    calls();
    EXPECT_NONFATAL_FAILURE(nccl_.group_end(), "ncclGroupEnd: " + why);
  };
  refused([&] { add(0); }, "some ranks do not take part");
  refused(
      [&] {
        add(0);
        add(0);
      },
      "each rank takes part once");
  refused(
      [&] {
        add(0);
        add(1, values(1), values(1), 1);
      },
      "the counts differ");
  constexpr std::array kSame = {1, 1};
  std::array<nccl::Communicator, 2> made = {};
  EXPECT_NONFATAL_FAILURE(nccl_.comm_init_all(made.data(), 2, kSame.data()),
                          "two ranks on one GPU");
  nccl_.group_start();
  add(0);
  EXPECT_NONFATAL_FAILURE(nccl_.comm_abort(ranks_[0]), "an open group uses it");
  EXPECT_EQ(nccl_.group_end(), nccl::kInvalidUsage);
}

TEST_F(NcclCalls, AreNotDestroyedUnderASum) {
  fake().hangs = true;
  queue_sum();
  for (const nccl::Communicator one : ranks_) {
    EXPECT_NONFATAL_FAILURE(nccl_.comm_destroy(one), "a sum is queued or running");
  }
}

TEST_F(NcclCalls, AreDestroyedAfterTheirSums) {
  queue_sum();
  streams_[0]->synchronise();
  destroy(0);
  EXPECT_NONFATAL_FAILURE(nccl_.comm_destroy(ranks_[1]), "a sum is queued or running");
  streams_[1]->synchronise();
  destroy(1);
  EXPECT_EQ(fake().aborted(), 0);
}

TEST_F(NcclCalls, AreNotMadeAfterTheEnd) {
  const nccl::Communicator ended = ranks_[0];
  destroy(0);
  int code = 0;
  EXPECT_NONFATAL_FAILURE(nccl_.comm_get_async_error(ended, &code), "not a live communicator");
  EXPECT_NONFATAL_FAILURE(nccl_.comm_destroy(ended), "not a live communicator");
  EXPECT_NONFATAL_FAILURE(nccl_.comm_abort(ended), "not a live communicator");
  nccl_.group_start();
  EXPECT_NONFATAL_FAILURE(nccl_.all_reduce(values(0), values(0), kValues, nccl::kFloat32,
                                           nccl::kSum, ended, streams_[0]->native()),
                          "not a live communicator");
  nccl_.group_end();
}

TEST_F(NcclCalls, EndAGroupWithAnErrorAtOnce) {
  fake().fails = "ncclAllReduce";
  nccl_.group_start();
  EXPECT_EQ(add(0), nccl::kInvalidUsage);
  fake().fails.clear();
  int code = 0;
  const std::string why = "a call of the group has failed";
  EXPECT_NONFATAL_FAILURE(add(1), why);
  EXPECT_NONFATAL_FAILURE(nccl_.comm_get_async_error(ranks_[1], &code), why);
  EXPECT_NONFATAL_FAILURE(nccl_.comm_destroy(ranks_[1]), why);
  EXPECT_NONFATAL_FAILURE(nccl_.group_start(), why);
  EXPECT_EQ(nccl_.group_end(), nccl::kInvalidUsage);
  for (std::size_t rank : {0U, 1U}) {
    nccl_.group_start();
    EXPECT_NONFATAL_FAILURE(add(rank), "the communicator has reported an error");
    nccl_.group_end();
  }
  destroy(0);
}

TEST_F(NcclCalls, AbortAfterAnErrorOfASum) {
  fake().async_error = nccl::kInvalidUsage;
  int code = 0;
  EXPECT_EQ(nccl_.comm_get_async_error(ranks_[0], &code), nccl::kSuccess);
  EXPECT_EQ(code, nccl::kInvalidUsage);
  for (const nccl::Communicator one : ranks_) {
    EXPECT_NONFATAL_FAILURE(nccl_.comm_destroy(one), "ncclCommAbort is needed");
  }
  expect_refused(values(1), values(1), kValues, "the communicator has reported an error");
}

TEST_F(NcclCalls, AbortAfterTheLossOfAGpu) {
  lose_gpu(gpu(1));
  EXPECT_NONFATAL_FAILURE(nccl_.comm_destroy(ranks_[0]), "ncclCommAbort is needed");
}

TEST(FakeNccl, ReportsWhatIsLeft) {
  Machine machine({.emulated_gpus = 1});
  auto fake = std::make_unique<test::FakeNccl>(gpus_of(machine, 1));
  constexpr int kOrdinal = 0;
  nccl::Communicator made = nullptr;
  fake->library().comm_init_all(&made, 1, &kOrdinal);
  EXPECT_NONFATAL_FAILURE(fake.reset(), "communicators were neither destroyed nor aborted");
  fake = std::make_unique<test::FakeNccl>(gpus_of(machine, 1));
  fake->library().group_start();
  EXPECT_NONFATAL_FAILURE(fake.reset(), "a group was not ended");
}

// ---- Trainings

struct Trained {
  std::vector<double> losses;
  std::vector<double> parameters;
  std::string remark;
};

Trained trained_on(Machine& machine, const std::vector<Device>& devices, const SumOptions& sum,
                   bool ahead = false) {
  const Dataset data = make_synthetic_garments(12, 1, 1);
  const std::vector<DeviceContext*> contexts = test::contexts_of(machine, devices);
  Trainer trainer(contexts, {.model = "softmax",
                             .batch = 4,
                             .seed = 2,
                             .sgd = {.momentum = 0.9},
                             .bucket_bytes = 40,
                             .sum = sum});
  BatchLoader loader(data.train, 4, BatchOrder::Shuffled, 3);
  loader.start_epoch(0);
  Trained result;
  result.remark = trainer.sum_remark();
  for (int step = 0; step < 3; ++step) {
    if (ahead) {
      trainer.queue_step(loader, step, 0.05, {});
    } else {
      result.losses.push_back(trainer.step(loader, step, 0.05, {}).loss);
    }
  }
  while (trainer.queued() > 0) result.losses.push_back(trainer.finish_step().loss);
  trainer.gather_state();
  const auto parameters = trainer.network().flat_parameters();
  result.parameters.assign(parameters.begin(), parameters.end());
  return result;
}

const std::vector<Device> kTwo = {emulated_gpu(0), emulated_gpu(1)};

TEST(NcclTraining, AgreesWithTheCpu) {
  Machine machine({.cpu_devices = 2, .emulated_gpus = 2});
  test::FakeNccl nccl(gpus_of(machine, 2));
  const Trained gpus = trained_on(machine, kTwo, {.nccl = nccl.library()});
  EXPECT_EQ(nccl.sums(), 3 * 2) << "two buckets per step";
  EXPECT_NE(gpus.remark.find("NCCL 2.0.0, which may not repeat bit for bit"), std::string::npos)
      << gpus.remark;
  const Trained cpus = trained_on(machine, {cpu(0), cpu(1)}, {});
  for (std::size_t i = 0; i < cpus.losses.size(); ++i) {
    EXPECT_NEAR(gpus.losses[i], cpus.losses[i], 1e-5 * cpus.losses[i]);
  }
  const std::vector<float> parameters(gpus.parameters.begin(), gpus.parameters.end());
  EXPECT_LE(test::relative_error(parameters, cpus.parameters), 1e-5);
  const Trained copies = trained_on(machine, kTwo, {.way = GradientSum::Lab});
  EXPECT_EQ(copies.parameters, gpus.parameters) << "the fake sums in the same order";
  const Trained ahead = trained_on(machine, kTwo, {.nccl = nccl.library()}, true);
  EXPECT_EQ(ahead.losses, gpus.losses);
  EXPECT_EQ(ahead.parameters, gpus.parameters);
}

TEST(NcclTraining, FallsBackToCopiesWithTheReason) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.emulated_gpus = 2});
  EXPECT_NE(trained_on(machine, kTwo, {}).remark.find("emulated"), std::string::npos);
  test::FakeNccl nccl(gpus_of(machine, 2));
  nccl.fails = "ncclCommInitAll";
  const Trained result = trained_on(machine, kTwo, {.nccl = nccl.library()});
  EXPECT_NE(result.remark.find("ncclCommInitAll"), std::string::npos) << result.remark;
}

TEST(NcclTraining, ARequestThatIsImpossibleNamesTheReason) {
  Machine machine({.emulated_gpus = 2});
  const SumOptions sum{.way = GradientSum::Nccl};
  EXPECT_NE(
      test::message_of([&] { trained_on(machine, kTwo, sum); }, Errc::Unsupported).find("emulated"),
      std::string::npos);
  EXPECT_NE(test::message_of(
                [&] {
                  trained_on(machine, {cpu(), emulated_gpu(0)}, sum);
                },
                Errc::Unsupported)
                .find("not all GPUs"),
            std::string::npos);
}

}  // namespace
}  // namespace lab
