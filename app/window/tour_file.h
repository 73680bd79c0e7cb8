#pragma once
// The figures of the last tour, kept over restarts in one JSON file, written whole.
#include <filesystem>
#include <string>

#include "compute/core/events/device_info.h"
#include "ui/model/tour_results.h"

namespace lab::app {

struct StoredTour {
  ui::TourResults results;  // empty: there is no file, or none of its figures is of this machine
  std::string problem;      // why the file is unusable; empty: it is not
};

// Returns the figures of devices that are as they were: of the same name and number of threads.
// Never throws: an unusable file is replaced by the next write.
StoredTour read_tour(const std::filesystem::path& file, const MachineInfo& machine);

// Writes the complete figures. Throws Error(Io).
void write_tour(const std::filesystem::path& file, const ui::TourResults& results,
                const MachineInfo& machine);

}  // namespace lab::app
