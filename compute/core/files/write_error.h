#pragma once
// What writing answers with when the system refuses.
#include <filesystem>

namespace lab::files {

// Throws Error(Io) "cannot write PATH: REASON: WAY OUT" for an errno.
[[noreturn]] void fail_write(const std::filesystem::path& path, int error);

}  // namespace lab::files
