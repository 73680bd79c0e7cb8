#pragma once
// The program's icon, computed rather than loaded: a rising curve with three measured points on a
// tile.
#include <cstdint>
#include <vector>

namespace lab::app {

struct Icon {
  int side = 0;
  std::vector<std::uint8_t> rgba;  // side * side * 4, row by row from the top
};

// Draws the same image as assets/device-lab.svg, antialiased with 4x4 samples per pixel.
Icon make_icon(int side);

}  // namespace lab::app
