#pragma once
// The pages of the window, in the order of the rail: the one list of their names, for the command
// line, settings and widget paths too. Needs no ImGui.
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace lab::ui {

enum class Page { Devices, Memory, Transfers, Matmul, Training, Scaling, Log };

struct PageName {
  const char* key;   // "devices": `--page`, settings, first part of the page's paths
  const char* name;  // "Devices": on the rail and in the title
};

inline constexpr std::array<PageName, 7> kPageNames = {{{"devices", "Devices"},
                                                        {"memory", "Memory"},
                                                        {"transfers", "Transfers"},
                                                        {"matmul", "Matmul"},
                                                        {"training", "Training"},
                                                        {"scaling", "Scaling"},
                                                        {"log", "Log"}}};
inline constexpr int kPages = static_cast<int>(kPageNames.size());

constexpr const char* name_of(Page page) {
  return kPageNames[static_cast<std::size_t>(page)].name;
}
constexpr const char* key_of(Page page) {
  return kPageNames[static_cast<std::size_t>(page)].key;
}
constexpr std::optional<Page> page_named(std::string_view key) {
  for (std::size_t i = 0; i < kPageNames.size(); ++i) {
    if (key == kPageNames[i].key) return static_cast<Page>(i);
  }
  return std::nullopt;
}

}  // namespace lab::ui
