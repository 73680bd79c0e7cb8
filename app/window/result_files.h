#pragma once
// The last results of the Transfers, Matmul and Scaling pages, kept over restarts: one JSON file
// per page, written whole. Live runs are not kept.
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <string>

#include "compute/core/events/device_info.h"
#include "ui/model/model.h"

namespace lab::app {

inline constexpr std::size_t kMostResultBytes = std::size_t{16} << 20;  // larger: not read

template <typename Results>
struct StoredResults {
  ui::KeptRuns<Results> runs;  // those of devices that are as they were
  ui::PageState state;         // how the page's last run ended; Empty: not known
  bool other_devices = false;  // the last results of a kind are of devices that are not
  std::string problem;         // why the file is unusable; empty: it is not
};

// `Results` is TransferResults, MatmulResults or ScalingResults. A device is as it was if it has
// the same name and number of threads. Never throws: an unusable file is replaced by the next
// write.
template <typename Results>
StoredResults<Results> read_results(const std::filesystem::path& file, const MachineInfo& machine);

// Whether the results have something that the file does not hold, whose newest measurement is of
// the time `kept`: a newer measurement, or a prediction alone, which measures nothing.
template <typename Results>
bool has_news(const Results& results, std::time_t kept);

// Writes the results of each kind of run, and those that the last run of a kind replaced. Throws
// Error(Io), also if they are too large to be read again.
template <typename Results>
void write_results(const std::filesystem::path& file, const ui::KeptRuns<Results>& runs,
                   const ui::PageState& state, const MachineInfo& machine);

}  // namespace lab::app
