#pragma once
// Line icons drawn on ImDrawList, 20 units square, stroke 1.6: sharp at every scale, no icon font.
#include <imgui.h>

namespace lab::ui {

enum Icon {
  kIconDevices,
  kIconMemory,
  kIconTransfers,
  kIconMatmul,
  kIconTraining,
  kIconScaling,
  kIconLog,
  kIconPlay,
  kIconPause,
  kIconCopy,
  kIconTrash,
  kIconHelp,
  kIconSun,
  kIconMoon,
  kIconWarning,
  kIconError,
  kIconInfo,
  kIconCheck,
  kIconChevronDown,
  kIconChevronRight
};

// Centred in the square whose top left corner is `pos` and whose side is `size` pixels.
void draw_icon(ImDrawList* list, Icon icon, ImVec2 pos, float size, ImU32 color);

}  // namespace lab::ui
