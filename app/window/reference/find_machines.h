#pragma once
// The machines that the window can draw beside the present one.
#include <filesystem>
#include <string>
#include <vector>

#include "compute/core/events/reference.h"

namespace lab::app {

struct FoundMachines {
  std::vector<ReferenceMachine> machines;
  std::vector<std::string> complaints;  // a sentence for each file that cannot be used
};

// Reads `chosen`, unless empty, a bare name looked for in `folders` too (find_asset), and every
// *.json of `folders`; of files of the same name the first counts. Never throws: what is broken is
// left out and complained about.
FoundMachines find_machines(const std::filesystem::path& chosen,
                            const std::vector<std::filesystem::path>& folders);

}  // namespace lab::app
