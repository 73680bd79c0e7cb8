#pragma once
// Reads small files of /proc and /sys.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

// Returns the file's contents without trailing white space; empty if it cannot be read.
std::optional<std::string> read_text(const std::string& path);

// Returns the leading integer of a file, the format of most files in /sys.
std::optional<std::int64_t> read_number(const std::string& path);

// Returns the value of the first line "Key: value" (or "Key<tab>: value"), without surrounding
// white space.
std::optional<std::string> find_field(std::string_view text, std::string_view key);

// Returns the values of all lines "Key: value", in order.
std::vector<std::string> find_fields(std::string_view text, std::string_view key);

// Returns the names in a directory, sorted; empty if there is none.
std::vector<std::string> list_directory(const std::string& path);

}  // namespace lab
