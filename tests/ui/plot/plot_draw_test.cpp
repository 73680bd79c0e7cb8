#include "ui/plot/plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/ui/null_backend.h"
#include "ui/plot/frame.h"

namespace lab::ui::plot {
namespace {

// --- labels on curves -----------------------------------------------------------------------

const Box kArea{{0, 0}, {200, 100}};

std::vector<ImVec2> level_line(float y) {
  std::vector<ImVec2> line;
  for (int x = 0; x <= 200; x += 10) line.emplace_back(static_cast<float>(x), y);
  return line;
}

float middle_x(const Box& box) {
  return (box.min.x + box.max.x) / 2;
}

TEST(Crosses, DetectsSegmentsThatTouchTheBox) {
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
  EXPECT_EQ(placed[0]->min.x, 5) << "inside the area, leftmost";
  EXPECT_EQ(placed[0]->min.y, 45);
  EXPECT_EQ(placed[0]->max.y, 55);
}

TEST(PlaceLineLabels, AvoidsOtherLinesAndLabels) {
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

TEST(PlaceLineLabels, OmitsLabelsWithoutRoom) {
  const std::vector<ImVec2> line = level_line(50), edge = level_line(2);
  const std::vector<std::span<const ImVec2>> lines = {line, edge};
  const std::array labels = {LineLabel{line, {300, 10}}, LineLabel{edge, {30, 10}},
                             LineLabel{{}, {30, 10}}};
  for (const auto& box : place_line_labels(labels, lines, kArea)) EXPECT_FALSE(box);
}

// --- labels of reference lines ---------------------------------------------------------------

const Box kOnLeft{{0, 52}, {30, 62}};  // below a line at 50

std::vector<Stroke> strokes(std::span<const ImVec2> line) {
  return envelope(line, kArea.min.x, kArea.max.x);
}

TEST(PlaceReferenceLabel, KeepsItsPlaceBesideNoCurve) {
  const std::vector<std::vector<Stroke>> lines = {strokes(level_line(20))};
  const Box box = place_reference_label(kOnLeft, 50, 10, kArea, lines, {});
  EXPECT_EQ(box.min.x, kOnLeft.min.x);
  EXPECT_EQ(box.min.y, kOnLeft.min.y);
}

TEST(PlaceReferenceLabel, LeavesACurve) {
  const std::vector<std::vector<Stroke>> below = {
      strokes(std::array<ImVec2, 2>{{{0, 50}, {40, 90}}})};
  const Box above = place_reference_label(kOnLeft, 50, 10, kArea, below, {});
  EXPECT_EQ(above.min.x, 0);
  EXPECT_LT(above.max.y, 50);
  const std::array<ImVec2, 2> falling = {ImVec2{0, 0}, ImVec2{20, 100}};
  const std::vector<std::vector<Stroke>> steep = {strokes(falling)};
  const Box right = place_reference_label(kOnLeft, 50, 10, kArea, steep, {});
  EXPECT_GT(right.min.x, 0) << "it crosses both sides of the line on the left";
  EXPECT_FALSE(crosses(right, falling[0], falling[1]));
}

TEST(PlaceMarkLabel, IsBesideItsLineWhereNoCurvePasses) {
  const ImVec2 size(30, 10);
  const auto free = place_mark_label(size, 40, 5, kArea, {}, {});
  ASSERT_TRUE(free);
  EXPECT_EQ(free->min.x, 45);
  EXPECT_EQ(free->min.y, kArea.min.y);
  const std::vector<std::vector<Stroke>> along_the_top = {strokes(level_line(5))};
  const auto below = place_mark_label(size, 40, 5, kArea, along_the_top, {});
  ASSERT_TRUE(below);
  EXPECT_GT(below->min.y, 5);
  const auto second = place_mark_label(size, 40, 5, kArea, along_the_top, std::vector{*below});
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->min.y >= below->max.y || second->max.x <= below->min.x);
}

TEST(PlaceReferenceLabel, LeavesANoisyCurveThatFollowsItsLine) {
  const std::array<ImVec2, 4> points = {ImVec2{0, 47}, ImVec2{30, 53}, ImVec2{60, 47},
                                        ImVec2{100, 53}};
  const std::vector<std::vector<Stroke>> noisy = {strokes(points)};
  const Box box = place_reference_label(kOnLeft, 50, 10, kArea, noisy, {});
  EXPECT_TRUE(box.min.y > 53 || box.max.y < 47);
}

// Many noisy curves cover the line everywhere but on the right, where each leaves a gap above it.
TEST(PlaceReferenceLabel, FindsTheGapOfManyNoisyCurvesByTheirColumns) {
  constexpr int kPoints = 20'000;
  std::vector<std::vector<ImVec2>> curves(20);
  std::vector<std::vector<Stroke>> lines;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (int i = 0; i < kPoints; ++i) {
      const float x = 200.0F * static_cast<float>(i) / kPoints;
      const float top = x > 120 ? 51.0F : 10.0F;
      curves[c].emplace_back(x, i % 2 == 0 ? top + static_cast<float>(c) / 20 : 90.0F);
    }
    lines.push_back(strokes(curves[c]));
    EXPECT_LE(lines[c].size(), 201U) << "the search reads one stroke per column";
  }
  const Box box = place_reference_label(kOnLeft, 50, 10, kArea, lines, {});
  EXPECT_GT(box.min.x, 120);
  EXPECT_LT(box.max.y, 51);
  for (const std::vector<ImVec2>& curve : curves) {
    for (std::size_t i = 1; i < curve.size(); ++i) {
      ASSERT_FALSE(crosses(box, curve[i - 1], curve[i])) << i;
    }
  }
}

TEST(PlaceReferenceLabel, AvoidsOtherLabels) {
  const std::array taken = {kOnLeft};
  const Box box = place_reference_label(kOnLeft, 50, 10, kArea, {}, taken);
  EXPECT_TRUE(box.max.y <= kOnLeft.min.y || box.min.x >= kOnLeft.max.x);
}

// --- corners --------------------------------------------------------------------------------

TEST(DrawPath, AcuteCornersKeepTheWidthOfTheirSides) {
  test::NullBackend backend;
  const auto vertices = [&](std::span<const ImVec2> points) {
    int count = 0;
    backend.frame([&] {
      ImDrawList* list = ImGui::GetWindowDrawList();
      const int before = list->VtxBuffer.Size;
      draw_path(list, points, IM_COL32_WHITE, Line::Solid, 2, 1);
      count = list->VtxBuffer.Size - before;
    });
    return count;
  };
  const std::array<ImVec2, 3> spike = {ImVec2{10, 10}, ImVec2{12, 90}, ImVec2{14, 10}};
  const std::array<ImVec2, 3> bend = {ImVec2{10, 10}, ImVec2{40, 20}, ImVec2{70, 10}};
  const std::span<const ImVec2> side = std::span(spike).first(2);
  EXPECT_EQ(vertices(spike), 2 * vertices(side)) << "two lines, each of its full width";
  EXPECT_LT(vertices(bend), 2 * vertices(side)) << "one line";
}

// --- noisy lines ----------------------------------------------------------------------------

// Every column from the first to the last point has a stroke that touches the one before it.
void expect_connected(const std::vector<Stroke>& strokes, float first, float last) {
  ASSERT_FALSE(strokes.empty());
  EXPECT_EQ(strokes.front().column, first);
  EXPECT_EQ(strokes.back().column, last);
  for (std::size_t i = 1; i < strokes.size(); ++i) {
    EXPECT_EQ(strokes[i].column, strokes[i - 1].column + 1);
    EXPECT_LE(strokes[i].low, strokes[i - 1].high + 1e-3F) << i;
    EXPECT_GE(strokes[i].high, strokes[i - 1].low - 1e-3F) << i;
  }
}

TEST(Envelope, ConnectsPointsThatLeaveColumnsEmpty) {
  std::vector<ImVec2> line;
  line.reserve(100);
  for (int i = 0; i < 100; ++i) {
    line.emplace_back(10.3F + 2.7F * static_cast<float>(i), i % 2 == 0 ? 5.0F : 90.0F);
  }
  const std::vector<Stroke> strokes = envelope(line, 0, 400);
  expect_connected(strokes, 10, std::floor(line.back().x));
  float low = 1e9F, high = -1e9F;
  for (const Stroke& s : strokes) {
    low = std::min(low, s.low);
    high = std::max(high, s.high);
  }
  EXPECT_EQ(low, 5);
  EXPECT_EQ(high, 90);
}

TEST(Envelope, KeepsTheExtremesOfCrowdedColumns) {
  const std::vector<ImVec2> line = {{3.1F, 10}, {3.2F, 2}, {3.3F, 40}, {3.9F, 20}, {4.5F, 21}};
  const std::vector<Stroke> strokes = envelope(line, 0, 10);
  ASSERT_EQ(strokes.size(), 2u);
  EXPECT_EQ(strokes[0].low, 2);
  EXPECT_EQ(strokes[0].high, 40);
  EXPECT_LE(strokes[1].high, 21);
}

TEST(Envelope, IsLimitedToTheVisibleColumns) {
  const std::vector<ImVec2> line = {{-1e7F, 0}, {50, 10}, {1e7F, 20}};
  expect_connected(envelope(line, 20, 80), 20, 80);
}

// --- CSV ------------------------------------------------------------------------------------

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

TEST(Csv, RoundTripsNumbers) {
  const std::vector<double> x{0.1 + 0.2}, y{1.0 / 3};
  const std::array<Series, 1> series{Series{.label = "s", .x = x, .y = y}};
  EXPECT_EQ(to_csv({}, series),
            "x,series,y,low,high\n0.30000000000000004,s,0.3333333333333333,,\n");
}

// --- the widget -----------------------------------------------------------------------------

using test::NullBackend;

class PlotTest : public ::testing::TestWithParam<float> {
 protected:
  PlotTest() {
    for (int i = 0; i <= 100; ++i) {
      x.push_back(i);
      y.push_back(i * 0.5);
      z.push_back(100 - i);
    }
    series = {Series{.label = "train", .color = b.ui.theme->accent, .x = x, .y = y},
              Series{.label = "test", .color = b.ui.theme->good, .x = x, .y = z}};
  }
  void draw() { plot::draw(b.ui, "page/loss", axes, series, options, commands); }
  std::function<void()> drawing() {
    return [this] { draw(); };
  }
  PlotState& state() { return b.ui.plots["page/loss"]; }
  // Position in the plot, in fractions of the widget's size.
  ImVec2 at(float share_x, float share_y) {
    const WidgetRect* w = b.find("page/loss");
    return {w->min.x + (w->max.x - w->min.x) * share_x, w->min.y + (w->max.y - w->min.y) * share_y};
  }

