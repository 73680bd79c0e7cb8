#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "ui/plot/plot.h"

namespace lab::ui::plot {
namespace {

TEST(Csv, HasEveryPointOfEverySeriesWithBands) {
  const std::vector<double> x{64, 128}, y{1.5, 0.1}, low{1, 0.05}, high{2, 0.2};
  const std::array<Series, 2> series{
      Series{.label = "naive", .x = x, .y = y},
      Series{.label = "packed", .x = x, .y = y, .low = low, .high = high}};
  EXPECT_EQ(to_csv({.x = {.label = "size N"}, .y = {.label = "speed", .unit = "FLOP/s"}}, series),
            "size N,series,speed (FLOP/s),low,high\n"
            "64,naive,1.5,,\n"
            "128,naive,0.1,,\n"
            "64,packed,1.5,1,2\n"
            "128,packed,0.1,0.05,0.2\n");
}

TEST(Csv, QuotesLabelsAndLeavesMissingValuesEmpty) {
  const std::vector<double> x{1}, y{NAN};
  const std::array<Series, 1> series{Series{.label = "a, \"b\"", .x = x, .y = y}};
  EXPECT_EQ(to_csv({}, series), "x,series,y,low,high\n1,\"a, \"\"b\"\"\",,,\n");
}

TEST(Csv, DigitsReadBackAsTheSameNumber) {
  const std::vector<double> x{0.1 + 0.2}, y{1.0 / 3};
  const std::array<Series, 1> series{Series{.label = "s", .x = x, .y = y}};
  EXPECT_EQ(to_csv({}, series),
            "x,series,y,low,high\n0.30000000000000004,s,0.3333333333333333,,\n");
}

}  // namespace
}  // namespace lab::ui::plot
