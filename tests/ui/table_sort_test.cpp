#include <gtest/gtest.h>

#include <array>

#include "tests/ui/null_backend.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

class TableSortTest : public ::testing::TestWithParam<float> {
 protected:
  test::NullBackend b{GetParam()};
};

TEST_P(TableSortTest, LabelsOrderTheRows) {
  const std::array<Column, 2> columns{Column{.label = "kernel"},
                                      Column{.label = "GFLOP/s", .number = true}};
  TableSort sort;
  const auto draw = [&] {
    if (!begin_table(b.ui, "t", columns, 0, &sort)) return;
    table_row(b.ui);
    cell(b.ui, "naive");
    cell(b.ui, "12.5");
    end_table(b.ui);
  };
  b.frames(3, draw);
  EXPECT_EQ(b.find("t/sort/kernel")->value, "ascending");
  b.click("t/sort/GFLOP/s", draw);
  EXPECT_EQ(sort.column, 1);
  EXPECT_TRUE(sort.descending) << "the largest first";
  b.click("t/sort/GFLOP/s", draw);
  EXPECT_FALSE(sort.descending);
  EXPECT_EQ(b.find("t/sort/GFLOP/s")->value, "ascending");
  EXPECT_EQ(b.find("t/sort/kernel")->value, "");
  b.click("t/sort/kernel", draw);
  EXPECT_EQ(sort.column, 0);
  EXPECT_FALSE(sort.descending);
  EXPECT_EQ(b.find("t/0")->value, "naive\t12.5");
}

INSTANTIATE_TEST_SUITE_P(Scales, TableSortTest, ::testing::Values(1.0F, 2.0F));

}  // namespace
}  // namespace lab::ui
