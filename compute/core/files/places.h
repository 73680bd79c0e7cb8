#pragma once
// Where the program's own files lie.
#include <filesystem>
#include <string_view>
#include <vector>

namespace lab::files {

// $XDG_DATA_HOME/device-lab, or ~/.local/share/device-lab.
std::filesystem::path user_data_folder();

// Folders that may hold assets of one kind ("reference"), the person's own first:
//   user_data_folder()/KIND
//   ../share/device-lab/KIND beside the folder of an installed program
//   assets/KIND of the source tree, of a program in build/PRESET
// They need not exist.
std::vector<std::filesystem::path> asset_folders(std::string_view kind);

// `file` itself where it exists or says more than a name; else the first of that name in
// `folders`, and `file` again where none has it.
std::filesystem::path find_asset(const std::filesystem::path& file,
                                 const std::vector<std::filesystem::path>& folders);

}  // namespace lab::files