  NullBackend b{GetParam()};
  std::vector<double> x, y, z;
  Axes axes{.x = {.label = "step", .whole = true}, .y = {.label = "loss"}};
  std::vector<Series> series;
  Options options{.height = 300};
  Commands commands;
};

TEST_P(PlotTest, RecordsItsWidgetAndRanges) {
  b.frame(drawing());
  const WidgetRect* w = b.find("page/loss");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->kind, "plot");
  EXPECT_EQ(w->value, "x 0..100 y 0..106");
  EXPECT_FLOAT_EQ(w->max.y - w->min.y, 300 * GetParam());
}

TEST_P(PlotTest, LegendHidesAndShowsSeries) {
  b.frame(drawing());
  EXPECT_EQ(b.find("page/loss/legend/test")->value, "shown");
  b.click("page/loss/legend/test", drawing());
  EXPECT_EQ(b.find("page/loss/legend/test")->value, "hidden");
  EXPECT_TRUE(state().hidden.contains("test"));
  EXPECT_EQ(b.find("page/loss")->value, "x 0..100 y 0..53") << "the axis follows what is shown";
  b.click("page/loss/legend/test", drawing());
  EXPECT_TRUE(state().hidden.empty());
}

TEST_P(PlotTest, LegendTakesOneLineUntilItIsOpened) {
  series.clear();
  for (int i = 0; i < 40; ++i) {
    series.push_back({.label = "kernel " + std::to_string(i), .x = x, .y = y});
  }
  const auto entries = [&] {
    std::vector<WidgetRect> found;
    for (const WidgetRect& w : b.ui.widgets.all()) {
      if (w.path.starts_with("page/loss/legend/")) found.push_back(w);
    }
    return found;
  };
  b.frame(drawing());
  const std::vector<WidgetRect> line = entries();
  ASSERT_GT(line.size(), 1U);
  for (const WidgetRect& w : line) EXPECT_EQ(w.min.y, line.front().min.y) << w.path;
  const WidgetRect more = *b.find("page/loss/whole_legend");
  EXPECT_EQ(more.label, "+" + std::to_string(40 - line.size()));
  EXPECT_GE(more.min.x, line.back().max.x);
  EXPECT_LE(more.max.x, b.find("page/loss")->max.x);
  b.click("page/loss/whole_legend", drawing());
  EXPECT_EQ(entries().size(), 40U);
  EXPECT_EQ(b.find("page/loss/whole_legend")->label, "less");
  b.click("page/loss/legend/kernel 39", drawing());
  EXPECT_TRUE(state().hidden.contains("kernel 39"));
  b.click("page/loss/whole_legend", drawing());
  EXPECT_EQ(entries().size(), line.size());
}

