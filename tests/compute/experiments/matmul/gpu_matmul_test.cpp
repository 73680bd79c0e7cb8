// The ladder and tensor products on a fake GPU backed by host memory. Its simulated clock
// determines the duration of each product.
#include <gtest/gtest.h>

#include <set>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/experiments/matmul/tensor_matmul.h"
#include "tests/support/errors.h"
#include "tests/support/fake_gpu/fake_gpu.h"
#include "tests/support/probe.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

using test::FakeBackend;
using test::message_of;
using test::Probe;

struct MatmulOnGpu : ::testing::Test {
  std::shared_ptr<FakeBackend> fake = std::make_shared<FakeBackend>(2, 64 * kMiB);
  Probe probe{MachineOptions{.open_gpus = test::backend_opener(fake)}};

  MatmulOnGpu() {
    for (const Device device : probe.machine.devices()) {
      probe.machine.at(device).bandwidths().emplace();
    }
  }
  StartMatmul request(std::vector<std::string> kernels, Precision dtype = Precision::F32) const {
    StartMatmul r;
    r.devices = {gpu(0)};
    r.kernels = std::move(kernels);
    r.sizes = {9, 17};
    r.dtype = dtype;
    r.budget_s = 0.01;
    return r;
  }
  void run(const StartMatmul& r) { probe.run(*make_matmul_experiment(r)); }
  std::string reason(const std::string& what) const {
    for (const Skipped& s : probe.all<Skipped>()) {
      if (s.what == what) return s.reason;
    }
    ADD_FAILURE() << "not skipped: " << what;
    return {};
  }
  std::set<std::string> kernels() const {
    std::set<std::string> names;
    for (const MatmulSample& s : probe.all<MatmulSample>()) names.insert(s.kernel);
    return names;
  }
  void expect_all_given_back() {
    EXPECT_EQ(fake->gpu(0).used_bytes(), 0);
    for (const Device device : probe.machine.devices()) {
      EXPECT_EQ(probe.machine.at(device).memory().used_bytes(), 0) << to_string(device);
    }
  }
};

TEST_F(MatmulOnGpu, SkipsAGpuThatAnotherProcessUsesExclusively) {
  fake->gpu(0).faults.unavailable = true;
  StartMatmul all = request({"best"});
  all.devices = {};
  run(all);
  EXPECT_NE(reason("cuda:0").find("another process uses the GPU exclusively"), std::string::npos);
  std::set<Device> measured;
  for (const MatmulSample& s : probe.all<MatmulSample>()) measured.insert(s.device);
  EXPECT_EQ(measured, (std::set{cpu(), gpu(1)}));
  const std::string asked = message_of([&] { run(request({"best"})); }, Errc::Unsupported);
  EXPECT_NE(asked.find("nvidia-smi"), std::string::npos) << asked;
}

TEST_F(MatmulOnGpu, SkipsAGpuWhoseMemoryOthersUse) {
  const std::int64_t most = fake->gpu(0).facts().memory_bytes;
  GpuStream& stream = fake->gpu(0).main_stream();
  std::byte* const theirs = fake->gpu(0).allocate(most, stream);
  StartMatmul all = request({"best"});
  all.devices = {};
  run(all);
  fake->gpu(0).release(theirs, stream);
  EXPECT_NE(reason("cuda:0").find("free"), std::string::npos);
  std::set<Device> measured;
  for (const MatmulSample& s : probe.all<MatmulSample>()) measured.insert(s.device);
  EXPECT_EQ(measured, (std::set{cpu(), gpu(1)}));
}

