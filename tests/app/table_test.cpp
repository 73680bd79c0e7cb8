#include "app/headless/table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lab::app {
namespace {

TEST(TableLayout, AlignsNumbersRight) {
  const TableLayout layout({{"name", 6}, {"n", 4, true}, {"unit", 0}});
  EXPECT_EQ(layout.header(), "name       n  unit");
  EXPECT_EQ(layout.row({"abc", "12", "s"}), "abc       12  s");
  EXPECT_EQ(layout.row({"toolongname", "1"}), "toolongname     1");
}

TEST(TableLayout, CountsLettersNotBytes) {
  EXPECT_EQ(display_width("µs"), 2);
  const TableLayout layout({{"t", 4, true}, {"x", 1}});
  EXPECT_EQ(layout.row({"3 µs", "y"}), "3 µs  y");
}

TEST(Percent, ShowsOneDigitOrNotAvailable) {
  EXPECT_EQ(percent(0.4217), "42.2 %");
  EXPECT_EQ(percent(std::nan("")), "N/A");
}

}  // namespace
}  // namespace lab::app
