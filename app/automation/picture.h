#pragma once
// What is on screen, as pixels and as PNG.
#include <cstdint>
#include <filesystem>
#include <vector>

namespace lab::app {

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // row by row from the top
};

struct Region {
  int left = 0, top = 0, width = 0, height = 0;  // pixels from the top left
};

// Reads the frame just drawn, before it is swapped; parts outside the frame are left out. Main
// thread with a current context.
Picture read_frame(int frame_width, int frame_height, Region region);

// Throws Error(Io) naming the file.
void write_png(const Picture& picture, const std::filesystem::path& file);

}  // namespace lab::app