TEST_P(PlotTest, LegendThatFitsHasNothingToOpen) {
  b.frame(drawing());
  EXPECT_EQ(b.ui.widgets.find("page/loss/whole_legend"), nullptr);
}

TEST_P(PlotTest, LegendCutsAnEntryThatIsWiderThanItsLine) {
  series[0].label = std::string(400, 'w');
  b.frame(drawing());
  const WidgetRect more = *b.find("page/loss/whole_legend");
  EXPECT_EQ(more.label, "+1");
  EXPECT_LE(more.max.x, b.find("page/loss")->max.x);
  EXPECT_LE(b.find("page/loss/legend/" + series[0].label)->max.x, more.min.x);
}

TEST_P(PlotTest, ControlWheelZoomsAroundThePointer) {
  b.frame(drawing());
  b.move_to(at(0.5F, 0.5F));
  b.frame(drawing());
  b.wheel(3);
  b.frame(drawing());
  EXPECT_FALSE(state().x || state().y) << "without Ctrl the page scrolls";
  b.control(true);
  b.frame(drawing());
  b.wheel(3);
  b.frame(drawing());
  b.frame(drawing());
  ASSERT_TRUE(state().x && state().y);
  EXPECT_NEAR(state().x->max - state().x->min, 100 * std::pow(0.85, 3), 0.01);
  EXPECT_GT(state().x->min, 10);
  EXPECT_LT(state().x->max, 90);
}

