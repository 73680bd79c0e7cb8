// What --json prints is what a reference file holds.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/headless/json_lines.h"
#include "app/reference/machine_samples.h"

namespace lab::app {
namespace {

using Json = nlohmann::json;

Timing some_timing() {
  Timing t;
  t.median_s = 0.1;
  t.p10_s = 0.09;
  t.p90_s = 1.0 / 3;
  t.n = 17;
  t.warmup = 2;
  t.unstable = true;
  return t;
}

void expect_equal(const Timing& a, const Timing& b) {
  EXPECT_EQ(a.median_s, b.median_s);
  EXPECT_EQ(a.p10_s, b.p10_s);
  EXPECT_EQ(a.p90_s, b.p90_s);
  EXPECT_EQ(a.n, b.n);
  EXPECT_EQ(a.warmup, b.warmup);
  EXPECT_EQ(a.unstable, b.unstable);
}

// Through the text and back. `field`, where the last object of a run holds it.
template <typename Value>
Value round_trip(const Value& value, const char* field, Value (*read)(const files::JsonFields&)) {
  Json json;
  if (field == nullptr) {
    json = Json::parse(json_line(value).value());
  } else {
    JobSummary summary;
    summary.add(value);
    json = Json::parse(json_done(1, summary)).at(field).at(0);
  }
  return read(files::JsonFields(json, "the line"));
}

TEST(JsonRoundTrip, MatmulSample) {
  MatmulSample s;
  s.device = gpu(1);
  s.kernel = "mma_tf32";
  s.dtype = Precision::TF32;
  s.m = 3, s.n = 5, s.k = 7;
  s.time = some_timing();
  s.gflops = 12.5;
  s.verified = true;
  s.share_of_peak = 0.25;
  s.max_error = 0.125;
  s.conditions.clock_mhz = 1980.0;
  const MatmulSample r = round_trip(s, nullptr, matmul_sample);
  EXPECT_EQ(r.device, s.device);
  EXPECT_EQ(r.kernel, s.kernel);
  EXPECT_EQ(r.library, s.library);
  EXPECT_EQ(r.dtype, s.dtype);
  EXPECT_EQ(std::tuple(r.m, r.n, r.k), std::tuple(s.m, s.n, s.k));
  expect_equal(r.time, s.time);
  EXPECT_EQ(r.gflops, s.gflops);
  EXPECT_TRUE(r.verified);
  EXPECT_EQ(r.share_of_peak, s.share_of_peak);
  EXPECT_EQ(r.share_of_library, std::nullopt);
  EXPECT_EQ(r.max_error, s.max_error);
  EXPECT_EQ(*r.conditions.clock_mhz, 1980);
}

TEST(JsonRoundTrip, TransferSample) {
  TransferSample s;
  s.from = gpu(0);
  s.to = gpu(1);
  s.memory = MemoryKind::OnCard;
  s.op = TransferOp::Both;
  s.mover = TransferMover::Kernel;
  s.peer = PeerWay::ReadThroughHost;
  s.bytes = 1 << 20;
  s.time = some_timing();
  s.gb_per_s = 350;
  s.verified = true;
  const TransferSample r = round_trip(s, nullptr, transfer_sample);
  EXPECT_EQ(std::tuple(r.from, r.to, r.memory, r.op, r.mover, r.peer, r.threads, r.bytes),
            std::tuple(s.from, s.to, s.memory, s.op, s.mover, s.peer, s.threads, s.bytes));
  expect_equal(r.time, s.time);
  EXPECT_EQ(r.gb_per_s, s.gb_per_s);
  EXPECT_FALSE(r.conditions.clock_mhz);
}

TEST(JsonRoundTrip, TransferFit) {
  TransferFit f;
  f.op = TransferOp::Triad;
  f.threads = 2;
  f.latency_s = 1e-7;
  f.gb_per_s = 20;
  f.r2 = 0.75;
  f.half_bandwidth_bytes = 2000;
  f.break_even_bytes = 4096;
  const TransferFit r = round_trip(f, "fits", transfer_fit);
  EXPECT_EQ(std::tuple(r.from, r.to, r.memory, r.op, r.mover, r.peer, r.threads),
            std::tuple(f.from, f.to, f.memory, f.op, f.mover, f.peer, f.threads));
  EXPECT_EQ(std::tuple(r.latency_s, r.gb_per_s, r.r2, r.half_bandwidth_bytes, r.break_even_bytes),
            std::tuple(f.latency_s, f.gb_per_s, f.r2, f.half_bandwidth_bytes, f.break_even_bytes));
}

TEST(JsonRoundTrip, PeakAndCeilings) {
  PeakSample p;
  p.dtype = Precision::BF16;
  p.threads = 2;
  p.time = some_timing();
  p.gflops = 700;
  const PeakSample peak = round_trip(p, "peaks", peak_sample);
  EXPECT_EQ(std::tuple(peak.device, peak.dtype, peak.threads, peak.gflops),
            std::tuple(p.device, p.dtype, p.threads, p.gflops));
  expect_equal(peak.time, p.time);

  CeilingsMeasured c;
  c.threads = 2;
  c.compute = {{.name = "FMA", .threads = 2, .gflops = 500, .time = some_timing()}};
  c.bandwidth = {{.name = "memory",
                  .working_set_bytes = 1 << 28,
                  .gb_per_s = 40,
                  .median_gb_per_s = 38,
                  .p10_gb_per_s = 36,
                  .p90_gb_per_s = 39,
                  .time = some_timing()}};
  const CeilingsMeasured r = round_trip(c, "ceilings", ceilings_measured);
  ASSERT_EQ(r.compute.size(), 1U);
  EXPECT_EQ(r.compute[0].gflops, 500);
  expect_equal(r.compute[0].time, c.compute[0].time);
  ASSERT_EQ(r.bandwidth.size(), 1U);
  EXPECT_EQ(r.bandwidth[0].cache_bytes, 0);
  EXPECT_EQ(r.bandwidth[0].median_gb_per_s, 38);
}

}  // namespace
}  // namespace lab::app