TEST_F(MatmulOnGpu, MeasuresEachRungOfThePrecision) {
  run(request({}));
  EXPECT_EQ(kernels(), (std::set<std::string>{"naive", "coalesced", "shared", "column", "square",
                                              "vector", "warp", "async", "cublas", "cublaslt"}));
  EXPECT_EQ(probe.all<RungInfo>().size(), 10U);
  EXPECT_TRUE(probe.all<Skipped>().empty());
  for (const MatmulSample& s : probe.all<MatmulSample>()) {
    SCOPED_TRACE(s.kernel);
    EXPECT_EQ(s.device, gpu(0));
    EXPECT_TRUE(s.verified);
    EXPECT_LE(s.max_error, 1);
    const auto n = static_cast<double>(s.n);
    const double flop = 2 * n * n * n;
    // Timed by the fake's clock, not the host's.
    EXPECT_NEAR(s.time.median_s, 2e-6 + flop / 4e13, 1e-12);
    EXPECT_NEAR(s.gflops * 1e9 * s.time.median_s / flop, 1, 1e-9);
    EXPECT_NEAR(s.share_of_library.value_or(0), 1, 1e-6);
    EXPECT_TRUE(s.share_of_peak.has_value());
    EXPECT_FALSE(s.conditions.clock_mhz);
  }
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, MeasuresTensorCoreRungs) {
  run(request({}, Precision::TF32));
  EXPECT_EQ(kernels(), (std::set<std::string>{"mma_tf32", "wgmma_tf32", "cublas", "cublaslt"}));
  run(request({}, Precision::BF16));
  EXPECT_TRUE(kernels().contains("mma_bf16"));
  EXPECT_TRUE(kernels().contains("wgmma"));
  for (const MatmulSample& s : probe.all<MatmulSample>()) EXPECT_TRUE(s.verified);
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, PeakCoversTheWholeGpu) {
  run(request({"async"}));
  const auto peaks = probe.all<PeakSample>();
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_EQ(peaks[0].device, gpu(0));
  EXPECT_EQ(peaks[0].threads, 0);
  EXPECT_NEAR(peaks[0].gflops, 5e4, 50);
}

TEST_F(MatmulOnGpu, ReportsNoPeakWithoutTheInstructions) {
  fake->gpu(0).matmul().no_peak = true;
  run(request({"async"}));
  EXPECT_TRUE(probe.all<PeakSample>().empty());
  ASSERT_EQ(probe.all<MatmulSample>().size(), 2U);
  EXPECT_FALSE(probe.all<MatmulSample>()[0].share_of_peak.has_value());
}

TEST_F(MatmulOnGpu, MeasuresTheBandwidthsOnce) {
  probe.machine.at(gpu(0)).bandwidths().reset();
  fake->gpu(0).set_l2_bytes(2 * kMiB);
  fake->gpu(0).costs.call_s = 1e-8;
  fake->gpu(0).costs.l2_bytes_per_s = 8e12;
  run(request({"async"}));
  const auto measured = probe.all<CeilingsMeasured>();
  ASSERT_EQ(measured.size(), 1U);
  ASSERT_EQ(measured[0].bandwidth.size(), 2U);
  EXPECT_EQ(measured[0].bandwidth[0].name, "L2");
  EXPECT_TRUE(measured[0].bandwidth[1].copied);
  EXPECT_EQ(measured[0].bandwidth[1].working_set_bytes, 16 * kMiB);
  EXPECT_NEAR(measured[0].bandwidth[1].gb_per_s, 4000, 1500);
  EXPECT_TRUE(probe.machine.at(gpu(0)).bandwidths().has_value());
  expect_all_given_back();
  for (BandwidthCeiling& level : probe.machine.at(gpu(0)).bandwidths()->levels) {
    level.time.unstable = false;  // independent of the machine's load
  }
  fake->gpu(0).faults.fails = "copy_by_kernel";
  run(request({"async"}));
  EXPECT_EQ(fake->gpu(0).faults.fails, "copy_by_kernel") << "reused, not copied again";
}

TEST_F(MatmulOnGpu, WithholdsACacheThatIsNoFasterThanMemory) {
  probe.machine.at(gpu(0)).bandwidths().reset();
  fake->gpu(0).set_l2_bytes(2 * kMiB);  // copying 256 KiB takes less time than a call
  fake->gpu(0).costs.l2_bytes_per_s = 8e12;
  run(request({"async"}));
  const auto measured = probe.all<CeilingsMeasured>();
  ASSERT_EQ(measured.size(), 1U);
  ASSERT_EQ(measured[0].bandwidth.size(), 1U);
  EXPECT_EQ(measured[0].bandwidth[0].name, "memory");
  EXPECT_NE(reason("bandwidth of L2 on cuda:0").find("its start"), std::string::npos);
}

TEST_F(MatmulOnGpu, GivesTheReasonForASkippedBandwidth) {
  SKIP_UNDER_THREAD_SANITIZER();
  probe.machine.at(gpu(0)).bandwidths().reset();
  run(request({"async"}));  // 50 MiB of cache require a working set of 400 MiB
  EXPECT_NE(reason("bandwidth of memory on cuda:0").find("64.0 MiB are free"), std::string::npos)
      << reason("bandwidth of memory on cuda:0");
  fake->gpu(0).set_l2_bytes(0);
  probe.machine.at(gpu(0)).bandwidths().reset();
  run(request({"async"}));
  EXPECT_NE(reason("bandwidth of L2 on cuda:0"), "");
}

