#include "compute/core/units.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "compute/core/error.h"

namespace lab {
namespace {

using Sizes = std::vector<std::int64_t>;

TEST(Units, ParsesBytes) {
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("64KiB"), 65536);
  EXPECT_EQ(parse_bytes("1.5 GiB"), 1610612736);
  EXPECT_EQ(parse_bytes("2MB"), 2000000);
}

TEST(Units, RejectsInvalidSizes) {
  for (const char* text : {"", "KiB", "-1", "0", "1 2", "4096q", "1e30", "nan", "inf"}) {
    EXPECT_THROW(parse_bytes(text), Error) << text;
  }
}

TEST(Units, RangesDoubleAndIncludeBothEnds) {
  EXPECT_EQ(parse_counts("64..512"), (Sizes{64, 128, 256, 512}));
  EXPECT_EQ(parse_counts("64..300"), (Sizes{64, 128, 256, 300}));
  EXPECT_EQ(parse_counts("7..7"), (Sizes{7}));
  EXPECT_EQ(parse_counts("9223372036854775807..9223372036854775807").size(), 1U);
  EXPECT_EQ(parse_byte_sizes("1KiB..4KiB"), (Sizes{1024, 2048, 4096}));
  EXPECT_EQ(parse_byte_sizes("1 KiB .. 4 KiB"), (Sizes{1024, 2048, 4096}));
  EXPECT_EQ(parse_counts("100, 200"), (Sizes{100, 200}));
}

TEST(Units, RejectsInvalidRanges) {
  for (const char* text : {"", "64..", "512..64", "1,,2", "0", "-4", "1.5", "64...128"}) {
    EXPECT_THROW(parse_counts(text), Error) << text;
  }
}

TEST(Units, SeparatesThousandsOfLongNumbers) {
  for (const auto& [plain, grouped] :
       std::vector<std::array<const char*, 2>>{{"", ""},
                                               {"9999", "9999"},
                                               {"-9999.5", "-9999.5"},
                                               {"12345", "12,345"},
                                               {"-60000.25", "-60,000.25"},
                                               {"123456", "123,456"},
                                               {"1234567", "1,234,567"}}) {
    EXPECT_EQ(group_digits(plain), grouped);
  }
}

TEST(Units, FormatsThreeSignificantDigits) {
  EXPECT_EQ(format_si(4.31e12, "B/s"), "4.31 TB/s");
  EXPECT_EQ(format_si(487.2e9, "FLOP/s"), "487 GFLOP/s");
  EXPECT_EQ(format_si(999.7, "s"), "1.00 ks");
  EXPECT_EQ(format_si(12.2, "s"), "12.2 s");
  EXPECT_EQ(format_si(9.996, "s"), "10.0 s");
  EXPECT_EQ(format_si(3.2e-7, "s"), "320 ns");
  EXPECT_EQ(format_si(0, "B/s"), "0 B/s");
  EXPECT_EQ(format_gflops(1500), "1.50 TFLOP/s");
  EXPECT_EQ(format_gb_per_s(30.2), "30.2 GB/s");
  EXPECT_EQ(format_bytes(1610612736), "1.50 GiB");
  EXPECT_EQ(format_bytes(12), "12 B");
  using Two = std::array<std::string, 2>;
  EXPECT_EQ(format_bytes_apart(kGiB, 2 * kGiB), (Two{"1.00 GiB", "2.00 GiB"}));
  EXPECT_EQ(format_bytes_apart(kGiB, kGiB), (Two{"1.00 GiB", "1.00 GiB"}));
  EXPECT_EQ(format_bytes_apart(20 * kGiB + 41 * kMiB, 20 * kGiB + 10 * kMiB),
            (Two{"20.04 GiB", "20.01 GiB"}));
  EXPECT_EQ(format_bytes_apart(20 * kGiB + 4096, 20 * kGiB),
            (Two{"20.0 GiB + 4.00 KiB", "20.0 GiB"}));
  EXPECT_EQ(format_bytes_apart(20 * kGiB, 20 * kGiB + 4096),
            (Two{"20.0 GiB", "20.0 GiB + 4.00 KiB"}));
  EXPECT_EQ(format_seconds(200), "3 min 20 s");
}

}  // namespace
}  // namespace lab
