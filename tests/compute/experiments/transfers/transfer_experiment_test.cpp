#include "compute/experiments/transfers/transfer_experiment.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/transfer_plan.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"

namespace lab {
namespace {

using test::Probe;

StartTransfers quick_request() {
  StartTransfers request;
  request.from = request.to = {cpu()};
  request.sizes_bytes = {kKiB, 64 * kKiB, 512 * kKiB};
  request.budget_s = 0.01;
  return request;
}

void run(Probe& probe, const StartTransfers& request) {
  probe.run(*make_transfer_experiment(request));
}

std::string usage_error(const StartTransfers& request) {
  Probe probe;
  try {
    run(probe, request);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::Usage) << error.what();
    return error.what();
  }
  return "";
}

TEST(TransferExperiment, MeasuresEveryCaseOnce) {
  Probe probe;
  run(probe, quick_request());
  const int threads = probe.machine.at(cpu()).threads().size();
  const std::size_t series = threads > 1 ? 8 : 4;
  const auto samples = probe.all<TransferSample>();
  ASSERT_EQ(samples.size(), series * 3);
  for (const TransferSample& s : samples) {
    EXPECT_TRUE(s.verified);
    EXPECT_TRUE(s.threads == 1 || s.threads == threads);
    EXPECT_GT(s.time.median_s, 0);
    EXPECT_GE(s.time.n, 1);
    EXPECT_GT(s.conditions.unix_time_s, 0);
    const double factor = s.op == TransferOp::Copy ? 2 : s.op == TransferOp::Triad ? 3 : 1;
    EXPECT_NEAR(s.gb_per_s, factor * static_cast<double>(s.bytes) / s.time.median_s * 1e-9,
                1e-9 * s.gb_per_s);
  }
  EXPECT_TRUE(probe.all<Skipped>().empty());
  EXPECT_EQ(probe.machine.at(cpu()).memory().used_bytes(), 0);
  // The last progress event reports completion.
  ASSERT_FALSE(probe.all<Progress>().empty());
}

TEST(TransferExperiment, FitsEachSweep) {
  Probe probe;
  StartTransfers request = quick_request();
  request.ops = {TransferOp::Copy};
  request.sizes_bytes = {kKiB, 32 * kKiB, kMiB, 8 * kMiB};
  run(probe, request);
  const auto fits = probe.all<TransferFit>();
  ASSERT_FALSE(fits.empty());
  for (const TransferFit& fit : fits) {
    if (fit.threads == 1) {
      EXPECT_FALSE(fit.faster_than_one);
    }
    int sizes = 0;
    for (const TransferLevel& level : fit.levels) {
      EXPECT_GE(level.latency_s, 0);
      EXPECT_GE(level.gb_per_s, 0);
      sizes += level.sizes;
    }
    EXPECT_EQ(sizes, 4) << "each size is in one level";
    EXPECT_EQ(fit.levels.back().to_bytes == 0, fit.levels.back().name == "memory");
  }
}

TEST(TransferExperiment, MeasuresCopiesFirst) {
  Probe probe;
  StartTransfers request = quick_request();
  request.ops = {TransferOp::Read, TransferOp::Copy};
  request.sizes_bytes = {kKiB};
  run(probe, request);
  const auto samples = probe.all<TransferSample>();
  ASSERT_GE(samples.size(), 2U);
  EXPECT_EQ(samples.front().op, TransferOp::Copy);
  EXPECT_EQ(samples.back().op, TransferOp::Read);
}

TEST(TransferExperiment, PlansOnlyCopiesIfQuick) {
  Probe probe;
  StartTransfers request;
  request.quick = true;
  request.sizes_bytes = {kGiB};
  const TransferPlan plan = plan_transfers(request, probe.machine);
  ASSERT_FALSE(plan.series.empty());
  for (const TransferSeries& series : plan.series) EXPECT_EQ(series.op, TransferOp::Copy);
  EXPECT_EQ(plan.sizes_bytes.front(), kKiB);
  EXPECT_EQ(plan.sizes_bytes.back(), 128 * kMiB);
}

TEST(TransferExperiment, MeasuresBothDirectionsOfAPairInTurn) {
  Probe probe(2);
  StartTransfers request = quick_request();
  request.from.clear();
  request.to.clear();
  request.ops = {TransferOp::Copy};
  request.all_threads = false;
  request.sizes_bytes = {kKiB, 64 * kKiB};
  run(probe, request);
  std::string order;
  for (const TransferSample& s : probe.all<TransferSample>()) {
    if (s.from != s.to) order += std::to_string(s.from.index) + std::to_string(s.to.index) + " ";
  }
  EXPECT_EQ(order, "01 10 01 10 ");
}

TEST(TransferExperiment, CoversEveryPairOfDevices) {
  Probe probe(2);
  StartTransfers request = quick_request();
  request.from.clear();
  request.to.clear();
  request.all_threads = false;
  request.sizes_bytes = {64 * kKiB};
  run(probe, request);
  int copies[2][2] = {};
  int others = 0;
  for (const TransferSample& s : probe.all<TransferSample>()) {
    EXPECT_TRUE(s.verified);
    if (s.op == TransferOp::Copy)
      ++copies[s.from.index][s.to.index];
    else
      others += s.from == s.to ? 1 : 1000;
  }
  for (const auto& row : copies) {
    for (const int n : row) EXPECT_EQ(n, 1);
  }
  EXPECT_EQ(others, 6);
  const auto skipped = probe.all<Skipped>();
  ASSERT_EQ(skipped.size(), 1U) << "reads of two devices are not asked for";
  EXPECT_EQ(skipped[0].what, "both, pieces, chase, overlap with a GPU");
}

TEST(TransferExperiment, ReportsAMissingGpuOnceAndOnlyForItsOwnOperations) {
  StartTransfers request = quick_request();
  request.sizes_bytes = {kKiB};
  const auto skipped = [&](std::vector<Device> from, std::vector<Device> to,
                           std::vector<TransferOp> ops) {
    Probe probe(2);
    request.from = std::move(from);
    request.to = std::move(to);
    request.ops = std::move(ops);
    run(probe, request);
    return probe.all<Skipped>();
  };
  const Probe machine;
  ASSERT_FALSE(machine.machine.info().absent.empty());
  const std::string why = machine.machine.info().absent[0].reason;
  const std::vector<std::vector<Device>> sides = {{}, {cpu()}};
  for (const auto& from : sides) {
    for (const auto& to : sides) {
      EXPECT_TRUE(skipped(from, to, {TransferOp::Copy}).empty());
      if (!from.empty() && !to.empty()) continue;
      EXPECT_TRUE(skipped(from, to, {TransferOp::Triad}).empty());
      const auto found = skipped(from, to, {TransferOp::Copy, TransferOp::Chase});
      ASSERT_EQ(found.size(), 1U);
      EXPECT_EQ(found[0].what, "chase with a GPU");
      EXPECT_EQ(found[0].reason.substr(0, why.size()), why);
    }
  }
  const auto asked = skipped({cpu(1)}, {cpu(0)}, {TransferOp::Triad});
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].what, "cpu:1 -> cpu:0, triad");
}

