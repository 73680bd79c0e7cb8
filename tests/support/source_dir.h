#pragma once
// Where the repository was when the tests were built.
#include <filesystem>

namespace lab::test {

std::filesystem::path source_dir();

}  // namespace lab::test
