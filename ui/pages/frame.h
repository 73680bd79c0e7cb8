#pragma once
// The rail, title bar and status bar around a page. Sizes in units. For use inside ui/pages only.
#include <optional>

#include "ui/pages/panel.h"

namespace lab::ui {

inline constexpr float kTitleHeight = 52;
inline constexpr float kStatusHeight = 40;
inline float rail_width(const Panel& p) {
  return p.narrow() ? 52.0F : 148.0F;
}

void draw_rail(const Panel& p);
void draw_title_bar(const Panel& p);
void draw_status_bar(const Panel& p);

// The notice of a file that was just saved. Its size in pixels; nullopt: there is none.
std::optional<ImVec2> saved_size(const Panel& p);
void draw_saved(const Panel& p);

}  // namespace lab::ui
