#pragma once
// Returns the location of the repository when the tests were built.
#include <filesystem>

namespace lab::test {

std::filesystem::path source_dir();

}  // namespace lab::test
