#pragma once
// Captures the screen: visible widgets as JSON, pixels as PNG.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ui/ui.h"

namespace lab::app {

// --- JSON, for --describe-ui, scripts and tests ---------------------------------------------
// {"width", "height", "scale", "widgets": [{"path", "kind", "label", "value", "enabled", "x", "y",
// "width", "height"}, ...]}, in window pixels.
std::string describe_ui(const ui::Ui& ui, int width, int height);

// --- pixels ---------------------------------------------------------------------------------
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // row by row from the top
};

struct Region {
  int left = 0, top = 0, width = 0, height = 0;  // pixels from the top left
};

// Reads the frame just drawn, before it is swapped; clips the region to the frame. Main thread
// only, with a current context.
Picture read_frame(int frame_width, int frame_height, Region region);

// Throws Error(Io) naming the file.
void write_png(const Picture& picture, const std::filesystem::path& file);

}  // namespace lab::app
