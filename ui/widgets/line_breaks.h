#pragma once
// Line breaks of texts. ImGui breaks numbers after their point, and Chinese and Japanese at blanks
// only.
#include <imgui.h>

#include <string>
#include <string_view>

namespace lab::ui {

// Returns the text with a '\n' where a line must end to fit into `width` pixels. A line may end at
// a blank and beside a Chinese or Japanese character, but does not begin with closing punctuation
// nor end with opening punctuation; a word that is wider than a line is divided. Source: W3C,
// "Requirements for Japanese Text Layout", line breaking rules.
std::string break_lines(ImFont* font, std::string_view text, float width);

}  // namespace lab::ui
