#pragma once
// Source location of a call in a kernel.
#include <string>
#include <string_view>

namespace lab::simt {

// As a default argument, `const Where& where = Where::here()` yields the location of the call.
// (Clang 14 has no std::source_location with GCC's library.)
struct Where {
  const char* file = "";
  int line = 0;

  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  bool operator==(const Where& other) const {
    return line == other.line && std::string_view(file) == other.file;
  }
};

// Returns, for example, "k.cuh:7".
inline std::string to_string(const Where& where) {
  const std::string_view file = where.file;
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(where.line);
}

}  // namespace lab::simt
