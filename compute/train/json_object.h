#pragma once
// JSON out of files and from other processes.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lab {

// Throws Error(Corrupt) "WHAT is no JSON object", also where it nests deeper than any of ours does.
nlohmann::ordered_json parse_object(std::string_view text, const std::string& what);

}  // namespace lab