TEST_F(MatmulOnGpu, SkipsUnavailableRungs) {
  fake->gpu(0).matmul().refusals["cublas"] = "libcublas.so.13 is not installed";
  run(request({"cublas", "mma_bf16", "parallel", "async"}));
  EXPECT_EQ(reason("cublas at 9 on cuda:0"), "libcublas.so.13 is not installed");
  EXPECT_EQ(reason("mma_bf16 in f32 on cuda:0"), "this rung multiplies in bf16");
  EXPECT_NE(reason("parallel on cuda:0"), "");
  EXPECT_EQ(kernels(), std::set<std::string>{"async"});
}

TEST_F(MatmulOnGpu, SkipsRungsOverTheTimeBudget) {
  fake->gpu(0).costs.flop_per_s = 1e3;
  run(request({"naive"}));
  EXPECT_NE(reason("naive at 17 on cuda:0").find("would take about"), std::string::npos);
  EXPECT_TRUE(probe.all<MatmulSample>().empty());
}

TEST_F(MatmulOnGpu, BestIsTheLastSupportedRung) {
  run(request({"best"}));
  EXPECT_EQ(kernels(), std::set<std::string>{"async"});
  fake->gpu(0).matmul().refusals["async"] = "not on this GPU";
  run(request({"best"}));
  EXPECT_TRUE(kernels().contains("warp"));
}

TEST_F(MatmulOnGpu, SkipsBestWithoutASupportedRung) {
  for (const RungInfo& rung : fake->gpu(0).matmul().rungs()) {
    fake->gpu(0).matmul().refusals[rung.name] = "not on this GPU";
  }
  run(request({"best"}, Precision::BF16));
  EXPECT_NE(reason("best in bf16 on cuda:0"), "");
}

TEST_F(MatmulOnGpu, SkipsAFailingLibrary) {
  fake->gpu(0).faults.fails = "matmul";  // fails once; the library is called first
  run(request({"cublas", "async"}));
  EXPECT_NE(reason("cublas at 9 on cuda:0").find("matmul"), std::string::npos);
  EXPECT_TRUE(kernels().contains("async"));
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, AWrongProductFailsAndTheRestIsTimed) {
  fake->gpu(0).matmul().wrong = "vector";
  EXPECT_EQ(message_of([&] { run(request({})); }, Errc::Internal),
            "matmul: vector on cuda:0 failed; failed cases have no times");
  EXPECT_EQ(kernels(), (std::set<std::string>{"naive", "coalesced", "shared", "column", "square",
                                              "warp", "async", "cublas", "cublaslt"}));
  EXPECT_EQ(probe.all<MatmulSample>().size(), 18U) << "two sizes";
  const auto failed = probe.all<RungFailed>();
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_EQ(failed[1].device, gpu(0));
  EXPECT_EQ(failed[1].kernel, "vector");
  EXPECT_EQ(failed[1].n, 17);
  EXPECT_NE(failed[1].reason.find("the error of C[0,0] is"), std::string::npos) << failed[1].reason;
  EXPECT_GT(failed[1].max_error.value_or(0), 1);
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, AFailedLaunchFailsItsRungOnly) {
  fake->gpu(0).faults.fails = "matmul";  // fails once
  EXPECT_NE(message_of([&] { run(request({"naive", "async"})); }, Errc::Internal), "");
  const auto failed = probe.all<RungFailed>();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].kernel, "naive");
  EXPECT_NE(failed[0].reason.find("matmul failed"), std::string::npos) << failed[0].reason;
  EXPECT_FALSE(failed[0].max_error.has_value());
  EXPECT_EQ(probe.all<MatmulSample>().size(), 3U);
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, ALaunchThatFailsWhileItIsTimedFailsItsRungOnly) {
  fake->gpu(0).faults.fails = "matmul";
  fake->gpu(0).faults.fails_after = 12;  // all are verified
  EXPECT_NE(message_of([&] { run(request({"naive", "async", "cublas"})); }, Errc::Internal), "");
  const auto failed = probe.all<RungFailed>();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].kernel, "cublas") << "the first that is timed";
  EXPECT_EQ(failed[0].n, 9);
  EXPECT_FALSE(failed[0].max_error.has_value());
  EXPECT_EQ(probe.all<MatmulSample>().size(), 5U) << "two sizes";
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, ALiveRunGoesOnWithoutAWrongRung) {
  fake->gpu(0).matmul().wrong = "vector";
  StartMatmul r = request({"vector", "async"});
  r.live = true;
  const auto two_rounds = [&] { probe.run_until<MatmulSample>(*make_matmul_experiment(r), 2); };
  EXPECT_EQ(message_of(two_rounds, Errc::Cancelled), "cancelled");
  EXPECT_EQ(probe.all<RungFailed>().size(), 1U);
  EXPECT_EQ(kernels(), std::set<std::string>{"async"});
}