TEST(TransferExperiment, SkipsPinnedMemoryWithAReason) {
  Probe probe;
  StartTransfers request = quick_request();
  request.memory = {MemoryKind::Pinned};
  run(probe, request);
  EXPECT_TRUE(probe.all<TransferSample>().empty());
  const auto skipped = probe.all<Skipped>();
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].what, "cpu:0 -> cpu:0, pinned");
  EXPECT_NE(skipped[0].reason.find("GPU"), std::string::npos);
}

TEST(TransferExperiment, SkipsSizesThatDoNotFitAndContinues) {
  Probe probe;
  StartTransfers request = quick_request();
  request.ops = {TransferOp::Copy};
  request.all_threads = false;
  request.sizes_bytes = {std::int64_t{1} << 46, kKiB};
  run(probe, request);
  EXPECT_EQ(probe.all<TransferSample>().size(), 1U);
  const auto skipped = probe.all<Skipped>();
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_NE(skipped[0].reason.find("needs 2 arrays of "), std::string::npos);
  EXPECT_NE(skipped[0].reason.find("free"), std::string::npos) << skipped[0].reason;
}

TEST(TransferExperiment, MeasuresWithColdCaches) {
  Probe probe;
  StartTransfers request = quick_request();
  request.cache = CacheState::Cold;
  request.ops = {TransferOp::Read};
  request.all_threads = false;
  request.sizes_bytes = {64 * kKiB};
  run(probe, request);
  ASSERT_EQ(probe.all<TransferSample>().size(), 1U);
  EXPECT_TRUE(probe.all<TransferSample>()[0].verified);
  ASSERT_EQ(probe.all<TransferFit>().size(), 1U);
  ASSERT_EQ(probe.all<TransferFit>()[0].levels.size(), 1U);
  EXPECT_EQ(probe.all<TransferFit>()[0].levels[0].name, "memory");
}

TEST(TransferExperiment, RejectsInvalidRequests) {
  StartTransfers request = quick_request();
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-8}, std::int64_t{1001}}) {
    request.sizes_bytes = {kKiB, bytes};
    EXPECT_NE(usage_error(request).find(std::to_string(bytes) + " bytes"), std::string::npos);
  }
  request = quick_request();
  request.one_thread = request.all_threads = false;
  EXPECT_NE(usage_error(request), "");
  request = quick_request();
  request.budget_s = 0;
  EXPECT_NE(usage_error(request), "");
  request = quick_request();
  request.to = {cpu(7)};
  Probe probe;
  EXPECT_THROW(run(probe, request), Error);
}

TEST(TransferExperiment, StopsDuringALargeCase) {
  Probe probe;
  StartTransfers request = quick_request();
  request.sizes_bytes = {256 * kMiB};
  request.budget_s = 1e6;  // ends only when it is stopped
  test::message_of([&] { probe.run_until<Progress>(*make_transfer_experiment(request), 1); },
                   Errc::Cancelled);
  EXPECT_EQ(probe.machine.at(cpu()).memory().used_bytes(), 0);
}

TEST(TransferExperiment, RunsLiveUntilCancelled) {
  Probe probe;
  StartTransfers request = quick_request();
  request.live = true;
  test::message_of([&] { probe.run_until<TransferSample>(*make_transfer_experiment(request), 3); },
                   Errc::Cancelled);
  const auto samples = probe.all<TransferSample>();
  EXPECT_GE(samples.size(), 3U);
  for (const TransferSample& s : samples) {
    EXPECT_TRUE(s.verified);
    EXPECT_EQ(s.op, TransferOp::Copy);
    EXPECT_EQ(s.bytes, kKiB);
  }
}

}  // namespace
}  // namespace lab
