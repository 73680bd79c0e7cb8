#include "compute/experiments/matmul/matmul_experiment.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stop_token>
#include <string>

#include "compute/core/error.h"
#include "compute/experiments/matmul/together.h"
#include "compute/kernels/gemm/amx.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"

namespace lab {
namespace {

// A machine with preset bandwidths, which need not be measured.
struct QuickProbe : test::Probe {
  explicit QuickProbe(int cpu_devices = 1) : Probe(cpu_devices) {
    for (const Device device : machine.devices()) machine.at(device).bandwidths().emplace();
  }
};

StartMatmul quick(std::vector<std::string> kernels, std::vector<std::int64_t> sizes) {
  StartMatmul request;
  request.kernels = std::move(kernels);
  request.sizes = std::move(sizes);
  request.budget_s = 0.02;
  return request;
}

Error error_of(const StartMatmul& request) {
  QuickProbe probe;
  try {
    probe.run(*make_matmul_experiment(request));
  } catch (const Error& e) {
    return e;
  }
  return {Errc::Internal, "no error"};
}

TEST(MatmulExperiment, EmitsOneSamplePerRungAndSize) {
  QuickProbe probe;
  probe.run(*make_matmul_experiment(quick({}, {8, 33})));
  std::map<std::string, RungInfo> rungs;  // as last reported
  for (const RungInfo& rung : probe.all<RungInfo>()) rungs[rung.name] = rung;
  EXPECT_EQ(rungs.size(), 8U);
  EXPECT_FALSE(rungs["openblas"].chosen.empty());
  EXPECT_GE(probe.all<PeakSample>().size(), 1U);
  const auto samples = probe.all<MatmulSample>();
  ASSERT_EQ(samples.size(), 16U);
  std::set<std::pair<std::string, std::int64_t>> seen;
  for (const MatmulSample& s : samples) {
    SCOPED_TRACE(s.kernel);
    EXPECT_TRUE(seen.emplace(s.kernel, s.n).second);
    EXPECT_TRUE(s.verified);
    EXPECT_LE(s.max_error, 1);
    EXPECT_GT(s.time.n, 0);
    EXPECT_GT(s.time.warmup, 0);
    const auto n = static_cast<double>(s.n);
    EXPECT_NEAR(s.gflops * 1e9 * s.time.median_s / (2 * n * n * n), 1, 1e-9);
    ASSERT_TRUE(s.share_of_library.has_value());
    EXPECT_TRUE(s.share_of_peak.has_value());
    EXPECT_GT(s.conditions.unix_time_s, 0);
  }
  double best_library = 0;
  for (const MatmulSample& s : samples) {
    if (s.library && s.n == 33) best_library = std::max(best_library, *s.share_of_library);
  }
  EXPECT_DOUBLE_EQ(best_library, 1);
  for (const auto& tensor : probe.machine.at(cpu()).memory().list()) ADD_FAILURE() << tensor.name;
}

TEST(MatmulExperiment, BestRunsTheLabsRungOnly) {
  QuickProbe best;
  best.run(*make_matmul_experiment(quick({"best"}, {16})));
  ASSERT_EQ(best.all<MatmulSample>().size(), 1U);
  EXPECT_EQ(best.all<MatmulSample>()[0].kernel, "parallel");
  EXPECT_FALSE(best.all<MatmulSample>()[0].share_of_library.has_value());
  QuickProbe library;
  library.run(*make_matmul_experiment(quick({"onednn"}, {16})));
  ASSERT_EQ(library.all<MatmulSample>().size(), 1U);
  EXPECT_TRUE(library.all<MatmulSample>()[0].library);
}

TEST(MatmulExperiment, RunsOnEachDevice) {
  QuickProbe probe(2);
  probe.run(*make_matmul_experiment(quick({"parallel", "onednn"}, {16})));
  const auto samples = probe.all<MatmulSample>();
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(samples[0].device, cpu(0));
  EXPECT_EQ(samples[3].device, cpu(1));
}

TEST(MatmulExperiment, EmitsCeilingsOncePerDeviceBeforeItsSamples) {
  test::Probe probe(2);
  probe.run(*make_matmul_experiment(quick({"parallel"}, {16})));
  const auto measured = probe.all<CeilingsMeasured>();
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured[1].device, cpu(1));
  // One thread first, then all threads of the device if it has more than one.
  std::vector<double> peaks, compute;
  for (const PeakSample& peak : probe.all<PeakSample>()) {
    if (peak.device == cpu(0)) peaks.push_back(peak.gflops);
  }
  for (const auto& ceiling : measured[0].compute) compute.push_back(ceiling.gflops);
  const int threads = probe.machine.at(cpu(0)).info().threads;
  EXPECT_EQ(compute.size(), threads > 1 ? 2U : 1U);
  EXPECT_EQ(compute, peaks);
  EXPECT_EQ(measured[0].threads, threads);
  bool seen = false;
  for (const Event& e : probe.events) {
    if (std::holds_alternative<CeilingsMeasured>(e.payload)) seen = true;
    if (std::holds_alternative<MatmulSample>(e.payload)) {
      EXPECT_TRUE(seen);
    }
  }
  EXPECT_TRUE(probe.machine.at(cpu(0)).bandwidths().has_value()) << "remembered";
}

TEST(MatmulExperiment, RunsWithColdCaches) {
  QuickProbe probe;
  StartMatmul request = quick({"packed"}, {16});
  request.cache = CacheState::Cold;
  probe.run(*make_matmul_experiment(request));
  EXPECT_EQ(probe.all<MatmulSample>().size(), 1U);
}

TEST(MatmulExperiment, SkipsRungsOverTheTimeBudget) {
  QuickProbe probe;
  StartMatmul request = quick({"naive"}, {700});
  request.budget_s = 0.001;
  probe.run(*make_matmul_experiment(request));
  EXPECT_TRUE(probe.all<MatmulSample>().empty());
  const auto skips = probe.all<Skipped>();
  ASSERT_EQ(skips.size(), 1U);
  EXPECT_EQ(skips[0].what, "naive at 700 on cpu:0");
  EXPECT_NE(skips[0].reason.find("would take about"), std::string::npos);
  EXPECT_NE(skips[0].reason.find("judging by its first rows"), std::string::npos);
}

TEST(MatmulExperiment, RunsBf16RungsAndSkipsTheOthersWithAReason) {
  QuickProbe probe;
  StartMatmul request = quick({}, {16, 33});
  request.dtype = Precision::BF16;
  probe.run(*make_matmul_experiment(request));
  std::set<std::string> skipped, seen;
  for (const Skipped& s : probe.all<Skipped>()) {
    EXPECT_NE(s.reason.find("bf16"), std::string::npos) << s.reason;
    skipped.insert(s.what.substr(0, s.what.find(' ')));
  }
  for (const MatmulSample& s : probe.all<MatmulSample>()) {
    SCOPED_TRACE(s.kernel);
    EXPECT_EQ(s.dtype, Precision::BF16);
    EXPECT_TRUE(s.verified);
    EXPECT_LE(s.max_error, 1);
    EXPECT_TRUE(s.share_of_peak.has_value());
    seen.insert(s.kernel);
  }
  for (const PeakSample& p : probe.all<PeakSample>()) EXPECT_EQ(p.dtype, Precision::BF16);
  for (const CeilingsMeasured& ceilings : probe.all<CeilingsMeasured>()) {
    EXPECT_EQ(ceilings.compute.at(0).name, uses_amx() ? "AMX bf16" : "FMA bf16");
  }
  EXPECT_TRUE(skipped.contains("naive") && skipped.contains("simd") &&
              skipped.contains("openblas"));
  EXPECT_TRUE(seen.contains("packed") && seen.contains("parallel"));
  EXPECT_TRUE(seen.contains("onednn") || skipped.contains("onednn"));
  for (const RungInfo& info : probe.all<RungInfo>()) EXPECT_EQ(info.sentence.back(), '.');
}

TEST(MatmulExperiment, SkipsUnsupportedTypesWithAReason) {
  QuickProbe probe;
  StartMatmul request = quick({}, {16});
  request.dtype = Precision::TF32;
  probe.run(*make_matmul_experiment(request));
  EXPECT_TRUE(probe.all<MatmulSample>().empty());
  ASSERT_EQ(probe.all<Skipped>().size(), 8U);
  EXPECT_NE(probe.all<Skipped>()[0].reason.find("tf32"), std::string::npos);
}

TEST(MatmulExperiment, RejectsAnUnknownKernelAndListsTheChoices) {
  const Error e = error_of(quick({"fastest"}, {16}));
  EXPECT_EQ(e.code(), Errc::Usage);
  EXPECT_NE(std::string(e.what()).find("\"fastest\""), std::string::npos);
  EXPECT_NE(std::string(e.what()).find("loop_order"), std::string::npos);
}

TEST(MatmulExperiment, RejectsInvalidSizes) {
  EXPECT_EQ(error_of(quick({}, {0})).code(), Errc::Usage);
  EXPECT_EQ(error_of(quick({}, {-5})).code(), Errc::Usage);
  const Error e = error_of(quick({"best"}, {16, 1 << 20}));
  EXPECT_EQ(e.code(), Errc::OutOfMemory);
  EXPECT_NE(std::string(e.what()).find("12.0 TiB"), std::string::npos) << e.what();
}

TEST(MatmulExperiment, RejectsAnUnknownDevice) {
  StartMatmul request = quick({"best"}, {16});
  request.devices = {cpu(7)};
  EXPECT_EQ(error_of(request).code(), Errc::NotFound);
}

TEST(MatmulExperiment, RunsLiveUntilCancelled) {
  QuickProbe probe;
  StartMatmul request = quick({"simd", "onednn"}, {48});
  request.live = true;
  const auto two_rounds = [&] {
    probe.run_until<MatmulSample>(*make_matmul_experiment(request), 4);
  };
  test::message_of(two_rounds, Errc::Cancelled);
  EXPECT_GE(probe.all<MatmulSample>().size(), 4U);
}

TEST(MatmulExperiment, StopsDuringALongRun) {
  QuickProbe probe;
  StartMatmul request = quick({"naive"}, {1500});
  request.budget_s = 1e6;  // ends only when it is stopped
  // CeilingsMeasured is the last event before the products.
  test::message_of([&] { probe.run_until<CeilingsMeasured>(*make_matmul_experiment(request), 1); },
                   Errc::Cancelled);
  EXPECT_TRUE(probe.all<MatmulSample>().empty());
}

StartMatmul at_once(std::vector<Device> devices) {
  StartMatmul request = quick({}, {16, 24});
  request.devices = std::move(devices);
  request.together = true;
  return request;
}

TEST(MatmulTogether, ReportsEachDeviceAndTheSpeedup) {
  QuickProbe probe(2);
  probe.run(*make_matmul_experiment(at_once({})));
  const auto samples = probe.all<TogetherSample>();
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(samples[1].device, cpu(1));
  EXPECT_EQ(samples[1].together, (std::vector<Device>{cpu(0), cpu(1)}));
  EXPECT_EQ(samples[2].n, 24);
  for (const TogetherSample& s : samples) {
    EXPECT_TRUE(s.verified);
    EXPECT_GT(s.gflops, 0);
  }
  const auto speedups = probe.all<TogetherSpeedup>();
  ASSERT_EQ(speedups.size(), 2U);
  for (const TogetherSpeedup& e : speedups) {
    EXPECT_GT(e.in_sequence_s, 0);
    EXPECT_GT(e.at_once_s, 0);
    EXPECT_DOUBLE_EQ(e.speedup, e.in_sequence_s / e.at_once_s)
        << "what the page shows side by side";
    EXPECT_LE(e.p10, e.p90);
    EXPECT_GE(e.rounds, 7);
    // The devices' own times are of the same rounds as the time of all.
    double slowest_s = 0;
    for (const TogetherSample& s : samples) {
      if (s.n == e.n) slowest_s = std::max(slowest_s, s.time.median_s);
    }
    EXPECT_LE(slowest_s, e.at_once_s / static_cast<double>(e.products) * (1 + 1e-9));
  }
  EXPECT_TRUE(probe.all<MatmulSample>().empty());
}

TEST(MatmulTogether, EndsWhenStopWasRequestedBefore) {
  QuickProbe probe(2);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(test::message_of(
                   [&] {
                     TogetherProducts(probe.machine, {cpu(0), cpu(1)}, 24, 0.01, stop.get_token());
                   },
                   Errc::Cancelled)
                   .empty());
}

TEST(MatmulTogether, EndsWhenStopIsRequestedBetweenBatches) {
  QuickProbe probe(2);
  std::stop_source stop;
  TogetherProducts work(probe.machine, {cpu(0), cpu(1)}, 24, 0.01, stop.get_token());
  stop.request_stop();
  EXPECT_THROW(work.run_in_sequence(), Error);
  EXPECT_THROW(work.run_at_once(), Error);
  EXPECT_TRUE(work.consistent());
}

TEST(MatmulTogether, RefusesWhatItCannotCompare) {
  const auto refusal = [](int cpus, const StartMatmul& request, Errc code) {
    QuickProbe probe(cpus);
    return test::message_of([&] { probe.run(*make_matmul_experiment(request)); }, code);
  };
  EXPECT_EQ(refusal(1, at_once({}), Errc::Unsupported),
            "matmul --together: needs two devices of one kind, but cpu:0 is the only one; split "
            "the CPU with --cpu-devices 2");
  EXPECT_EQ(refusal(2, at_once({cpu(1), cpu(1)}), Errc::Usage),
            "matmul --together: cpu:1 is named twice; name each device once");
  StartMatmul naive = at_once({});
  naive.kernels = {"naive"};
  EXPECT_EQ(refusal(2, naive, Errc::Usage),
            "matmul --together: multiplies with the lab's fastest kernel, not with naive; omit "
            "--kernels");
  StartMatmul bf16 = at_once({});
  bf16.dtype = Precision::BF16;
  EXPECT_EQ(refusal(2, bf16, Errc::Usage),
            "matmul --together: multiplies in f32, not in bf16; omit --dtype");
}

}  // namespace
}  // namespace lab
