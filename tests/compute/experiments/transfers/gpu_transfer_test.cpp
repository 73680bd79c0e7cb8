// Transfers with fake GPUs backed by host memory. Their simulated clocks determine the duration of
// each copy.
#include <gtest/gtest.h>

#include <algorithm>

#include "compute/core/error.h"
#include "compute/core/events/measured_cases.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/transfer_experiment.h"
#include "compute/experiments/transfers/transfer_memory.h"
#include "compute/experiments/transfers/transfer_plan.h"
#include "tests/compute/experiments/transfers/gpu_transfer.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

using test::FakeBackend;
using test::kEngine;
using test::kKernel;
using test::message_of;
using test::Probe;
using test::TransferOnGpu;

TEST_F(TransferOnGpu, PinnedMemoryIsCountedWhileItIsHeld) {
  const auto pinned = [&] { return fake->gpu(0).holdings().pinned_bytes; };
  {
    const TransferMemory a(probe.machine.at(cpu()), MemoryKind::Pinned, fake->gpu(0), 64 * kKiB,
                           {});
    EXPECT_EQ(pinned(), 64 * kKiB);
    const TransferMemory b(probe.machine.at(cpu()), MemoryKind::Pageable, fake->gpu(0), 64 * kKiB,
                           {});
    EXPECT_EQ(pinned(), 64 * kKiB) << "counted for the CPU device";
    EXPECT_EQ(probe.machine.at(cpu()).memory().used_bytes(), 64 * kKiB);
  }
  EXPECT_EQ(pinned(), 0);
  run(request({cpu()}, {gpu(0)}));
  EXPECT_GT(fake->gpu(0).pinned_pieces(), 1);
  EXPECT_EQ(pinned(), 0);
}

TEST_F(TransferOnGpu, ThePlanHasWhatIsMeasuredBetweenTwoDevices) {
  for (const Device from : {cpu(), gpu(0), gpu(1)}) {
    for (const Device to : {cpu(), gpu(0), gpu(1)}) {
      for (const TransferOp op : enum_values<TransferOp>()) {
        StartTransfers r = request({from}, {to});
        r.ops = {op};
        const TransferPlan plan = plan_transfers(r, probe.machine);
        EXPECT_EQ(is_measured_between(op, from, to), !plan.series.empty() || !plan.overlaps.empty())
            << to_string(op) << " " << to_string(from) << " " << to_string(to);
      }
    }
  }
}

TEST_F(TransferOnGpu, HostToGpuCoversEveryCase) {
  run(request({cpu()}, {gpu(0)}));
  EXPECT_EQ(samples(TransferOp::Copy, kEngine, MemoryKind::Pageable).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Copy, kEngine, MemoryKind::Pinned).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Copy, kKernel, MemoryKind::Pinned).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Pieces, kEngine, MemoryKind::Pageable).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Pieces, kEngine, MemoryKind::Pinned).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Pieces, kKernel, MemoryKind::Pinned).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Both, kEngine, MemoryKind::Pinned).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Both, kKernel, MemoryKind::Pinned).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Chase, kKernel, MemoryKind::Pinned).size(), 3U);
  EXPECT_EQ(probe.all<TransferSample>().size(), 27U);
  for (const TransferSample& s : probe.all<TransferSample>()) {
    EXPECT_TRUE(s.verified);
    EXPECT_EQ(s.threads, 1);
    EXPECT_GE(s.time.n, 3);
    EXPECT_EQ(s.time.warmup, 4);
  }
  reason("cpu:0 -> cuda:0, read, write, triad");
  EXPECT_EQ(probe.all<Skipped>().size(), 1U);
  expect_all_given_back();
}

TEST_F(TransferOnGpu, ReportsCasesThatTheAskedMemoryDoesNotHave) {
  StartTransfers r = request({cpu()}, {gpu(0)});
  r.memory = {MemoryKind::Pageable};
  run(r);
  reason("copy cpu:0 -> cuda:0, pageable, kernel");
  reason("pieces cpu:0 -> cuda:0, pageable, kernel");
  reason("both cpu:0 -> cuda:0, pageable, copy engine");
  reason("both cpu:0 -> cuda:0, pageable, kernel");
  reason("chase cpu:0 -> cuda:0, pageable, kernel");
  reason("cpu:0 -> cuda:0, read, write, triad");
  EXPECT_EQ(probe.all<Skipped>().size(), 6U);
  expect_all_given_back();
}