TEST_P(PlotTest, DraggingPansAndDoubleClickResets) {
  b.frame(drawing());
  b.drag(at(0.6F, 0.5F), at(0.4F, 0.5F), drawing());
  ASSERT_TRUE(state().x);
  EXPECT_GT(state().x->min, 15);
  EXPECT_NEAR(state().x->max - state().x->min, 100, 1e-6);
  b.frames(40, drawing());  // keeps the drag out of the double-click
  b.move_to(at(0.5F, 0.5F));
  for (int i = 0; i < 2; ++i) {
    b.mouse(0, true);
    b.frame(drawing());
    b.mouse(0, false);
    b.frame(drawing());
  }
  b.frame(drawing());
  EXPECT_FALSE(state().x);
  EXPECT_FALSE(state().y);
  EXPECT_EQ(b.find("page/loss")->value, "x 0..100 y 0..106");
}

TEST_P(PlotTest, RightDragZoomsIntoTheBox) {
  b.frame(drawing());
  b.drag(at(0.3F, 0.3F), at(0.6F, 0.7F), drawing(), 1);
  ASSERT_TRUE(state().x && state().y);
  EXPECT_LT(state().x->max - state().x->min, 40);
  EXPECT_LT(state().y->max - state().y->min, 80);
  EXPECT_EQ(b.ui.widgets.find("page/loss/menu/reset"), nullptr) << "a drag opens no menu";
}

