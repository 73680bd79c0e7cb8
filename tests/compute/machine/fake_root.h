#pragma once
// A fake "/" for tests of code that reads /proc, /sys and /dev.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace lab::test {

class FakeRoot {
 public:
  std::string path() const { return dir_.path().string(); }

  FakeRoot& file(const std::string& name, const std::string& text) {
    const std::filesystem::path full = dir_.path() / name;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
    return *this;
  }

  FakeRoot& folder(const std::string& name) {
    std::filesystem::create_directories(dir_.path() / name);
    return *this;
  }

 private:
  TempDir dir_;
};

}  // namespace lab::test