TEST_F(TransferOnGpu, UsesTheGpusClock) {
  StartTransfers r = request({cpu()}, {gpu(0)});
  r.memory = {MemoryKind::Pinned};  // timed by the GPU's clock, which never varies
  r.budget_s = 10;
  run(r);
  const test::FakeCosts costs = fake->gpu(0).costs;
  const auto copy_s = [&](std::int64_t bytes) {
    return costs.call_s + static_cast<double>(bytes) / costs.link_bytes_per_s;
  };
  for (const TransferSample& s : samples(TransferOp::Copy, kEngine, MemoryKind::Pinned)) {
    EXPECT_NEAR(s.time.median_s, copy_s(s.bytes), 1e-9);
    EXPECT_NEAR(s.gb_per_s, 1e-9 * static_cast<double>(s.bytes) / copy_s(s.bytes), 1e-2);
    EXPECT_FALSE(s.time.unstable);
  }
  for (const TransferSample& s : samples(TransferOp::Pieces, kEngine, MemoryKind::Pinned)) {
    EXPECT_NEAR(s.time.median_s, kTransferPieces * copy_s(s.bytes / kTransferPieces), 1e-8);
  }
  for (const TransferSample& s : samples(TransferOp::Both, kEngine, MemoryKind::Pinned)) {
    EXPECT_NEAR(s.time.median_s, copy_s(s.bytes), 1e-9);  // two streams, one per direction
    EXPECT_NEAR(s.gb_per_s, 2e-9 * static_cast<double>(s.bytes) / copy_s(s.bytes), 2e-2);
  }
  for (const TransferSample& s : samples(TransferOp::Chase, kKernel, MemoryKind::Pinned)) {
    EXPECT_NEAR(s.time.median_s, costs.hop_s, 1e-9);
  }
}

TEST_F(TransferOnGpu, KernelsOfBothDirectionsShareTheGpu) {
  StartTransfers r = request({cpu()}, {gpu(0)});
  r.memory = {MemoryKind::Pinned};
  r.ops = {TransferOp::Copy, TransferOp::Both};
  r.budget_s = 10;
  run(r);
  const test::FakeCosts costs = fake->gpu(0).costs;
  const auto kernel_s = [&](std::int64_t bytes, int sharers) {
    return costs.call_s + 2.0 * sharers * static_cast<double>(bytes) / costs.memory_bytes_per_s;
  };
  for (const TransferSample& s : samples(TransferOp::Copy, kKernel, MemoryKind::Pinned)) {
    EXPECT_NEAR(s.time.median_s, kernel_s(s.bytes, 1), 1e-12);
  }
  const auto both = samples(TransferOp::Both, kKernel, MemoryKind::Pinned);
  ASSERT_EQ(both.size(), 3U);
  for (const TransferSample& s : both) {
    EXPECT_TRUE(s.verified);
    EXPECT_NEAR(s.time.median_s, kernel_s(s.bytes, 2), 1e-12);
    EXPECT_NEAR(s.gb_per_s, 2e-9 * static_cast<double>(s.bytes) / kernel_s(s.bytes, 2), 1e-3);
  }
}

TEST_F(TransferOnGpu, FitsLatencyAndBandwidth) {
  run(request({cpu()}, {gpu(0)}));
  const test::FakeCosts costs = fake->gpu(0).costs;
  int found = 0;
  for (const TransferFit& fit : probe.all<TransferFit>()) {
    EXPECT_NE(fit.op, TransferOp::Chase);
    if (fit.op != TransferOp::Copy || fit.mover != kEngine || fit.memory != MemoryKind::Pinned) {
      continue;
    }
    ++found;
    ASSERT_EQ(fit.levels.size(), 1U);
    const TransferLevel& link = fit.levels.front();
    EXPECT_EQ(link.name, "link");
    EXPECT_NEAR(link.latency_s, costs.call_s, 1e-9);
    EXPECT_NEAR(link.gb_per_s, costs.link_bytes_per_s * 1e-9, 1e-3);
    EXPECT_LT(link.residual, 0.001);
  }
  EXPECT_EQ(found, 1);
}

TEST_F(TransferOnGpu, MeasuresBothMoversAndTheChaseWithinOneGpu) {
  run(request({gpu(0)}, {gpu(0)}));
  const test::FakeCosts costs = fake->gpu(0).costs;
  EXPECT_EQ(samples(TransferOp::Copy, kEngine).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Copy, kKernel).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Pieces, kEngine).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Pieces, kKernel).size(), 3U);
  EXPECT_EQ(samples(TransferOp::Chase, kKernel).size(), 3U);
  EXPECT_EQ(probe.all<TransferSample>().size(), 15U);
  for (const TransferSample& s : samples(TransferOp::Copy, kKernel)) {
    EXPECT_TRUE(s.verified);
    const double seconds =
        costs.call_s + 2 * static_cast<double>(s.bytes) / costs.memory_bytes_per_s;
    EXPECT_NEAR(s.gb_per_s, 2e-9 * static_cast<double>(s.bytes) / seconds, 1e-1);  // read and write
  }
  reason("both cuda:0 -> cuda:0, copy engine");
  expect_all_given_back();
}

