#pragma once
// Training runs kept over restarts: one JSON file per run in a folder, RUN.json, written whole. A
// file holds the request, the curves (thinned to kKeptSteps), the time of the median step,
// the last confusion matrix and predictions, and the name that the user gave.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "ui/model/model.h"

namespace lab::app {

inline constexpr std::size_t kKeptRuns = ui::kTrainingRuns;
inline constexpr std::size_t kKeptSteps = 8192;
inline constexpr std::size_t kMostRunBytes = std::size_t{8} << 20;  // larger files are not read

struct StoredRun {
  std::filesystem::path file;
  std::string name;  // empty: the run's own
  ui::TrainingRun run;
};

struct StoredRuns {
  std::vector<StoredRun> runs;        // oldest first; ids count up to -1
  std::vector<std::string> problems;  // one sentence per unusable file
};

// Reads the newest kKeptRuns runs. Never throws: unusable files are skipped and stay.
StoredRuns read_runs(const std::filesystem::path& folder);

// Writes a run to a new file and returns its path. Then removes the oldest files beyond kKeptRuns.
// Throws Error(Io).
std::filesystem::path keep_run(const std::filesystem::path& folder, const ui::TrainingRun& run);

// Replaces the file of a run, with its name. Throws Error(Io).
void write_run(const std::filesystem::path& file, const ui::TrainingRun& run,
               const std::string& name);

}  // namespace lab::app
