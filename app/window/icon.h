#pragma once
// The program's mark, drawn by arithmetic: a rising curve with three measured points on a tile.
#include <cstdint>
#include <vector>

namespace lab::app {

struct Icon {
  int side = 0;
  std::vector<std::uint8_t> rgba;  // side * side * 4, row by row from the top
};

// The same drawing as assets/device-lab.svg, smoothed by 4x4 samples a pixel.
Icon make_icon(int side);

}  // namespace lab::app
