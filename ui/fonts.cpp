// Finds the lab's fonts on the system and adds them to ImGui's atlas.
#include <fontconfig/fontconfig.h>
#include <imgui.h>
#include <imgui_freetype.h>

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "ui/theme.h"

namespace lab::ui {
namespace {

// Latin, Greek, punctuation, super- and subscripts, arrows and the mathematical symbols in use.
constexpr std::array<ImWchar, 13> kRanges{0x0020, 0x017F, 0x0391, 0x03C9, 0x2010, 0x2027, 0x2070,
                                          0x209C, 0x2190, 0x2199, 0x2200, 0x2265, 0};

struct ConfigDestroy {
  void operator()(FcConfig* config) const { FcConfigDestroy(config); }
};
struct PatternDestroy {
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
};
using Config = std::unique_ptr<FcConfig, ConfigDestroy>;
using Pattern = std::unique_ptr<FcPattern, PatternDestroy>;

struct FontFile {
  std::string path;
  int face = 0;
};

const FcChar8* fc(const char* text) {
  return reinterpret_cast<const FcChar8*>(text);
}

// Returns the file of exactly this family, upright, at about this weight; empty if it is not
// installed. fontconfig itself would return a substitute.
std::optional<FontFile> find_exact(FcConfig* config, const char* family, int weight) {
  Pattern wanted(FcPatternCreate());
  FcPatternAddString(wanted.get(), FC_FAMILY, fc(family));
  FcPatternAddInteger(wanted.get(), FC_WEIGHT, weight);
  FcPatternAddInteger(wanted.get(), FC_SLANT, FC_SLANT_ROMAN);
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  FcConfigSubstitute(config, wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultNoMatch;
  Pattern found(FcFontMatch(config, wanted.get(), &result));
  if (!found) return std::nullopt;
  FcChar8 *name = nullptr, *file = nullptr;
  if (FcPatternGetString(found.get(), FC_FAMILY, 0, &name) != FcResultMatch) return std::nullopt;
  if (FcStrCmpIgnoreCase(name, fc(family)) != 0) return std::nullopt;
  if (FcPatternGetString(found.get(), FC_FILE, 0, &file) != FcResultMatch) return std::nullopt;
  FontFile out{reinterpret_cast<const char*>(file), 0};
  FcPatternGetInteger(found.get(), FC_INDEX, 0, &out.face);
  return out;
}

template <std::size_t N>
std::optional<FontFile> find_first(FcConfig* config, const std::array<const char*, N>& families,
                                   int weight) {
  for (const char* family : families) {
    if (auto found = find_exact(config, family, weight)) return found;
  }
  return std::nullopt;
}

// ImGui interprets the size as the line height, designers as the em. Both families have lines of
// about 1.2 em, so the requested size is scaled up accordingly.
ImFont* add(const std::optional<FontFile>& file, float units, float scale) {
  constexpr float kLinePerEm = 1.2F;
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  ImFontConfig config;
  config.OversampleH = config.OversampleV = 1;
  config.PixelSnapH = true;
  config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  config.GlyphRanges = kRanges.data();
  const float size = std::round(units * kLinePerEm * scale);
  if (!file) {
    config.SizePixels = size;
    return atlas->AddFontDefault(&config);
  }
  config.FontNo = file->face;
  return atlas->AddFontFromFileTTF(file->path.c_str(), size, &config, kRanges.data());
}

}  // namespace

Fonts load_fonts(float scale) {
  ImGui::GetIO().Fonts->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  const Config config(FcInitLoadConfigAndFonts());
  constexpr std::array kSans{"Inter", "DejaVu Sans", "Noto Sans", "Liberation Sans"};
  constexpr std::array kMono{"JetBrains Mono", "DejaVu Sans Mono", "Noto Sans Mono",
                             "Liberation Mono"};
  const auto regular = find_first(config.get(), kSans, FC_WEIGHT_REGULAR);
  const auto strong = find_first(config.get(), kSans, FC_WEIGHT_DEMIBOLD);
  const auto mono = find_first(config.get(), kMono, FC_WEIGHT_REGULAR);
  Fonts fonts;
  fonts.body = add(regular, 15, scale);
  fonts.caption = add(regular, 13, scale);
  fonts.strong = add(strong, 15, scale);
  fonts.title = add(strong, 20, scale);
  fonts.figure = add(strong, 28, scale);
  fonts.mono = add(mono, 15, scale);
  return fonts;
}

}  // namespace lab::ui
