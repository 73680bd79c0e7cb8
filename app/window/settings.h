#pragma once
// What is remembered between starts: $XDG_CONFIG_HOME/device-lab/settings.json.
#include <filesystem>
#include <map>
#include <string>

#include "app/window/glfw_window.h"

namespace lab::app {

struct Settings {
  WindowSize window;
  std::map<std::string, std::string> view;  // as ui::save_view makes it
};

// Empty when neither XDG_CONFIG_HOME nor HOME is set: nothing is remembered.
std::filesystem::path settings_file();

// Defaults for a file that is not there. Throws Error(Corrupt | Io) naming the file when it cannot
// be used.
Settings load_settings(const std::filesystem::path& file);

// Creates the folder; throws Error(Io).
void save_settings(const Settings& settings, const std::filesystem::path& file);

}  // namespace lab::app
