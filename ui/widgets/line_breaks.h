#pragma once
// Line breaks of texts. ImGui breaks numbers after their point, and Chinese and Japanese at blanks
// only.
#include <imgui.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lab::ui {

// Returns the text with a '\n' where a line must end to fit into `width` pixels. A line may end at
// a blank and beside a Chinese or Japanese character, but does not begin with closing punctuation
// nor end with opening punctuation, a number stays with its unit ("4.00 MiB"), and a short call of
// a function on one line ("full((2, 3), 1)"); a word that is wider than a line is divided. Source:
// W3C, "Requirements for Japanese Text Layout", line breaking rules. A context with a font set
// keeps the result, so that a text is not divided again in every frame.
std::string break_lines(ImFont* font, std::string_view text, float width);

// The lines of recent texts, at most 2 * kMost of them: those of two generations.
class DividedTexts {
 public:
  static constexpr std::size_t kMost = 1024;

  // Null if they are not known.
  const std::string* find(const ImFont* font, std::string_view text, float width);
  void keep(const ImFont* font, std::string_view text, float width, std::string lines);
  // To be called whenever a font changes.
  void clear();
  std::size_t size() const { return recent_.size() + older_.size(); }

 private:
  struct Entry {
    const ImFont* font = nullptr;
    float width = 0;
    std::string text, lines;
  };
  using Entries = std::unordered_map<std::size_t, Entry>;  // by the hash of their key
  void add(std::size_t hash, Entry entry);

  Entries recent_, older_;
};

}  // namespace lab::ui
