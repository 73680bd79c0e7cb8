#pragma once
// Line breaks of Chinese and Japanese texts, which ImGui breaks at blanks only.
#include <imgui.h>

#include <string>
#include <string_view>

namespace lab::ui {

// Returns the text with a '\n' where a line must end to fit into `width` pixels. A line may end at
// a blank and beside a Chinese or Japanese character, but does not begin with closing punctuation
// nor end with opening punctuation. A text without such characters is returned as it is: ImGui
// breaks it correctly. Source: W3C, "Requirements for Japanese Text Layout", line breaking rules.
std::string break_lines(ImFont* font, std::string_view text, float width);

}  // namespace lab::ui