TEST_F(TransferOnGpu, SkipsSizesWithAReason) {
  StartTransfers r = request({cpu()}, {gpu(0)});
  r.memory = {MemoryKind::Pinned};
  r.ops = {TransferOp::Pieces, TransferOp::Chase};
  r.sizes_bytes = {8, 1000, kKiB};
  run(r);
  EXPECT_EQ(samples(TransferOp::Pieces, kEngine, MemoryKind::Pinned).size(), 1U);
  EXPECT_EQ(samples(TransferOp::Chase, kKernel, MemoryKind::Pinned).size(), 2U);
  EXPECT_NE(reason("pieces cpu:0 -> cuda:0, pinned, copy engine").find("2 of 3 sizes"),
            std::string::npos);
  EXPECT_NE(reason("chase cpu:0 -> cuda:0, pinned, kernel").find("1 of 3 sizes"),
            std::string::npos);
}

TEST_F(TransferOnGpu, RecordsATimelineOfStreams) {
  StartTransfers r = request({cpu()}, {gpu(0)});
  r.ops = {TransferOp::Overlap};
  run(r);
  const auto timelines = probe.all<TransferTimeline>();
  ASSERT_EQ(timelines.size(), 1U);
  const TransferTimeline& t = timelines[0];
  EXPECT_EQ(t.device, gpu(0));
  EXPECT_EQ(t.bytes, 512 * kKiB);
  EXPECT_EQ(t.runs, 5);
  ASSERT_EQ(t.spans.size(), 12U);
  for (std::size_t i = 0; i < t.spans.size(); ++i) {
    EXPECT_LT(t.spans[i].begin_s, t.spans[i].end_s);
    if (i % 4 > 0) {
      EXPECT_LE(t.spans[i - 1].end_s, t.spans[i].begin_s + 1e-9);
    }
    if (i >= 4) {
      EXPECT_LE(t.spans[i - 4].end_s, t.spans[i].begin_s + 1e-9);
    }
  }
  EXPECT_LT(t.overlapped_s, 0.6 * t.serial_s);
  EXPECT_GT(t.overlapped_s, t.serial_s / 3);
  expect_all_given_back();
}

TEST_F(TransferOnGpu, ReportsFromWhichSizeTheGpuPaysOff) {
  StartTransfers r = request({cpu(), gpu(0)}, {cpu(), gpu(0)});
  r.ops = {TransferOp::Copy};
  r.memory = {MemoryKind::Pageable, MemoryKind::Pinned};
  // Copies take negligible time on the GPU's clock, which times pinned memory only.
  fake->gpu(0).costs = {.call_s = 1e-15, .link_bytes_per_s = 1e20, .memory_bytes_per_s = 1e20};
  run(r);
  const auto found = probe.all<TransferPayoff>();
  ASSERT_EQ(found.size(), 6U);
  for (const TransferPayoff& p : found) {
    EXPECT_EQ(p.host, cpu());
    EXPECT_EQ(p.gpu, gpu(0));
    if (p.memory == MemoryKind::Pinned) {
      EXPECT_EQ(p.from_bytes, kKiB);
    }
  }
}

TEST_F(TransferOnGpu, ReportsThatTheGpuNeverPaysOff) {
  StartTransfers r = request({cpu(), gpu(0)}, {cpu(), gpu(0)});
  r.ops = {TransferOp::Copy};
  fake->gpu(0).costs.call_s = 10;  // longer than the CPU needs for any of these copies
  run(r);
  const auto found = probe.all<TransferPayoff>();
  ASSERT_EQ(found.size(), 6U);
  for (const TransferPayoff& p : found) EXPECT_FALSE(p.from_bytes);
}

TEST_F(TransferOnGpu, SkipsSizesThatDoNotFitAndContinues) {
  StartTransfers r = request({gpu(0)}, {gpu(0)});
  r.ops = {TransferOp::Copy};
  r.sizes_bytes = {kKiB, 48 * kMiB};
  run(r);
  EXPECT_EQ(probe.all<TransferSample>().size(), 2U);
  const std::string why = reason("copy cuda:0 -> cuda:0, copy engine, 48.0 MiB");
  EXPECT_NE(why.find("cuda:0"), std::string::npos) << why;
  expect_all_given_back();
}

