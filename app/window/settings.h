#pragma once
// Settings kept between starts: $XDG_CONFIG_HOME/device-lab/settings.json.
#include <filesystem>
#include <map>
#include <string>

#include "app/window/glfw_window.h"

namespace lab::app {

struct Settings {
  WindowSize window;
  std::map<std::string, std::string> view;  // as returned by ui::save_view
};

// Returns the size of a window that fits into `room`, the work area of the monitor, with its frame;
// `wanted` if `room` is unknown, which is 0 by 0.
WindowSize fitted(WindowSize wanted, WindowSize room);

// Returns an empty path if neither XDG_CONFIG_HOME nor HOME is set; nothing is saved then.
std::filesystem::path settings_file();

// Returns defaults if the file does not exist. Throws Error(Corrupt | Io) naming the file if it
// cannot be used.
Settings load_settings(const std::filesystem::path& file);

// Creates the folder; throws Error(Io).
void save_settings(const Settings& settings, const std::filesystem::path& file);

}  // namespace lab::app
