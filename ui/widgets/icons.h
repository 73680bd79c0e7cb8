#pragma once
// Line icons drawn on ImDrawList, 20 units square, stroke 1.6. Sharp at every scale; no icon font.
#include <imgui.h>

namespace lab::ui {

enum Icon {
  kIconTour,
  kIconLearn,
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
  kIconEye,
  kIconEyeOff,
  kIconHelp,
  kIconSun,
  kIconMoon,
  kIconLanguage,
  kIconWarning,
  kIconError,
  kIconInfo,
  kIconCheck,
  kIconChevronDown,
  kIconChevronRight,
  kIconClose,
  kIconStop
};

// Draws the icon centred in the square with top left corner `pos` and side `size` pixels.
void draw_icon(ImDrawList* list, Icon icon, ImVec2 pos, float size, ImU32 color);

}  // namespace lab::ui
