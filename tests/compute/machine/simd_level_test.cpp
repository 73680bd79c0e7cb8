#include "compute/machine/simd_level.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "compute/core/error.h"
#include "compute/machine/machine.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

const SimdLevel kAvx512{"AVX-512", "AVX-512 with BF16 and VNNI", {}};
const SimdLevel kAvx2{"AVX2", "AVX2 with FMA", {}};

TEST(SimdLevel, ParsesEachAcceptedValue) {
  for (const SimdTier tier :
       {SimdTier::Scalar, SimdTier::Sse4, SimdTier::Avx2, SimdTier::Avx512, SimdTier::Neon}) {
    EXPECT_EQ(parse_simd_cap(to_string(tier)), tier);
  }
  EXPECT_STREQ(to_string(SimdTier::Sse4), "sse4");
}

// Linux reports the same numbers.
TEST(SimdLevel, NumbersDistinguishProcessors) {
#if defined(__x86_64__)
  std::ifstream lines("/proc/cpuinfo");
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const std::size_t tab = line.find('\t'), colon = line.find(": ");
    if (colon != std::string::npos) values[line.substr(0, tab)] = line.substr(colon + 2);
  }
  EXPECT_EQ(processor_numbers(), "family " + values["cpu family"] + ", model " + values["model"]);
#else
  EXPECT_EQ(processor_numbers(), "");
#endif
}

TEST(SimdLevel, UnsetOrEmptyMeansNoCap) {
  EXPECT_FALSE(parse_simd_cap(nullptr).has_value());
  EXPECT_FALSE(parse_simd_cap("").has_value());
}

TEST(SimdLevel, RejectsUnknownValuesAndListsValidOnes) {
  for (const char* text : {"axv2", "AVX2", "avx2 ", "avx", "1"}) {
    const std::string what = test::message_of([&] { parse_simd_cap(text); }, Errc::Usage);
    EXPECT_NE(what.find("'" + std::string(text) + "'"), std::string::npos) << what;
    EXPECT_NE(what.find("scalar, sse4, avx2, avx512 or neon"), std::string::npos) << what;
  }
}

TEST(SimdLevel, DescribesTheProcessorWithoutACap) {
  const SimdLevel level = describe_simd(SimdTier::Avx512, SimdTier::Avx512, kAvx512, {});
  EXPECT_EQ(level.name, "AVX-512");
  EXPECT_EQ(level.detail, "AVX-512 with BF16 and VNNI");
  EXPECT_EQ(level.cap, "");
}

TEST(SimdLevel, ReportsCapAndProcessor) {
  const SimdLevel level = describe_simd(SimdTier::Avx2, SimdTier::Avx512, kAvx512, SimdTier::Avx2);
  EXPECT_TRUE(level.capped);
  EXPECT_EQ(level.name, "AVX2");
  EXPECT_EQ(level.detail,
            "AVX2 (capped by LAB_SIMD; the processor has AVX-512 with BF16 and VNNI)");
  EXPECT_EQ(level.cap, "avx2");
}

TEST(SimdLevel, ReportsUnsupportedCapAsIneffective) {
  const SimdLevel level = describe_simd(SimdTier::Avx2, SimdTier::Avx2, kAvx2, SimdTier::Avx512);
  EXPECT_FALSE(level.capped);
  EXPECT_EQ(level.name, "AVX2");
  EXPECT_EQ(level.detail,
            "AVX2 with FMA (LAB_SIMD=avx512 has no effect: the processor has no AVX-512)");
  EXPECT_EQ(level.cap, "avx512");
}

TEST(SimdLevel, ReportsNeonOnX86AsIneffective) {
  const SimdLevel level = describe_simd(SimdTier::Avx2, SimdTier::Avx2, kAvx2, SimdTier::Neon);
  EXPECT_EQ(level.name, "AVX2");
  EXPECT_EQ(level.detail, "AVX2 with FMA (LAB_SIMD=neon has no effect: the processor has no NEON)");
}

TEST(SimdLevel, ReportsPartiallySupportedLevel) {
  const SimdLevel level = describe_simd(SimdTier::Sse4, SimdTier::Avx2, kAvx2, {});
  EXPECT_EQ(level.name, "SSE4.2");
  EXPECT_EQ(level.detail,
            "SSE4.2 (the processor has AVX2 with FMA, but not all that its kernels need)");
}

TEST(SimdLevel, ReportsCapEqualToProcessor) {
  const SimdLevel level = describe_simd(SimdTier::Avx2, SimdTier::Avx2, kAvx2, SimdTier::Avx2);
  EXPECT_EQ(level.detail, "AVX2 with FMA (LAB_SIMD=avx2)");
}

// With LAB_SIMD set, this verifies that Highway dispatches within the cap.
TEST(SimdLevel, FollowsCapOfThisProcess) {
  const auto cap = simd_cap();
  const SimdLevel level = simd_level();
  EXPECT_EQ(level.cap, cap ? to_string(*cap) : "");
  EXPECT_EQ(Machine().info().devices.at(0).simd_detail, level.detail);
#if defined(__x86_64__)
  if (!cap || *cap >= SimdTier::Avx512) return;
  EXPECT_NE(level.name, "AVX-512");
  EXPECT_FALSE(why_no_avx512_bf16().empty());
  if (*cap == SimdTier::Avx2) return;
  EXPECT_NE(level.name, "AVX2");
  if (*cap == SimdTier::Sse4) return;
  EXPECT_TRUE(level.name == "scalar" || level.name == "SSE2") << level.name;
#elif defined(__aarch64__)
  EXPECT_EQ(level.name, "NEON");
  EXPECT_EQ(level.detail.rfind("NEON", 0), 0U) << level.detail;
  const bool has_no_effect = level.detail.find("applies to x86-64 only") != std::string::npos;
  EXPECT_EQ(has_no_effect, cap && *cap != SimdTier::Neon) << level.detail;
#endif
}

}  // namespace
}  // namespace lab