TEST_P(PlotTest, TooltipDescribesTheNearestPoint) {
  series[0].describe = [](std::size_t i) { return "point " + std::to_string(i); };
  b.frame(drawing());
  b.move_to(at(0.98F, 0.5F));  // near x = 100, where y is about 50
  b.frames(2, drawing());
  const WidgetRect* tip = b.find("page/loss/tooltip");
  ASSERT_NE(tip, nullptr);
  EXPECT_EQ(tip->label, "train");
  EXPECT_TRUE(tip->value.starts_with("point 9") || tip->value == "point 100") << tip->value;
  series[0].describe = nullptr;
  b.frame(drawing());
  const std::string text = b.find("page/loss/tooltip")->value;
  EXPECT_TRUE(text.starts_with("train\nstep\t")) << text;
  EXPECT_NE(text.find("\nloss\t"), std::string::npos) << text;
}

TEST_P(PlotTest, NoTooltipBeyondTheEndsOfACurve) {
  axes.x.max = 400;
  b.frame(drawing());
  b.move_to(at(0.9F, 0.5F));
  b.frames(2, drawing());
  EXPECT_EQ(b.ui.widgets.find("page/loss/tooltip"), nullptr);
  b.move_to(at(0.2F, 0.5F));
  b.frames(2, drawing());
  EXPECT_NE(b.ui.widgets.find("page/loss/tooltip"), nullptr);
}

// The tooltip gets the position in the series, also of a point that stands for others.
TEST_P(PlotTest, TooltipOfALongSeriesNamesThePointsPosition) {
  x.clear();
  y.clear();
  for (int i = 0; i < 20'000; ++i) {
    x.push_back(std::floor(i / 2.0));  // two points at each x
    y.push_back(std::sin(i * 0.001) + (i % 2 == 0 ? 0.2 : 0));
  }
  series = {Series{.label = "train", .color = b.ui.theme->accent, .x = x, .y = y}};
  std::size_t named = x.size();
  series[0].describe = [&](std::size_t i) {
    named = i;
    return std::string("here");
  };
  for (const float share : {0.2F, 0.5F, 0.9F}) {
    b.frame(drawing());
    b.move_to(at(share, 0.5F));
    b.frames(2, drawing());
    ASSERT_LT(named, x.size());
    const float from = at(0, 0).x, width = at(1, 0).x - from;
    EXPECT_NEAR(x[named], 1e4 * (at(share, 0).x - from) / width, 900) << share;
  }
}

