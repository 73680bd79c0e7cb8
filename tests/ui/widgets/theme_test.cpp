#include "ui/theme.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/ui/null_backend.h"

namespace lab::ui {
namespace {

class ThemeTest : public ::testing::TestWithParam<ThemeMode> {
 protected:
  const Theme& t = theme(GetParam());
};

TEST_P(ThemeTest, TextIsReadableOnEverySurface) {
  for (const ImU32 surface : {t.page, t.card, t.raised}) {
    EXPECT_GE(contrast(t.text, surface), 7.0);
    EXPECT_GE(contrast(t.muted, surface), 4.5);
  }
  EXPECT_GE(contrast(t.text, t.hover), 4.5);
  EXPECT_GE(contrast(t.text, t.active), 4.5);
  EXPECT_GE(contrast(t.accent_text, t.accent), 4.5);
}

TEST_P(ThemeTest, StatesAreReadableOnACard) {
  for (const ImU32 color : {t.good, t.warning, t.bad, t.accent}) {
    EXPECT_GE(contrast(color, t.card), 4.5);
  }
}

TEST_P(ThemeTest, SeriesStandOutFromTheCardAndFromEachOther) {
  std::set<ImU32> seen;
  for (int i = 0; i < 8; ++i) {
    EXPECT_GE(contrast(series_color(t, i), t.card), 3.0) << i;
    EXPECT_TRUE(seen.insert(series_color(t, i)).second) << i;
  }
  EXPECT_EQ(series_color(t, 8), series_color(t, 0));
  EXPECT_EQ(series_color(t, -1), series_color(t, 7));
}

TEST_P(ThemeTest, DevicesKeepTheirColourAndCpuAndGpuDiffer) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_GE(contrast(device_color(t, cpu(i)), t.card), 3.0);
    EXPECT_GE(contrast(device_color(t, gpu(i)), t.card), 3.0);
    EXPECT_NE(device_color(t, cpu(i)), device_color(t, gpu(i)));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ThemeTest, ::testing::Values(ThemeMode::Dark, ThemeMode::Light));

TEST(Contrast, MatchesTheWcagExtremes) {
  EXPECT_NEAR(contrast(IM_COL32_BLACK, IM_COL32_WHITE), 21.0, 1e-9);
  EXPECT_NEAR(contrast(IM_COL32_WHITE, IM_COL32_WHITE), 1.0, 1e-9);
  EXPECT_NEAR(contrast(IM_COL32(0x77, 0x77, 0x77, 255), IM_COL32_WHITE), 4.48, 0.01);
}

TEST(WithAlpha, KeepsTheHueAndClamps) {
  EXPECT_EQ(with_alpha(IM_COL32(1, 2, 3, 255), 0.5F), IM_COL32(1, 2, 3, 128));
  EXPECT_EQ(with_alpha(IM_COL32(1, 2, 3, 9), 7), IM_COL32(1, 2, 3, 255));
  EXPECT_EQ(with_alpha(IM_COL32(1, 2, 3, 9), -1), IM_COL32(1, 2, 3, 0));
}

TEST(Fonts, HaveAllGlyphsAtBothScales) {
  for (const float scale : {1.0F, 2.0F}) {
    const test::NullBackend backend(scale);
    const Fonts& f = backend.ui.fonts;
    for (const ImFont* font : {f.body, f.strong, f.caption, f.title, f.figure, f.mono}) {
      ASSERT_NE(font, nullptr);
      for (const int c : {0x41, 0xB5, 0xD7, 0x2013, 0x2026, 0x2192, 0x2265}) {
        EXPECT_NE(font->FindGlyphNoFallback(static_cast<ImWchar>(c)), nullptr) << c;
      }
    }
    EXPECT_NEAR(f.body->FontSize, 18 * scale, 1);
    EXPECT_FLOAT_EQ(f.mono->GetCharAdvance('1'), f.mono->GetCharAdvance('8'));
  }
}

}  // namespace
}  // namespace lab::ui