TEST_F(MatmulOnGpu, FlushesTheCachesForColdRuns) {
  fake->gpu(0).set_l2_bytes(kMiB);
  StartMatmul r = request({"async"});
  r.cache = CacheState::Cold;
  run(r);
  EXPECT_EQ(probe.all<MatmulSample>().size(), 2U);
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, ReleasesAllMemoryAfterGpuLoss) {
  fake->gpu(0).faults.loses = "matmul";
  fake->gpu(0).faults.loses_after = 3;
  EXPECT_NE(message_of([&] { run(request({"async"})); }, Errc::DeviceLost), "");
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, NeedsHostAndDeviceMemory) {
  StartMatmul r = request({"async"});
  r.sizes = {4096};
  EXPECT_NE(message_of([&] { run(r); }, Errc::OutOfMemory).find("free on cuda:0"),
            std::string::npos);
}

TEST_F(MatmulOnGpu, RunsLiveUntilStopped) {
  StartMatmul r = request({"async", "cublas"});
  r.live = true;
  const auto two_rounds = [&] { probe.run_until<MatmulSample>(*make_matmul_experiment(r), 4); };
  EXPECT_EQ(message_of(two_rounds, Errc::Cancelled), "cancelled");
  EXPECT_GE(probe.all<MatmulSample>().size(), 4U);
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, MultipliesTensorsOnTheirDevice) {
  DeviceContext& host = probe.machine.at(cpu());
  DeviceContext& gpu = probe.machine.at(lab::gpu(0));
  for (const DType dtype : {DType::F32, DType::BF16}) {
    SCOPED_TRACE(to_string(dtype));
    const Tensor a = rand(host, {5, 7}, 1, dtype), b = rand(host, {7, 3}, 2, dtype);
    const Tensor here = matmul(a, b);
    const Tensor there = matmul(a.to(gpu), b.to(gpu));
    EXPECT_EQ(there.device(), lab::gpu(0));
    EXPECT_EQ(there.shape(), (Shape{5, 3}));
    const Tensor back = there.to(host);
    for (std::size_t i = 0; i < 15; ++i) {
      EXPECT_NEAR(back.values<float>()[i], here.values<float>()[i], 1e-6);
    }
  }
  expect_all_given_back();
}

TEST_F(MatmulOnGpu, RejectsIncompatibleTensors) {
  DeviceContext& host = probe.machine.at(cpu());
  DeviceContext& gpu = probe.machine.at(lab::gpu(0));
  const Tensor a = ones(host, {2, 3}), b = ones(host, {4, 2});
  EXPECT_NE(message_of([&] { matmul(a, b); }, Errc::InvalidArgument).find("[2,3] times [4,2]"),
            std::string::npos);
  EXPECT_NE(message_of([&] { matmul(a, b.to(gpu)); }, Errc::DeviceMismatch).find("cuda:0"),
            std::string::npos);
  EXPECT_NE(message_of(
                [&] {
                  matmul(ones(host, {2, 2}, DType::I32), a);
                },
                Errc::InvalidArgument)
                .find("i32"),
            std::string::npos);
  for (const RungInfo& rung : fake->gpu(0).matmul().rungs()) {
    fake->gpu(0).matmul().refusals[rung.name] = "no";
  }
  const Tensor there = ones(gpu, {3, 3});
  EXPECT_NE(message_of([&] { matmul(there, there); }, Errc::Unsupported).find("cpu:0"),
            std::string::npos);
}

TEST_F(MatmulOnGpu, AtOnceTakesDevicesOfOneKind) {
  StartMatmul r = request({});
  r.together = true;
  r.devices = {cpu(0), gpu(0)};
  const std::string why = message_of([&] { run(r); }, Errc::Usage);
  EXPECT_NE(why.find("are of different kinds"), std::string::npos) << why;
  r.devices = {};
  r.sizes = {9};
  run(r);
  const auto speedups = probe.all<TogetherSpeedup>();
  ASSERT_EQ(speedups.size(), 1U);
  EXPECT_EQ(speedups[0].devices, (std::vector<Device>{gpu(0), gpu(1)})) << "GPUs come first";
  EXPECT_FALSE(speedups[0].shares_cores);
  expect_all_given_back();
}

}  // namespace
}  // namespace lab