TEST_P(PlotTest, MenuSavesAndCopies) {
  b.frame(drawing());
  b.click_at(at(0.5F, 0.5F), drawing(), 1);
  b.click("page/loss/menu/save-csv", drawing());
  ASSERT_EQ(commands.size(), 1U);
  const auto save = std::get<SaveText>(commands[0]);
  EXPECT_TRUE(save.file.ends_with("page-loss.csv")) << save.file;
  EXPECT_EQ(save.text, to_csv(axes, series));
  b.click_at(at(0.5F, 0.5F), drawing(), 1);
  b.click("page/loss/menu/save-png", drawing());
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(std::get<SavePlotPng>(commands[1]).plot, "page/loss");
  b.click_at(at(0.5F, 0.5F), drawing(), 1);
  b.click("page/loss/menu/copy-csv", drawing());
  EXPECT_EQ(b.clipboard, save.text);
  b.frames(2, drawing());
  EXPECT_EQ(b.ui.widgets.find("page/loss/menu/reset"), nullptr) << "the menu closes";
}

TEST_P(PlotTest, MenuSwitchesScalesAndShowsData) {
  b.frame(drawing());
  b.click_at(at(0.5F, 0.5F), drawing(), 1);
  b.click("page/loss/menu/log-y", drawing());
  EXPECT_EQ(state().y_scale, Scale::Log10);
  b.click_at(at(0.5F, 0.5F), drawing(), 1);
  b.click("page/loss/menu/reset", drawing());
  EXPECT_FALSE(state().y_scale);
  b.click_at(at(0.5F, 0.5F), drawing(), 1);
  b.click("page/loss/menu/show-data", drawing());
  b.frames(3, drawing());
  ASSERT_NE(b.find("page/loss/data/rows"), nullptr);
  EXPECT_EQ(b.find("page/loss/data/rows/0")->value, "train\t0\t0");
  b.click("page/loss/data/close", drawing());
  b.frame(drawing());
  EXPECT_FALSE(state().show_data);
  EXPECT_EQ(b.ui.widgets.find("page/loss/data/rows"), nullptr);
}

TEST_P(PlotTest, OffersNoLogarithmOfTimesBeforeNow) {
  for (double& one : x) one -= 100;
  b.frame(drawing());
  b.click_at(at(0.5F, 0.5F), drawing(), 1);
  EXPECT_EQ(b.ui.widgets.find("page/loss/menu/log-x"), nullptr);
  EXPECT_NE(b.ui.widgets.find("page/loss/menu/log-y"), nullptr);
}

TEST_P(PlotTest, BandLabelsExtendOverUnlabelledNeighboursOnly) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<Band> alone{{"", 50}, {"a short one", 50.5}, {"", inf}};
  options.bands = alone;
  b.frames(2, drawing());
  EXPECT_NE(b.ui.widgets.find("page/loss/band/a short one"), nullptr);
  const std::vector<Band> between{{"left", 50}, {"a short one", 50.5}, {"right", inf}};
  options.bands = between;
  b.frames(2, drawing());
  EXPECT_EQ(b.ui.widgets.find("page/loss/band/a short one"), nullptr);
  EXPECT_NE(b.ui.widgets.find("page/loss/band/left"), nullptr);
}

TEST_P(PlotTest, TheLabelOfANarrowLastBandBeginsOverItsNeighbour) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<Band> narrow{{"wide", 97}, {"memory", inf}};
  options.bands = narrow;
  b.frames(2, drawing());
  EXPECT_NE(b.ui.widgets.find("page/loss/band/memory"), nullptr);
  EXPECT_NE(b.ui.widgets.find("page/loss/band/wide"), nullptr);
}

TEST_P(PlotTest, CursorIsShared) {
  LinkedCursor cursor;
  options.cursor = &cursor;
  const auto both = [&] {
    cursor.begin_frame();
    draw();
    plot::draw(b.ui, "page/other", axes, series, options, commands);
  };
  b.frame(both);
  b.move_to(at(0.5F, 0.5F));
  b.frames(3, both);
  ASSERT_TRUE(cursor.x);
  EXPECT_GT(*cursor.x, 30);
  EXPECT_LT(*cursor.x, 70);
  b.move_to({-1, -1});
  b.frames(3, both);
  EXPECT_FALSE(cursor.x);
}

