#include "ui/fonts.h"

#include <fontconfig/fontconfig.h>
#include <imgui_freetype.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/language_catalogs.h"
#include "ui/page.h"

namespace lab::ui {
// Named because FontSet::Files has members of these types.
namespace font_files {

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

// Returns the file of a font that covers a language, given by fontconfig's name, at about this
// weight: of the preferred family if it is installed.
std::optional<FontFile> find_covering(FcConfig* config, const char* family, const char* language,
                                      int weight) {
  if (auto found = find_exact(config, family, weight)) return found;
  Pattern wanted(FcPatternCreate());
  FcPatternAddString(wanted.get(), FC_LANG, fc(language));
  FcPatternAddInteger(wanted.get(), FC_WEIGHT, weight);
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  FcConfigSubstitute(config, wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultNoMatch;
  Pattern found(FcFontMatch(config, wanted.get(), &result));
  FcLangSet* languages = nullptr;
  FcChar8* file = nullptr;
  if (!found || FcPatternGetLangSet(found.get(), FC_LANG, 0, &languages) != FcResultMatch ||
      FcLangSetHasLang(languages, fc(language)) != FcLangEqual ||
      FcPatternGetString(found.get(), FC_FILE, 0, &file) != FcResultMatch) {
    return std::nullopt;
  }
  FontFile out{reinterpret_cast<const char*>(file), 0};
  FcPatternGetInteger(found.get(), FC_INDEX, 0, &out.face);
  return out;
}

// A font that is merged into several others; read once, since the files have tens of megabytes.
struct Merged {
  FontFile file;
  std::vector<std::uint8_t> bytes;
};

struct Ideographs {
  std::optional<Merged> regular, strong;
};

// The first code point that the Latin fonts do not provide: CJK radicals and punctuation.
constexpr ImWchar kFirstIdeograph = 0x2E80;

ImFontConfig font_config(int face) {
  ImFontConfig config;
  config.OversampleH = config.OversampleV = 1;
  config.PixelSnapH = true;
  config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  config.FontNo = face;
  return config;
}

// Splits the characters into those of the Latin fonts and those of the CJK font.
void split(const ImFontGlyphRangesBuilder& all, ImVector<ImWchar>& latin,
           ImVector<ImWchar>& ideographs) {
  ImFontGlyphRangesBuilder below, above;
  below.AddRanges(kRanges.data());
  for (unsigned c = 0; c <= IM_UNICODE_CODEPOINT_MAX; ++c) {
    if (all.GetBit(c)) (c < kFirstIdeograph ? below : above).SetBit(c);
  }
  latin.clear();
  ideographs.clear();
  below.BuildRanges(&latin);
  above.BuildRanges(&ideographs);
}

// Returns nothing if the file cannot be read.
std::vector<std::uint8_t> bytes_of(const std::string& path) {
  try {
    return files::read_file(path);
  } catch (const Error&) {
    return {};
  }
}

// ImGui interprets the size as the line height, designers as the em. Both families have lines of
// about 1.2 em, so the requested size is scaled up accordingly.
constexpr float kLinePerEm = 1.2F;
// The lines of CJK fonts are higher; their characters get the em of the Latin ones.
constexpr float kCjkLinePerEm = 1.448F;

ImFont* add(const std::optional<FontFile>& file, float size, const ImVector<ImWchar>& ranges) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  ImFontConfig config = font_config(file ? file->face : 0);
  config.GlyphRanges = ranges.Data;
  if (file) return atlas->AddFontFromFileTTF(file->path.c_str(), size, &config, ranges.Data);
  config.SizePixels = size;
  return atlas->AddFontDefault(&config);
}

void merge(Merged& font, float size, const ImVector<ImWchar>& ranges) {
  ImFontConfig config = font_config(font.file.face);
  config.MergeMode = true;
  config.FontDataOwnedByAtlas = false;
  ImGui::GetIO().Fonts->AddFontFromMemoryTTF(font.bytes.data(), static_cast<int>(font.bytes.size()),
                                             size, &config, ranges.Data);
}

struct Script {
  const char *family, *language;
};

// By language; CJK fonts of every language have the characters of the others, in its own style.
constexpr Script kChinese{"Noto Sans CJK SC", "zh-cn"}, kJapanese{"Noto Sans CJK JP", "ja"};

}  // namespace font_files

using namespace font_files;

struct FontSet::Files {
  Config config{FcInitLoadConfigAndFonts()};
  std::optional<FontFile> regular, strong, mono;
  Ideographs chinese, japanese;

