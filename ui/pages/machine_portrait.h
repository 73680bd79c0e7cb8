#pragma once
// The machine as a picture: packages with their cores inside the caches that they share, filled by
// the load of each core, main memory, GPUs and links. For use inside ui/pages only.
#include <memory>
#include <span>
#include <string>

#include "ui/pages/panel.h"

namespace lab::ui {

inline constexpr const char* kPortraitHint = LAB_TEXT(
    "Cores inside the caches that they share; the caches of a single core are shown on hover. Each "
    "core is filled as far as it is busy now.");

struct MachinePicture {
  std::span<const DeviceInfo> devices;
  std::span<const AbsentDevice> absent;
  std::span<const LessonMap::Link> links;
  std::shared_ptr<const Silicon> silicon;  // of `devices`, not null
  float spare = 0;                         // units by which the cores are taller together
};

// Draws the picture across the width. Recorded: "<path>/cpu:0", the legend's entry of a CPU device,
// "<path>/cpu:0/<OS number>" per core, its load as the value, "<path>/memory", and
// "<path>/<device>" per GPU, and "<path>/<device>/link" where it is known what its link carries.
void draw_portrait(const Panel& p, const std::string& path, const MachinePicture& picture);

// The machine that the lab runs on.
void draw_this_machine(const Panel& p, const std::string& path, float spare = 0);
// The same in a card, "tour/portrait".
void portrait_card(const Panel& p);

}  // namespace lab::ui
