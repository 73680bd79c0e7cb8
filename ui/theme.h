#pragma once
// Colours and metrics of the window. Every colour on screen comes from here.
#include <imgui.h>

#include <string>

#include "compute/core/device.h"

namespace lab::ui {

enum class ThemeMode { Dark, Light };

struct Theme {
  ThemeMode mode = ThemeMode::Dark;
  ImU32 page, card, raised, border;        // surfaces, from back to front
  ImU32 text, muted, accent, accent_text;  // accent_text: on an accent surface
  ImU32 good, warning, bad;                // state only
  ImU32 plot_grid, plot_axis;
  ImU32 hover, active;  // of controls
};

const Theme& theme(ThemeMode mode);

// Okabe-Ito order, tuned per mode for 3:1 contrast on a card.
ImU32 series_color(const Theme& theme, int index);
// A device keeps its colour on every page: CPU devices cool, GPUs warm.
ImU32 device_color(const Theme& theme, Device device);
// The same hue with another opacity, 0..1.
ImU32 with_alpha(ImU32 color, float alpha);
// WCAG 2 contrast ratio of two opaque colours, 1..21.
double contrast(ImU32 a, ImU32 b);

// Writes sizes, spacing and colours into ImGui's style for `scale` (1 = 96 dpi).
void apply_style(const Theme& theme, float scale);

struct Fonts {
  ImFont* body = nullptr;     // 15 px
  ImFont* caption = nullptr;  // 13 px
  ImFont* strong = nullptr;   // 15 px, semi-bold: titles of cards
  ImFont* title = nullptr;    // 20 px
  ImFont* figure = nullptr;   // 28 px
  ImFont* mono = nullptr;     // 15 px, columns of digits
};

// Finds Inter and JetBrains Mono (else DejaVu) through fontconfig and adds them to the current
// ImGui context's atlas at `scale`, with the Latin, Greek and symbol ranges that the lab's texts
// use. The atlas must be rebuilt and uploaded by the caller.
Fonts load_fonts(float scale);

}  // namespace lab::ui
