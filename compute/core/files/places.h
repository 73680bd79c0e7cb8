#pragma once
// Locates the program's own files.
#include <filesystem>
#include <string_view>
#include <vector>

namespace lab::files {

// Returns $XDG_DATA_HOME/device-lab, or ~/.local/share/device-lab if the variable is not set.
std::filesystem::path user_data_folder();

// Returns the folders that may hold assets of one kind ("reference"), in search order:
//   user_data_folder()/KIND
//   ../share/device-lab/KIND, relative to an installed program's folder
//   assets/KIND of the source tree, for a program in build/PRESET
// The folders need not exist.
std::vector<std::filesystem::path> asset_folders(std::string_view kind);

// Returns `file` itself if it exists or has a parent path; otherwise the first file of that name in
// `folders`, or `file` if there is none.
std::filesystem::path find_asset(const std::filesystem::path& file,
                                 const std::vector<std::filesystem::path>& folders);

}  // namespace lab::files
