#pragma once
// Settings of a job as text, for the log.
#include <string>

#include "compute/core/events/command.h"
#include "compute/core/events/device_info.h"

namespace lab::ui {

// "Sizes 256,512; Time per case 2.00 s": the settings that differ from the defaults; empty if none
// does or the job has none.
std::string settings_text(const JobCommand& command);

// "device-lab matmul --cpu-devices 2 --sizes 256,512": repeats the job in a terminal. Empty for
// jobs that exist in the window only.
std::string command_line_of(const JobCommand& command, const MachineInfo& machine);

// Whether the job can be sent again at any time: it names no tensor that may be gone.
bool can_be_repeated(const JobCommand& command);

}  // namespace lab::ui
