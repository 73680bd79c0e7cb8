#include "ui/plot/line_labels.h"

#include <gtest/gtest.h>

#include <array>

namespace lab::ui::plot {
namespace {

const Box kArea{{0, 0}, {200, 100}};

std::vector<ImVec2> level_line(float y) {
  std::vector<ImVec2> line;
  for (int x = 0; x <= 200; x += 10) line.emplace_back(static_cast<float>(x), y);
  return line;
}

float middle_x(const Box& box) {
  return (box.min.x + box.max.x) / 2;
}

TEST(Crosses, SegmentsThatTouchTheBox) {
  const Box box{{10, 10}, {20, 20}};
  EXPECT_TRUE(crosses(box, {0, 15}, {30, 15})) << "through";
  EXPECT_TRUE(crosses(box, {12, 12}, {13, 13})) << "inside";
  EXPECT_TRUE(crosses(box, {15, 0}, {15, 12})) << "ends in it";
  EXPECT_TRUE(crosses(box, {0, 0}, {30, 30})) << "across";
  EXPECT_FALSE(crosses(box, {0, 0}, {9, 30}));
  EXPECT_FALSE(crosses(box, {0, 25}, {30, 21}));
  EXPECT_FALSE(crosses(box, {21, 0}, {60, 39})) << "passes by the corner";
  EXPECT_TRUE(crosses(box, {15, 15}, {15, 15})) << "a single point";
  EXPECT_FALSE(crosses(box, {25, 15}, {25, 15}));
}

TEST(PlaceLineLabels, TakesTheFirstFreePlaceOnItsLine) {
  const std::vector<ImVec2> line = level_line(50);
  const std::vector<std::span<const ImVec2>> lines = {line};
  const std::array labels = {LineLabel{line, {30, 10}}};
  const auto placed = place_line_labels(labels, lines, kArea);
  ASSERT_EQ(placed.size(), 1u);
  ASSERT_TRUE(placed[0]);
  EXPECT_EQ(placed[0]->min.x, 5) << "inside the area, as far left as that allows";
  EXPECT_EQ(placed[0]->min.y, 45);
  EXPECT_EQ(placed[0]->max.y, 55);
}

TEST(PlaceLineLabels, KeepsOffOtherLinesAndLabels) {
  const std::vector<ImVec2> line = level_line(50), near = level_line(53);
  const std::vector<ImVec2> steep = {{20, 0}, {20, 100}};
  const std::vector<std::span<const ImVec2>> crossed = {line, steep};
  const std::array one = {LineLabel{line, {30, 10}}};
  const auto beside = place_line_labels(one, crossed, kArea);
  ASSERT_TRUE(beside[0]);
  EXPECT_GT(beside[0]->min.x, 20) << "right of the steep line";
  const std::vector<std::span<const ImVec2>> both = {line, near};
  const std::array two = {LineLabel{line, {30, 10}}, LineLabel{near, {30, 10}}};
  const auto placed = place_line_labels(two, both, kArea);
  ASSERT_TRUE(placed[0] && placed[1]);
  EXPECT_GE(middle_x(*placed[1]) - middle_x(*placed[0]), 30);
}

TEST(PlaceLineLabels, LeavesOutWhatHasNoRoom) {
  const std::vector<ImVec2> line = level_line(50), edge = level_line(2);
  const std::vector<std::span<const ImVec2>> lines = {line, edge};
  const std::array labels = {LineLabel{line, {300, 10}}, LineLabel{edge, {30, 10}},
                             LineLabel{{}, {30, 10}}};
  for (const auto& box : place_line_labels(labels, lines, kArea)) EXPECT_FALSE(box);
}

}  // namespace
}  // namespace lab::ui::plot
