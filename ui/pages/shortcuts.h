#pragma once
// The keyboard. For use inside ui/pages only.
#include <array>
#include <utility>

#include "ui/pages/panel.h"

namespace lab::ui {

// Acts on the keys of this frame; true when Ctrl+Enter asks the page to start its job.
bool handle_shortcuts(const Panel& p);

// Key and what it does, for the help overlay.
inline constexpr std::array<std::pair<const char*, const char*>, 10> kShortcuts = {{
    {"Ctrl+1 ... Ctrl+7", "Open a page"},
    {"Ctrl+Enter", "Start the page's job"},
    {"Space", "Pause or go on with the training"},
    {"Esc", "Stop the running job, after asking"},
    {"Ctrl+T", "Dark or light"},
    {"Ctrl++  Ctrl+-", "Larger or smaller text"},
    {"Arrows, Enter", "Move between controls, press one"},
    {"Drag, Ctrl+wheel", "Pan and zoom a plot"},
    {"Right drag, double click", "Zoom into a box, show all of a plot"},
    {"F1  ?", "This list"},
}};

inline constexpr float kScaleStep = 0.25F;
inline constexpr float kScaleMin = 1;
inline constexpr float kScaleMax = 2;

}  // namespace lab::ui
