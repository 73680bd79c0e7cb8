#pragma once
// What is said of the programs that use the cores.
#include <string>
#include <vector>

#include "compute/core/events/program_use.h"

namespace lab {

// Up to `most` names of other programs that used a notable share of the cores, the busiest first.
std::vector<std::string> disturbers(const ProgramUse& use, std::size_t most = 3);

}  // namespace lab
