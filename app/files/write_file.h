#pragma once
// Files that are there whole or not at all.
#include <filesystem>
#include <string>
#include <string_view>

namespace lab::app {

// Writes beside `file` and renames, so that an older file survives a full disk. What is no regular
// file (/dev/stdout, a pipe) is written as it is. Throws Error(Io) naming `what`, the file and the
// reason: "screenshot: /x/y.png cannot be written: No such file or directory".
void write_file(const std::filesystem::path& file, std::string_view content, std::string_view what);

// The whole file; throws Error(NotFound | Io) alike.
std::string read_file(const std::filesystem::path& file, std::string_view what);

}  // namespace lab::app
