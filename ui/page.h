#pragma once
// Lists the pages of the window. Needs no ImGui, so the command line and the settings use it too.
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "compute/core/language.h"

namespace lab::ui {

// One line per page, in the order of the rail and of the keys Ctrl+1, Ctrl+2, ...:
//   name   enumerator of Page
//   key    value of --page and of the settings, first component of the page's widget paths, name of
//          its folder, and part of its draw function, draw_<key>_page (ui/pages/panel.h)
//   title  title on screen, translated where it is shown
//   icon   shown on the rail (ui/widgets/icons.h)
//   timed  true if the page's job measures time; the window then draws fewer frames
#define LAB_PAGES(PAGE)                                                   \
  PAGE(Tour, tour, LAB_TEXT("Tour"), kIconTour, true)                     \
  PAGE(Learn, learn, LAB_TEXT("Learn"), kIconLearn, true)                 \
  PAGE(Devices, devices, LAB_TEXT("Devices"), kIconDevices, false)        \
  PAGE(Memory, memory, LAB_TEXT("Memory"), kIconMemory, false)            \
  PAGE(Transfers, transfers, LAB_TEXT("Transfers"), kIconTransfers, true) \
  PAGE(Matmul, matmul, LAB_TEXT("Matmul"), kIconMatmul, true)             \
  PAGE(Training, training, LAB_TEXT("Training"), kIconTraining, false)    \
  PAGE(Scaling, scaling, LAB_TEXT("Scaling"), kIconScaling, true)         \
  PAGE(Log, log, LAB_TEXT("Log"), kIconLog, false)

#define LAB_PAGE_ENUMERATOR(name, key, title, icon, timed) name,
enum class Page { LAB_PAGES(LAB_PAGE_ENUMERATOR) };
#undef LAB_PAGE_ENUMERATOR

struct PageEntry {
  const char* key;   // "devices"
  const char* name;  // "Devices"
  bool timed;
};

#define LAB_PAGE_ENTRY(name, key, title, icon, timed) PageEntry{#key, title, timed},
inline constexpr std::array kPageEntries = {LAB_PAGES(LAB_PAGE_ENTRY)};
#undef LAB_PAGE_ENTRY
inline constexpr int kPages = static_cast<int>(kPageEntries.size());

constexpr const PageEntry& entry_of(Page page) {
  return kPageEntries[static_cast<std::size_t>(page)];
}
constexpr const char* name_of(Page page) {
  return entry_of(page).name;
}
constexpr const char* key_of(Page page) {
  return entry_of(page).key;
}
constexpr std::optional<Page> page_named(std::string_view key) {
  for (std::size_t i = 0; i < kPageEntries.size(); ++i) {
    if (key == kPageEntries[i].key) return static_cast<Page>(i);
  }
  return std::nullopt;
}

}  // namespace lab::ui