  Files() {
    constexpr std::array kSans{"Inter", "DejaVu Sans", "Noto Sans", "Liberation Sans"};
    constexpr std::array kMono{"JetBrains Mono", "DejaVu Sans Mono", "Noto Sans Mono",
                               "Liberation Mono"};
    regular = find_first(config.get(), kSans, FC_WEIGHT_REGULAR);
    strong = find_first(config.get(), kSans, FC_WEIGHT_DEMIBOLD);
    mono = find_first(config.get(), kMono, FC_WEIGHT_REGULAR);
    find(chinese, kChinese);
    find(japanese, kJapanese);
  }

  void find(Ideographs& to, const Script& script) const {
    const auto named = [&](int weight) -> std::optional<Merged> {
      auto file = find_covering(config.get(), script.family, script.language, weight);
      if (!file) return std::nullopt;
      return Merged{*std::move(file), {}};
    };
    to = {named(FC_WEIGHT_REGULAR), named(FC_WEIGHT_DEMIBOLD)};
  }

  // The CJK font for texts in the active language; null if none is installed.
  Merged* ideographs(bool bold) {
    const bool first_japanese = language() == Language::Japanese;
    for (Ideographs* one : {first_japanese ? &japanese : &chinese, &chinese, &japanese}) {
      std::optional<Merged>& font = bold ? one->strong : one->regular;
      if (!font) continue;
      if (font->bytes.empty()) font->bytes = bytes_of(font->file.path);
      if (!font->bytes.empty()) return &*font;
    }
    return nullptr;
  }
};

FontSet::FontSet() : files_(std::make_unique<Files>()) {}

FontSet::~FontSet() = default;

bool FontSet::shows(Language language) const {
  if (language == Language::Chinese) return files_->chinese.regular.has_value();
  if (language == Language::Japanese) return files_->japanese.regular.has_value();
  return true;
}

std::string FontSet::why_not_shown(Language language) const {
  if (shows(language)) return {};
  return tr(
      "No font with the characters of this language was found; install the package "
      "fonts-noto-cjk and start again. Until then, texts are in English.");
}

namespace {

// The fonts of a load, in the order of Fonts.
enum Slot : std::size_t { kBody, kCaption, kStrong, kTitle, kFigure, kMono };

}  // namespace

// Adds the characters of the active catalog to the fonts that show sentences, and those of the page
// names to the title's.
void FontSet::add_catalog() {
  const MoCatalog& catalog = active_catalog();
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    const std::string_view text = catalog.translation(i);
    for (const Slot slot : {kBody, kCaption, kStrong}) {
      characters_[slot].wanted.AddText(text.data(), text.data() + text.size());
    }
  }
  for (const PageEntry& page : kPageEntries) characters_[kTitle].wanted.AddText(tr(page.name));
}

Fonts FontSet::load(float scale) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
  divided_.clear();
  atlas->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  add_catalog();
  constexpr std::array<float, kFonts> kUnits{15, 13, 15, 20, 28, 15};
  std::array<ImFont*, kFonts> fonts{};
  for (std::size_t i = 0; i < kFonts; ++i) {
    Characters& characters = characters_[i];
    split(characters.wanted, characters.latin, characters.ideographs);
    const bool bold = i == kStrong || i == kTitle || i == kFigure;
    const float size = std::round(kUnits[i] * kLinePerEm * scale);
    fonts[i] = add(i == kMono ? files_->mono
                   : bold     ? files_->strong
                              : files_->regular,
                   size, characters.latin);
    if (characters.ideographs.Size <= 1) continue;  // only the terminating 0
    const float cjk_size = std::round(kUnits[i] * kCjkLinePerEm * scale);
    if (Merged* cjk = files_->ideographs(bold)) merge(*cjk, cjk_size, characters.ideographs);
  }
  std::copy(fonts.begin(), fonts.end(), fonts_.begin());
  stale_ = false;
  return {fonts[kBody],  fonts[kCaption], fonts[kStrong],
          fonts[kTitle], fonts[kFigure],  fonts[kMono]};
}

void FontSet::note(const ImFont* font, std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return;
  const auto slot =
      static_cast<std::size_t>(std::find(fonts_.begin(), fonts_.end(), font) - fonts_.begin());
  if (slot == kFonts) return;
  ImFontGlyphRangesBuilder& wanted = characters_[slot].wanted;
  const char *at = text.data(), *end = text.data() + text.size();
  while (at < end) {
    unsigned c = 0;
    at += std::max(1, ImTextCharFromUtf8(&c, at, end));
    if (c < 0x80 || c > IM_UNICODE_CODEPOINT_MAX || wanted.GetBit(c)) continue;
    wanted.SetBit(c);
    // A character that no font has is not sought again.
    if (font->FindGlyphNoFallback(static_cast<ImWchar>(c)) == nullptr) stale_ = true;
  }
}

FontSet* font_set() {
  return static_cast<FontSet*>(ImGui::GetIO().UserData);
}

}  // namespace lab::ui
