#pragma once
// The newest lines of the log, kept over restarts in one JSON file, written whole.
#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "ui/model/model.h"

namespace lab::app {

inline constexpr std::size_t kKeptLines = 400;
inline constexpr std::size_t kMostLineBytes = 2000;                 // longer texts are cut
inline constexpr std::size_t kMostLogBytes = std::size_t{4} << 20;  // a larger file is not read

struct StoredLog {
  std::vector<ui::LogEntry> lines;  // oldest first
  std::string problem;              // why the file is unusable; empty: it is not
};

// Never throws: damaged lines are left out, and an unusable file is replaced by the next write.
StoredLog read_log(const std::filesystem::path& file);

// Writes the newest kKeptLines lines. Throws Error(Io).
void write_log(const std::filesystem::path& file, const std::deque<ui::LogEntry>& lines);

}  // namespace lab::app
