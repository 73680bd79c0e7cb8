#include <gtest/gtest.h>

#include <string>

#include "app/headless/printer.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

std::string shown(const std::vector<Payload>& payloads) {
  testing::internal::CaptureStdout();
  {
    Console console;
    const auto table = make_matmul_table(console);
    for (const Payload& payload : payloads) table->show(payload);
  }
  return testing::internal::GetCapturedStdout();
}

TEST(MatmulTable, ShowsTheCeilingsBeforeTheKernels) {
  PeakSample peak;
  peak.threads = 2;
  peak.gflops = 500;
  CeilingsMeasured ceilings;
  ceilings.threads = 2;
  ceilings.compute = {{.name = "FMA f32", .threads = 2, .gflops = 500}};
  BandwidthCeiling level{
      .name = "L1", .working_set_bytes = 48 * kKiB, .gb_per_s = 1000, .median_gb_per_s = 980};
  level.time.median_s = 1;
  level.time.p10_s = 0.98;
  level.time.p90_s = 1.02;
  level.time.n = 31;
  ceilings.bandwidth = {level};
  EXPECT_EQ(shown({peak, ceilings}),
            "cpu:0: measured peak 500 GFLOP/s (f32, 2 threads)\n"
            "cpu:0: measured L1 bandwidth 1.00 TB/s at best, median 980 GB/s +-2.0 %, n 31 "
            "(2 threads, 48.0 KiB), feeds the peak from 0.5 FLOP/B\n");
  ceilings.threads = 1;
  ceilings.bandwidth[0].time.unstable = true;
  EXPECT_NE(shown({ceilings}).find("n 31, unstable (1 thread, 48.0 KiB)"), std::string::npos)
      << shown({ceilings});
}

TEST(MatmulTable, EachKernelHasItsIntensity) {
  MatmulSample sample;
  sample.kernel = "packed";
  sample.m = sample.n = sample.k = 96;
  sample.gflops = 100;
  const std::string text = shown({sample});
  EXPECT_NE(text.find("FLOP/B"), std::string::npos) << text;
  EXPECT_NE(text.find("    16  "), std::string::npos) << text;
}

}  // namespace
}  // namespace lab::app