TEST_F(TransferOnGpu, SkipsPinnedCasesWithoutPinnedMemory) {
  fake->gpu(0).faults.no_pinned_memory = true;
  StartTransfers r = request({cpu()}, {gpu(0)});
  r.sizes_bytes = {kKiB};
  run(r);
  EXPECT_EQ(samples(TransferOp::Copy, kEngine, MemoryKind::Pageable).size(), 1U);
  EXPECT_TRUE(samples(TransferOp::Copy, kEngine, MemoryKind::Pinned).empty());
  EXPECT_TRUE(probe.all<TransferTimeline>().empty());
  expect_all_given_back();
}

TEST_F(TransferOnGpu, SkipsAGpuThatAnotherProcessUsesExclusively) {
  fake->gpu(0).faults.unavailable = true;
  StartTransfers all = request({}, {});
  all.ops = {TransferOp::Copy};
  all.sizes_bytes = {64 * kKiB};
  run(all);
  EXPECT_NE(reason("cuda:0").find("another process uses the GPU exclusively"), std::string::npos);
  const auto skipped = probe.all<Skipped>();
  EXPECT_EQ(std::ranges::count(skipped, "cuda:0", &Skipped::what), 1);
  bool other = false;
  for (const TransferSample& s : probe.all<TransferSample>()) {
    EXPECT_NE(s.from, gpu(0));
    EXPECT_NE(s.to, gpu(0));
    other = other || s.to == gpu(1);
  }
  EXPECT_TRUE(other);
}

TEST_F(TransferOnGpu, GpuLossEndsTheJobWithOneError) {
  for (const char* operation : {"copy", "copy_by_kernel", "count_mismatches", "synchronise",
                                "close_gate", "record", "chase", "work"}) {
    SCOPED_TRACE(operation);
    const auto backend = std::make_shared<FakeBackend>(1, 64 * kMiB);
    Probe one{MachineOptions{.open_gpus = test::backend_opener(backend)}};
    backend->gpu(0).faults.loses = operation;
    backend->gpu(0).faults.loses_after = 3;
    const std::string sentence = message_of(
        [&] {
          one.run(*make_transfer_experiment(request({cpu(), gpu(0)}, {gpu(0)})));
        },
        Errc::DeviceLost);
    EXPECT_NE(sentence.find("cuda:0 is lost"), std::string::npos) << sentence;
    EXPECT_EQ(one.machine.at(gpu(0)).memory().used_bytes(), 0);
  }
}

TEST_F(TransferOnGpu, DoesNotTimeAWrongResult) {
  fake->gpu(0).faults.short_copies = true;
  StartTransfers r = request({gpu(0)}, {gpu(0)});
  r.ops = {TransferOp::Copy};
  const std::string sentence = message_of([&] { run(r); }, Errc::Internal);
  EXPECT_NE(sentence.find("1 of 256 words are wrong"), std::string::npos) << sentence;
  EXPECT_TRUE(probe.all<TransferSample>().empty());
}

TEST_F(TransferOnGpu, GateTimeoutIsAnError) {
  fake->gpu(0).faults.gates_give_up = true;
  StartTransfers r = request({gpu(0)}, {gpu(0)});
  EXPECT_NE(message_of([&] { run(r); }, Errc::Cuda).find("waited too long"), std::string::npos);
  expect_all_given_back();
}

TEST_F(TransferOnGpu, StopsDuringASample) {
  fake->gpu(0).faults.copies_take_s = 0.02;
  StartTransfers r = request({cpu()}, {gpu(0)});
  r.budget_s = 1e6;  // ends only when it is stopped
  message_of([&] { probe.run_until<Progress>(*make_transfer_experiment(r), 1); }, Errc::Cancelled);
  expect_all_given_back();
}

TEST_F(TransferOnGpu, RunsLiveUntilCancelled) {
  StartTransfers r = request({gpu(0)}, {gpu(0)});
  r.ops = {TransferOp::Copy};
  r.live = true;
  message_of([&] { probe.run_until<TransferSample>(*make_transfer_experiment(r), 3); },
             Errc::Cancelled);
  EXPECT_GE(probe.all<TransferSample>().size(), 3U);
  expect_all_given_back();
}

TEST_F(TransferOnGpu, CpuPairsSkipGpuCases) {
  StartTransfers r = request({cpu()}, {cpu()});
  r.sizes_bytes = {kKiB};
  run(r);
  EXPECT_TRUE(probe.all<Skipped>().empty());
  r.ops = {TransferOp::Both, TransferOp::Chase};
  Probe other;
  other.run(*make_transfer_experiment(r));
  ASSERT_EQ(other.all<Skipped>().size(), 1U);
  EXPECT_EQ(other.all<Skipped>()[0].what, "cpu:0 -> cpu:0, both, chase");
}

}  // namespace
}  // namespace lab
