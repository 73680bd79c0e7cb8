// Lines that --json prints can be read back as entries of a reference file.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/headless/json_lines.h"
#include "app/window/reference_machines.h"

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

// Prints `value` as a JSON line and reads it back.
template <typename Value>
Value round_trip(const Value& value, Value (*read)(const files::JsonFields&)) {
  const Json json = Json::parse(json_line(value).value());
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
  const MatmulSample r = round_trip(s, matmul_sample);
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
  s.memory = MemoryKind::OnGpu;
  s.op = TransferOp::Both;
  s.mover = TransferMover::Kernel;
  s.peer = PeerMode::ReadThroughHost;
  s.bytes = 1 << 20;
  s.time = some_timing();
  s.gb_per_s = 350;
  s.verified = true;
  const TransferSample r = round_trip(s, transfer_sample);
  EXPECT_EQ(std::tuple(r.from, r.to, r.memory, r.op, r.mover, r.peer, r.threads, r.bytes),
            std::tuple(s.from, s.to, s.memory, s.op, s.mover, s.peer, s.threads, s.bytes));
  expect_equal(r.time, s.time);
  EXPECT_EQ(r.gb_per_s, s.gb_per_s);
  EXPECT_FALSE(r.conditions.clock_mhz);
}

}  // namespace
}  // namespace lab::app
