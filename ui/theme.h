#pragma once
// Colours and metrics of the window. All colours on screen come from here.
#include <imgui.h>

#include <string>

#include "compute/core/device.h"

namespace lab::ui {

enum class ThemeMode { Dark, Light };

struct Theme {
  ThemeMode mode = ThemeMode::Dark;
  ImU32 page, card, raised, border;        // surfaces, back to front
  ImU32 text, muted, accent, accent_text;  // accent_text: on accent surfaces
  ImU32 disabled;                          // text and swatches of what is off
  ImU32 good, warning, bad;                // states only
  ImU32 plot_grid, plot_axis;
  ImU32 hover, active;  // for controls
};

const Theme& theme(ThemeMode mode);

// Okabe-Ito order, tuned per mode for a contrast of 3:1 on a card.
ImU32 series_color(const Theme& theme, int index);
// Colours of training runs, which no device has: a page can show both. They repeat after
// kRunColors.
inline constexpr int kRunColors = 6;
ImU32 run_color(const Theme& theme, int index);
// Returns the colour of a device, the same on every page: cool for CPU devices, warm for CUDA GPUs.
ImU32 device_color(const Theme& theme, Device device);
// Returns `color` with its opacity replaced; `alpha` in 0..1.
ImU32 with_alpha(ImU32 color, float alpha);
// Returns the WCAG 2 contrast ratio of two opaque colours, 1..21.
double contrast(ImU32 a, ImU32 b);

// Writes sizes, spacing and colours into ImGui's style for `scale` (1 = 96 dpi).
void apply_style(const Theme& theme, float scale);

struct Fonts {
  ImFont* body = nullptr;     // 15 px
  ImFont* caption = nullptr;  // 13 px
  ImFont* strong = nullptr;   // 15 px, semi-bold, for card titles
  ImFont* title = nullptr;    // 20 px
  ImFont* figure = nullptr;   // 28 px
  ImFont* mono = nullptr;     // 15 px, for columns of digits
};

}  // namespace lab::ui
