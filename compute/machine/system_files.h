#pragma once
// Small reads of /proc and /sys. `root` stands for "/" so that tests can bring their own tree.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

// The whole file without trailing white space; empty where it cannot be read.
std::optional<std::string> read_text(const std::string& path);

// The leading whole number of a file, as most files of /sys hold.
std::optional<std::int64_t> read_number(const std::string& path);

// Value of the line "Key: value" (or "Key<tab>: value"), without surrounding white space.
std::optional<std::string> find_field(std::string_view text, std::string_view key);

// The value of every line "Key: value", in order.
std::vector<std::string> find_fields(std::string_view text, std::string_view key);

// Names in a directory, sorted; empty where there is none.
std::vector<std::string> list_directory(const std::string& path);

}  // namespace lab