// Smoke test: drawing accepts empty, non-finite, constant and extreme data.
TEST_P(PlotTest, DrawsUnusualData) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = INFINITY;
  const std::vector<std::vector<double>> odd{{},
                                             {5},
                                             {nan},
                                             {7, 7, 7},
                                             {nan, 1, nan, 2, nan},
                                             {-inf, inf, 3},
                                             {1e300, -1e300, 0},
                                             {1e-300, 2e-300, 3e-300},
                                             {0, 0, 0},
                                             {-1, -2, -3}};
  const Reference reference{.label = "peak", .y = 12, .color = b.ui.theme->muted};
  options.references = {&reference, 1};
  options.empty_text = "Nothing yet.";
  for (const auto& values : odd) {
    for (const bool bars : {false, true}) {
      series = {Series{.label = "odd",
                       .marker = Marker::Cross,
                       .bars = bars,
                       .x = values,
                       .y = values,
                       .low = values,
                       .high = values,
                       .whiskers = bars},
                Series{.label = "flat", .line = Line::Dotted, .x = x, .y = values}};
      for (const Scale scale : {Scale::Linear, Scale::Log10, Scale::Log2}) {
        axes.x.scale = axes.y.scale = scale;
        b.move_to({400, 200});
        b.frames(2, drawing());
      }
    }
  }
  EXPECT_NE(b.find("page/loss"), nullptr);
}

TEST_P(PlotTest, ThinsAMillionPoints) {
  std::vector<double> many(1000000), wave(many.size());
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i] = static_cast<double>(i);
    wave[i] = std::sin(static_cast<double>(i) * 0.7);
  }
  wave[654321] = 99;
  series = {Series{.label = "wave", .color = b.ui.theme->accent, .x = many, .y = wave}};
  b.frames(2, drawing());
  EXPECT_LT(ImGui::GetDrawData()->TotalVtxCount, 60000);
  EXPECT_EQ(b.find("page/loss")->value.substr(0, 12), "x 0..999999 ");
  EXPECT_NE(b.find("page/loss")->value.find("..105"), std::string::npos) << "the spike is kept";
}

TEST_P(PlotTest, PercentAxesScaleTheTooltipToo) {
  axes.y = {.label = "share", .percent = true};
  series = {Series{.label = "test", .color = b.ui.theme->accent, .x = x, .y = z}};
  for (double& share : z) share /= 200;
  b.frame(drawing());
  b.move_to(at(0.5F, 0.5F));
  b.frames(60, drawing());
  const WidgetRect* tip = b.ui.widgets.find("page/loss/tooltip");
  ASSERT_NE(tip, nullptr);
  EXPECT_NE(tip->value.find(" %"), std::string::npos) << tip->value;
}

TEST_P(PlotTest, WhiskersAreDrawnPerPoint) {
  const std::vector<double> two = {1, 2}, low = {0.5, 1}, high = {1.5, 3};
  const auto vertices = [&](bool band) {
    series = {Series{.label = "s",
                     .x = two,
                     .y = two,
                     .low = low,
                     .high = high,
                     .band = band,
                     .whiskers = true}};
    b.frames(2, drawing());
    return ImGui::GetDrawData()->TotalVtxCount;
  };
  const int without = vertices(false), bars = 2 * 3;  // per point a bar and two caps
  EXPECT_GE(vertices(true) - without, bars * 4);
}

TEST_P(PlotTest, SeriesOfAGroupShareALegendEntry) {
  series[0].group = series[1].group = "both";
  b.frames(2, drawing());
  EXPECT_EQ(b.ui.widgets.find("page/loss/legend/train"), nullptr);
  b.click("page/loss/legend/both", drawing());
  EXPECT_EQ(b.find("page/loss/legend/both")->value, "hidden");
}

INSTANTIATE_TEST_SUITE_P(Scales, PlotTest, ::testing::Values(1.0F, 2.0F));

}  // namespace
}  // namespace lab::ui::plot
