#include "ui/widgets/line_breaks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "tests/ui/null_backend.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string without(std::string text, char c) {
  std::erase(text, c);
  return text;
}

TEST(LineBreaks, KeepsNumbersWhole) {
  test::NullBackend b(1);
  ImFont* font = b.ui.fonts.body;
  EXPECT_EQ(break_lines(font, "", 40), "");
  for (int pixels = 50; pixels < 200; pixels += 3) {
    const auto width = static_cast<float>(pixels);
    const std::string broken = break_lines(font, "It took 2.75 ms,\nor 0.58 times as long.", width);
    EXPECT_NE(broken.find("2.75"), std::string::npos) << broken;
    EXPECT_NE(broken.find("0.58"), std::string::npos) << broken;
    for (const std::string& line : lines_of(broken)) {
      EXPECT_LE(text_size(font, line).x, width) << line;
    }
  }
}

TEST(LineBreaks, KeepANumberWithItsUnit) {
  test::NullBackend b(1);
  ImFont* font = b.ui.fonts.body;
  for (int pixels = 90; pixels < 300; pixels += 3) {
    const auto width = static_cast<float>(pixels);
    const std::string broken = break_lines(
        font, "It took 2.75 ms at 48.1 GB/s, of which 67 ns were lost in 2 steps", width);
    for (const std::string& line : lines_of(broken)) {
      EXPECT_FALSE(line.starts_with("ms") || line.starts_with("GB/s") || line.starts_with("ns"))
          << broken;
    }
  }
  EXPECT_EQ(break_lines(font, "it is 0.77 \u00b1 0.05", text_size(font, "0.77 \u00b1 0.05").x + 1),
            "it is\n0.77 \u00b1 0.05");
  EXPECT_EQ(break_lines(font, "at N = 512", text_size(font, "N = 512").x + 1), "at\nN = 512");
  EXPECT_EQ(break_lines(font, "2 steps", text_size(font, "steps").x), "2\nsteps") << "not a unit";
}

TEST(LineBreaks, KeepACallOnOneLine) {
  test::NullBackend b(1);
  ImFont* font = b.ui.fonts.caption;
  const float least = text_size(font, "full((2, 3), 1).").x + 1;
  for (int more = 0; more < 300; more += 7) {
    const float width = least + static_cast<float>(more);
    const std::string broken = break_lines(
        font, "create one of that number, as in full((2, 3), 1). Or two (a, b).", width);
    EXPECT_NE(broken.find("full((2, 3), 1)."), std::string::npos) << broken;
  }
  EXPECT_EQ(break_lines(font, "two (a, b)", text_size(font, "two (a,").x + 1), "two (a,\nb)")
      << "prose";
}

TEST(LineBreaks, AreKeptByFontTextAndWidth) {
  const ImFont font, other;
  DividedTexts divided;
  divided.keep(&font, "one two", 50, "one\ntwo");
  ASSERT_NE(divided.find(&font, "one two", 50), nullptr);
  EXPECT_EQ(*divided.find(&font, "one two", 50), "one\ntwo");
  EXPECT_EQ(divided.find(&font, "one two", 51), nullptr);
  EXPECT_EQ(divided.find(&font, "one tw", 50), nullptr);
  EXPECT_EQ(divided.find(&other, "one two", 50), nullptr);
  divided.clear();
  EXPECT_EQ(divided.find(&font, "one two", 50), nullptr);
}

TEST(LineBreaks, AreKeptForRecentTextsOnly) {
  const ImFont font;
  DividedTexts divided;
  divided.keep(&font, "in every frame", 50, "lines");
  for (std::size_t i = 0; i < 10 * DividedTexts::kMost; ++i) {
    divided.keep(&font, std::to_string(i), 50, "");
    ASSERT_NE(divided.find(&font, "in every frame", 50), nullptr) << i;
    ASSERT_LE(divided.size(), 2 * DividedTexts::kMost);
  }
  EXPECT_EQ(divided.find(&font, "0", 50), nullptr);
}

TEST(LineBreaks, DividesAWordWiderThanALine) {
  test::NullBackend b(1);
  ImFont* font = b.ui.fonts.body;
  const std::string path = "/a/folder/with/a/long/name/file.json";
  const std::string broken = break_lines(font, path, 60);
  EXPECT_EQ(without(broken, '\n'), path);
  for (const std::string& line : lines_of(broken)) EXPECT_LE(text_size(font, line).x, 60) << line;
}

TEST(LineBreaks, FitsEveryLineAndKeepsEveryCharacter) {
  test::NullBackend b(1);
  ImFont* font = b.ui.fonts.body;
  const std::string text =
      "まだ学習していません。各ステップの損失、cpu:0 の精度（10 回）を観察できます。";
  for (int pixels = 60; pixels < 400; pixels += 7) {
    const auto width = static_cast<float>(pixels);
    const std::string broken = break_lines(font, text, width);
    EXPECT_EQ(without(without(broken, '\n'), ' '), without(text, ' '));
    for (const std::string& line : lines_of(broken)) {
      EXPECT_LE(text_size(font, line).x, width) << line;
      EXPECT_FALSE(line.starts_with("、") || line.starts_with("。") || line.starts_with("）"))
          << line;
      EXPECT_FALSE(line.ends_with("（")) << line;
      EXPECT_FALSE(line.starts_with(" ") || line.ends_with(" ")) << line;
    }
  }
}

TEST(LineBreaks, KeepsWordsAndGivenBreaks) {
  test::NullBackend b(1);
  const std::string broken =
      break_lines(b.ui.fonts.body, "设备 cpu:0\n使用 try_all_gpus() 测量", 120);
  const auto lines = lines_of(broken);
  EXPECT_EQ(lines.front(), "设备 cpu:0");
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("try_all_gpus()") != std::string::npos;
  })) << broken;
}

}  // namespace
}  // namespace lab::ui
