#pragma once
// Shows folders in the desktop's file manager.
#include <filesystem>

namespace lab::app {

// Opens the folder of `file` with xdg-open, which runs on without the lab. Throws
// Error(Unsupported) if the desktop has no xdg-open, and Error(Io) if it cannot be started.
void open_folder_of(const std::filesystem::path& file);

}  // namespace lab::app
