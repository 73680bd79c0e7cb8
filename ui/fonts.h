#pragma once
// The fonts of the window: finds them on the system and keeps ImGui's atlas to the characters in
// use, because ImGui rasterises every character of its ranges and a CJK font has tens of thousands.
#include <imgui.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/language.h"
#include "ui/theme.h"
#include "ui/widgets/line_breaks.h"

namespace lab::ui {

class FontSet {
 public:
  FontSet();
  ~FontSet();
  FontSet(const FontSet&) = delete;
  FontSet& operator=(const FontSet&) = delete;

  // Whether a font with the characters of the language is installed.
  bool shows(Language language) const;
  // Names the Debian package to install if there is none; otherwise empty.
  std::string why_not_shown(Language language) const;

  // Replaces the fonts in the current ImGui context's atlas: at `scale`, with Latin, Greek,
  // symbols, the characters of the active catalog and those of all texts noted. The caller must
  // rebuild and upload the atlas; the font set must outlive it.
  Fonts load(float scale);

  // Notes a text that is drawn in a font of the last load().
  void note(const ImFont* font, std::string_view text);
  // Whether texts have been noted that the atlas of the last load() lacks characters of.
  bool stale() const { return stale_; }

  // Texts of controls that were cut because they did not fit, since the last forget_cut_texts().
  void note_cut(std::string_view text) { cut_.emplace_back(text); }
  const std::vector<std::string>& cut_texts() const { return cut_; }
  void forget_cut_texts() { cut_.clear(); }

  // Lines in the fonts of the last load().
  DividedTexts& divided() { return divided_; }

 private:
  struct Files;
  static constexpr std::size_t kFonts = 6;
  struct Characters {
    ImFontGlyphRangesBuilder wanted;
    ImVector<ImWchar> latin, ideographs;  // ranges of the last load, read when the atlas is built
  };

  void add_catalog();

  std::unique_ptr<Files> files_;
  std::array<Characters, kFonts> characters_;
  std::array<const ImFont*, kFonts> fonts_{};
  bool stale_ = false;
  std::vector<std::string> cut_;
  DividedTexts divided_;
};

// The font set of the current ImGui context, set by its owner as ImGuiIO::UserData; may be null.
FontSet* font_set();

}  // namespace lab::ui
