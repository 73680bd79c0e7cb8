#include "ui/plot/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace lab::ui::plot {
namespace {

// --- pan and zoom ---------------------------------------------------------------------------

TEST(AxisMap, MapsBothWays) {
  for (const Scale scale : {Scale::Linear, Scale::Log10, Scale::Log2}) {
    const AxisMap map{.scale = scale, .range = {2, 5000}, .from = 100, .to = 20};
    EXPECT_FLOAT_EQ(map.pixel(2), 100);
    EXPECT_FLOAT_EQ(map.pixel(5000), 20);
    EXPECT_NEAR(map.value(map.pixel(77)), 77, 77 * 1e-4);
  }
}

TEST(AxisMap, FarAwayValuesStayFinite) {
  const AxisMap map{.scale = Scale::Linear, .range = {0, 1e-9}, .from = 0, .to = 500};
  EXPECT_TRUE(std::isfinite(map.pixel(1e300)));
  EXPECT_TRUE(std::isfinite(map.pixel(-1e300)));
}

TEST(Zoomed, KeepsTheAnchorInPlace) {
  for (const Scale scale : {Scale::Linear, Scale::Log10, Scale::Log2}) {
    const AxisMap before{.scale = scale, .range = {1, 1000}, .from = 0, .to = 600};
    const double anchor = 42;
    const AxisMap after{
        .scale = scale, .range = zoomed(scale, before.range, anchor, 0.5), .from = 0, .to = 600};
    EXPECT_NEAR(after.pixel(anchor), before.pixel(anchor), 0.01);
    EXPECT_NEAR(to_linear(scale, after.range.max) - to_linear(scale, after.range.min),
                (to_linear(scale, 1000) - to_linear(scale, 1)) / 2, 1e-6);
  }
}

TEST(Zoomed, InAndOutIsTheIdentity) {
  const Range r = zoomed(Scale::Linear, zoomed(Scale::Linear, {-3, 9}, 1, 0.8), 1, 1 / 0.8);
  EXPECT_NEAR(r.min, -3, 1e-9);
  EXPECT_NEAR(r.max, 9, 1e-9);
}

TEST(Zoomed, StopsAtTheLimitsOfPrecision) {
  for (const Scale scale : {Scale::Linear, Scale::Log10}) {
    Range r{1, 2};
    for (int i = 0; i < 500; ++i) r = zoomed(scale, r, 1.5, 0.5);
    EXPECT_LT(r.min, r.max);
    for (int i = 0; i < 5000; ++i) r = zoomed(scale, r, 1.5, 2);
    EXPECT_LT(r.min, r.max);
    EXPECT_TRUE(std::isfinite(r.min) && std::isfinite(r.max));
    EXPECT_TRUE(can_show(scale, r.min));
  }
}

TEST(Panned, MovesByAFraction) {
  const Range r = panned(Scale::Linear, {0, 10}, 0.25);
  EXPECT_DOUBLE_EQ(r.min, 2.5);
  EXPECT_DOUBLE_EQ(r.max, 12.5);
  const Range l = panned(Scale::Log10, {1, 100}, 0.5);
  EXPECT_NEAR(l.min, 10, 1e-9);
  EXPECT_NEAR(l.max, 1000, 1e-6);
}

TEST(Sane, RepairsInvalidRanges) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Range r : {Range{5, 5}, Range{9, 1}, Range{nan, 1}, Range{-INFINITY, INFINITY},
                        Range{0, 0}, Range{-2, -1}}) {
    for (const Scale scale : {Scale::Linear, Scale::Log10, Scale::Log2}) {
      const Range s = showable_range(scale, r);
      EXPECT_LT(s.min, s.max);
      EXPECT_TRUE(can_show(scale, s.min) && can_show(scale, s.max));
    }
  }
}

TEST(Extent, PadsTheDataRange) {
  Extent e(Scale::Linear);
  EXPECT_EQ(e.padded(0.1, true), (Range{0, 1}));
  e.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(e.empty());
  e.add(10);
  EXPECT_EQ(e.padded(0.1, true), (Range{5, 15})) << "a constant is centred";
  e.add(2);
  const Range r = e.padded(0.1, true);
  EXPECT_DOUBLE_EQ(r.min, 0);
  EXPECT_DOUBLE_EQ(r.max, 10.8);
}

TEST(Extent, ASingleSizeHasPowersOfTwoAroundIt) {
  Extent e(Scale::Log2);
  e.add(4096);
  const Range r = e.padded(0, false);
  EXPECT_LT(r.min, 2048);
  EXPECT_GT(r.max, 8192);
}

TEST(Extent, LogAxisIgnoresZero) {
  Extent e(Scale::Log10);
  e.add(0);
  e.add(-4);
  EXPECT_TRUE(e.empty());
  e.add(100);
  const Range r = e.padded(0, true);
  EXPECT_LT(r.min, 100);
  EXPECT_GT(r.max, 100);
}

// --- ticks ----------------------------------------------------------------------------------

std::vector<std::string> labels(const Ticks& t) {
  std::vector<std::string> out;
  for (const Tick& tick : t.ticks) {
    if (!tick.label.empty()) out.push_back(tick.label);
  }
  return out;
}

using Labels = std::vector<std::string>;

