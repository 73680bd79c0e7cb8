#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ui/plot/ticks.h"

namespace lab::ui::plot {
namespace {

std::vector<std::string> labels(const Ticks& t) {
  std::vector<std::string> out;
  for (const Tick& tick : t.ticks) {
    if (!tick.label.empty()) out.push_back(tick.label);
  }
  return out;
}

using Labels = std::vector<std::string>;

TEST(Ticks, LinearStepsAreRoundAndShareOnePrefix) {
  const Ticks t = make_ticks({.range = {0, 500e9}, .max_labels = 6, .unit = "FLOP/s"});
  EXPECT_EQ(labels(t), (Labels{"0", "100", "200", "300", "400", "500"}));
  EXPECT_EQ(t.unit, "GFLOP/s");
}

TEST(Ticks, SmallNumbersKeepTheirDecimals) {
  EXPECT_EQ(labels(make_ticks({.range = {0, 0.01}, .max_labels = 3})),
            (Labels{"0.000", "0.005", "0.010"}));
  EXPECT_EQ(labels(make_ticks({.range = {0, 3e-9}, .max_labels = 3, .unit = "s"})),
            (Labels{"0", "1", "2", "3"}));
  EXPECT_EQ(make_ticks({.range = {0, 3e-9}, .unit = "s"}).unit, "ns");
}

TEST(Ticks, NegativeZeroIsZero) {
  EXPECT_EQ(labels(make_ticks({.range = {-1, 1}, .max_labels = 2})), (Labels{"-1", "0", "1"}));
}

TEST(Ticks, WholeAxesHaveNoFractions) {
  const Ticks t = make_ticks({.range = {1, 3}, .max_labels = 10, .whole = true});
  EXPECT_EQ(labels(t), (Labels{"1", "2", "3"}));
  for (const Tick& tick : t.ticks) EXPECT_EQ(tick.value, std::round(tick.value));
}

TEST(Ticks, SecondsTakeNoLargePrefixAndPercentNone) {
  EXPECT_EQ(make_ticks({.range = {0, 5000}, .unit = "s"}).unit, "s");
  EXPECT_EQ(make_ticks({.range = {0, 0.05}, .unit = "%"}).unit, "%");
}

TEST(Ticks, DecadesHaveMinorTicks) {
  const Ticks t =
      make_ticks({.scale = Scale::Log10, .range = {1e6, 1e9}, .max_labels = 6, .unit = "B/s"});
  EXPECT_EQ(labels(t), (Labels{"1 M", "10 M", "100 M", "1 G"}));
  EXPECT_EQ(t.ticks.size(), 28U);  // 3 decades of 9, and the last end
}

TEST(Ticks, ManyDecadesAreThinned) {
  const Ticks t = make_ticks({.scale = Scale::Log10, .range = {1e-12, 1e12}, .max_labels = 6});
  EXPECT_LE(labels(t).size(), 7U);
  EXPECT_GE(labels(t).size(), 3U);
}

TEST(Ticks, PowersOfTwoInBytes) {
  const Ticks t = make_ticks(
      {.scale = Scale::Log2, .range = {1024, 1073741824.0}, .max_labels = 5, .binary = true});
  EXPECT_EQ(labels(t), (Labels{"4 KiB", "64 KiB", "1 MiB", "16 MiB", "256 MiB"}));
}

TEST(Ticks, LinearBinaryAxesStepInPowersOfTwo) {
  const Ticks t = make_ticks({.range = {0, 4.0 * 1073741824}, .max_labels = 4, .binary = true});
  EXPECT_EQ(labels(t), (Labels{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(t.unit, "GiB");
}

TEST(Ticks, PlainSizesStayPlain) {
  EXPECT_EQ(labels(make_ticks({.scale = Scale::Log2, .range = {64, 512}, .max_labels = 6})),
            (Labels{"64", "128", "256", "512"}));
  EXPECT_EQ(labels(make_ticks({.scale = Scale::Log2, .range = {63, 130}, .max_labels = 6})),
            (Labels{"64", "128"}));
}

TEST(Ticks, NarrowLogRangesFallBackToSteps) {
  const Ticks t = make_ticks({.scale = Scale::Log10, .range = {2, 5}, .max_labels = 4});
  EXPECT_EQ(labels(t), (Labels{"2", "3", "4", "5"}));
}

// Whatever the range: few enough, ascending, inside, and no two alike.
TEST(Ticks, AnyRangeGivesSensibleTicks) {
  for (const Scale scale : {Scale::Linear, Scale::Log10, Scale::Log2}) {
    for (double lo : {-1e300, -5.0, 0.0, 1e-300, 1e-9, 0.1, 7.0, 123456.0, 1e18}) {
      for (double width : {0.0, 1e-12, 1e-3, 1.0, 999.0, 1e9, 1e200}) {
        const TickRequest r{.scale = scale, .range = {lo, lo + width}, .max_labels = 6};
        const Ticks t = make_ticks(r);
        EXPECT_LE(t.ticks.size(), 400U) << lo << " " << width;
        EXPECT_LE(labels(t).size(), 14U) << lo << " " << width;
        for (std::size_t i = 1; i < t.ticks.size(); ++i) {
          EXPECT_LT(t.ticks[i - 1].value, t.ticks[i].value) << lo << " " << width;
        }
      }
    }
  }
}

TEST(AxisText, NamesValueAndUnit) {
  EXPECT_EQ(axis_text(4.31e12, "B/s", false, false), "4.31 TB/s");
  EXPECT_EQ(axis_text(65536, "", true, false), "64 KiB");
  EXPECT_EQ(axis_text(1234567, "", false, true), "1234567");
  EXPECT_EQ(axis_text(0.4321, "", false, false), "0.4321");
  EXPECT_EQ(axis_text(0, "s", false, false), "0 s");
  EXPECT_EQ(axis_text(NAN, "s", false, false), "N/A");
}

}  // namespace
}  // namespace lab::ui::plot
