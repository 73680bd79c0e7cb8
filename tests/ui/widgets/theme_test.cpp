#include "ui/theme.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "tests/support/catalogs.h"
#include "tests/ui/null_backend.h"
#include "ui/pages/step_timeline.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/widgets.h"

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

TEST_P(ThemeTest, DisabledTextAndPartsOfAStepStandOut) {
  for (const ImU32 surface : {t.page, t.card, t.raised}) {
    EXPECT_GE(contrast(t.disabled, surface), 3.0);
  }
  std::set<ImU32> seen;
  for (const StepPart part :
       {StepPart::Compute, StepPart::Hidden, StepPart::Waiting, StepPart::Exposed}) {
    EXPECT_GE(contrast(step_part_color(t, part), t.card), 3.0) << name_of(part);
    EXPECT_TRUE(seen.insert(step_part_color(t, part)).second) << name_of(part);
  }
}

// Sum of the differences of two colours' channels.
int distance(ImU32 a, ImU32 b) {
  int sum = 0;
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT}) {
    sum += std::abs(static_cast<int>((a >> shift) & 0xFF) - static_cast<int>((b >> shift) & 0xFF));
  }
  return sum;
}

TEST_P(ThemeTest, NoSeriesHasTheColourOfADevice) {
  for (int device = 0; device < 4; ++device) {
    for (int i = 0; i < 8; ++i) {
      EXPECT_GE(distance(device_color(t, cpu(device)), series_color(t, i)), 40) << device << i;
      EXPECT_GE(distance(device_color(t, gpu(device)), series_color(t, i)), 40) << device << i;
      EXPECT_GE(distance(device_color(t, emulated_gpu(device)), series_color(t, i)), 40)
          << device << i;
    }
  }
}

void expect_legible(const std::vector<Swatch>& legend, const Theme& t) {
  std::set<ImU32> seen;
  for (const Swatch& swatch : legend) {
    EXPECT_GE(contrast(swatch.color, t.card), 3.0) << swatch.text;
    EXPECT_TRUE(seen.insert(swatch.color).second) << swatch.text;
  }
}

TEST_P(ThemeTest, PartsOfTheTimelineAndOfTheLayersStandOut) {
  StepTimeline timeline;
  timeline.devices.resize(2);
  const std::vector<Swatch> legend = timeline_legend(t, timeline);
  EXPECT_EQ(legend.size(), 7U);
  expect_legible(legend, t);
  TrainingProfile both;
  both.totals.resize(2);
  both.totals[1].kernels = Kernels::Library;
  expect_legible(layers_legend(t, both), t);
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

TEST_P(ThemeTest, EmulatedGpusDifferFromEachOtherAndFromOtherDevices) {
  constexpr int kDevices = 4, kApart = 80;
  for (int i = 0; i < kDevices; ++i) {
    const ImU32 color = device_color(t, emulated_gpu(i));
    EXPECT_GE(contrast(color, t.card), 3.0) << i;
    for (int other = 0; other < kDevices; ++other) {
      for (const Device device : {cpu(other), gpu(other), emulated_gpu(other)}) {
        if (device == emulated_gpu(i)) continue;
        EXPECT_GE(distance(color, device_color(t, device)), kApart) << i << to_string(device);
      }
    }
  }
}

TEST_P(ThemeTest, RunsNeverLookLikeDevices) {
  constexpr int kDevices = 8, kApart = 60;
  for (int run = 0; run < kRunColors; ++run) {
    EXPECT_GE(contrast(run_color(t, run), t.card), 3.0) << run;
    for (int other = 0; other < run; ++other) {
      EXPECT_GE(distance(run_color(t, run), run_color(t, other)), kApart) << run << ", " << other;
    }
    for (int i = 0; i < kDevices; ++i) {
      for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Emulated}) {
        EXPECT_GE(distance(run_color(t, run), device_color(t, {kind, i})), kApart)
            << run << ", " << to_string(Device{kind, i});
      }
    }
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

TEST(Fonts, GetTheCharactersOfTheCatalog) {
  const test::WithCatalog catalog(std::map<std::string, std::string>{{"Memory", "Bộ nhớ"}});
  const test::NullBackend backend;
  const Fonts& f = backend.ui.fonts;
  for (const int c : {0x1ED9, 0x1EDB}) {
    EXPECT_NE(f.body->FindGlyphNoFallback(static_cast<ImWchar>(c)), nullptr) << c;
    EXPECT_NE(f.title->FindGlyphNoFallback(static_cast<ImWchar>(c)), nullptr) << "a page's name";
    EXPECT_EQ(f.figure->FindGlyphNoFallback(static_cast<ImWchar>(c)), nullptr) << c;
  }
}

TEST(Fonts, GetTheCharactersOfTextsThatAreDrawn) {
  test::NullBackend backend;
  const auto build = [&] {
    backend.ui.fonts = backend.fonts.load(1);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  };
  backend.frame([&] { body(backend.ui, "plain µs"); });
  EXPECT_FALSE(backend.fonts.stale());
  backend.frame([&] { body(backend.ui, "thiết bị"); });
  EXPECT_TRUE(backend.fonts.stale());
  build();
  EXPECT_FALSE(backend.fonts.stale());
  EXPECT_NE(backend.ui.fonts.body->FindGlyphNoFallback(0x1EBF), nullptr);
  // No font has the character: the fonts are not built again for it.
  for (int i = 0; i < 2; ++i) {
    backend.frame([&] { body(backend.ui, "\uE123"); });
    if (backend.fonts.stale()) build();
  }
  backend.frame([&] { body(backend.ui, "\uE123"); });
  EXPECT_FALSE(backend.fonts.stale());
}

TEST(Fonts, TellWhichLanguagesTheyShow) {
  const FontSet fonts;
  EXPECT_TRUE(fonts.shows(Language::English));
  EXPECT_TRUE(fonts.shows(Language::Vietnamese));
  EXPECT_EQ(fonts.why_not_shown(Language::Japanese).find("fonts-noto-cjk") == std::string::npos,
            fonts.shows(Language::Japanese));
  if (!fonts.shows(Language::Chinese)) GTEST_SKIP() << "no Chinese font is installed";
  const test::WithCatalog catalog(std::map<std::string, std::string>{{"Memory", "内存"}});
  const test::NullBackend backend;
  EXPECT_NE(backend.ui.fonts.body->FindGlyphNoFallback(0x5185), nullptr);
}

}  // namespace
}  // namespace lab::ui