TEST(Ticks, LinearStepsAreRoundWithOnePrefix) {
  const Ticks t = make_ticks({.range = {0, 500e9}, .max_labels = 6, .unit = "FLOP/s"});
  EXPECT_EQ(labels(t), (Labels{"0", "100", "200", "300", "400", "500"}));
  EXPECT_EQ(t.unit, "GFLOP/s");
}

TEST(Ticks, DigitsAreGroupedAlike) {
  EXPECT_EQ(labels(make_ticks({.range = {0, 15000}, .max_labels = 4})),
            (Labels{"0", "5,000", "10,000", "15,000"}));
  EXPECT_EQ(labels(make_ticks({.range = {0, 4000}, .max_labels = 3})),
            (Labels{"0", "2000", "4000"}));
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

TEST(Ticks, SecondsHaveNoLargePrefixAndPercentNone) {
  EXPECT_EQ(make_ticks({.range = {0, 5000}, .unit = "s"}).unit, "s");
  EXPECT_EQ(make_ticks({.range = {0, 0.05}, .unit = "%"}).unit, "%");
}

TEST(Ticks, SharesAreLabelledInPercent) {
  const Ticks t = make_ticks({.range = {0.5, 1}, .max_labels = 3, .percent = true});
  EXPECT_EQ(labels(t), (Labels{"60", "80", "100"}));
  EXPECT_EQ(t.unit, "%");
  EXPECT_DOUBLE_EQ(t.ticks.back().value, 1);
}

TEST(Ticks, DecadesHaveMinorTicks) {
  const Ticks t =
      make_ticks({.scale = Scale::Log10, .range = {1e6, 1e9}, .max_labels = 6, .unit = "B/s"});
  EXPECT_EQ(labels(t), (Labels{"1 MB/s", "10 MB/s", "100 MB/s", "1 GB/s"}));
  EXPECT_EQ(t.ticks.size(), 28U);  // 9 per decade, and the upper end
}

// "10 m" beside a title "time (s)" reads as ten metres.
TEST(Ticks, PrefixOnLogAxisHasItsUnit) {
  const Ticks t = make_ticks({.scale = Scale::Log10, .range = {1e-3, 10}, .unit = "s"});
  EXPECT_EQ(labels(t), (Labels{"1 ms", "10 ms", "100 ms", "1 s", "10 s"}));
  EXPECT_EQ(t.unit, "");
  const Ticks narrow =
      make_ticks({.scale = Scale::Log10, .range = {2e-3, 5e-3}, .max_labels = 4, .unit = "s"});
  EXPECT_EQ(labels(narrow), (Labels{"2 ms", "3 ms", "4 ms", "5 ms"}));
}

TEST(Ticks, UnitIsInTitleIfNoLabelHasPrefix) {
  const Ticks t =
      make_ticks({.scale = Scale::Log10, .range = {0.5, 100}, .max_labels = 3, .unit = "s"});
  EXPECT_EQ(labels(t), (Labels{"1", "10", "100"}));
  EXPECT_EQ(t.unit, "s");
}

TEST(Ticks, FewDecadesAreLabelledInside) {
  const auto found = [](double from, double to, double most) {
    return labels(make_ticks({.scale = Scale::Log10, .range = {from, to}, .max_labels = most}));
  };
  EXPECT_EQ(found(4, 80, 6), (Labels{"5", "10", "20", "50"})) << "only 10 starts a decade";
  EXPECT_EQ(found(0.5, 100, 6), (Labels{"1", "3", "10", "30", "100"}));
  EXPECT_EQ(found(0.5, 100, 4), (Labels{"1", "10", "100"})) << "no room for more";
}

TEST(Ticks, CountsOnLogAxisHaveNoSmallPrefix) {
  EXPECT_EQ(labels(make_ticks({.scale = Scale::Log10, .range = {1e-6, 1e6}, .max_labels = 5})),
            (Labels{"1e-06", "0.001", "1", "1000", "1 M"}));
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

TEST(Ticks, EighthsOfABinaryUnitAreExact) {
  const Ticks t = make_ticks({.range = {0, 0.5 * 1073741824}, .max_labels = 4, .binary = true});
  EXPECT_EQ(labels(t), (Labels{"0", "128", "256", "384", "512"}));
  const Ticks mixed = make_ticks({.range = {0, 1073741824}, .max_labels = 8, .binary = true});
  EXPECT_EQ(labels(mixed).at(1), "0.125");
  EXPECT_EQ(labels(mixed).back(), "1.000");
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

// Ticks are strictly ascending and limited in number for any range.
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
  EXPECT_EQ(axis_text(1234567, "", false, true), "1,234,567");
  EXPECT_EQ(axis_text(0.4321, "", false, false), "0.4321");
  EXPECT_EQ(axis_text(0, "s", false, false), "0 s");
  EXPECT_EQ(axis_text(NAN, "s", false, false), "N/A");
}

TEST(TickText, SaysUnitsAndNow) {
  EXPECT_EQ(tick_text({-10, "-10", true}, "now", "min"), "-10 min");
  EXPECT_EQ(tick_text({0, "0", true}, "now", "min"), "now");
  EXPECT_EQ(tick_text({0, "0", true}, "", ""), "0");
  EXPECT_EQ(tick_text({0, "", false}, "now", "min"), "") << "a minor tick";
}

}  // namespace
}  // namespace lab::ui::plot
