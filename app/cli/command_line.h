#pragma once
// Converts argv into an Invocation. Reads no files and probes no devices.
#include <span>

#include "app/cli/invocation.h"

namespace lab::app {

// `args` excludes the program's name. Throws Error(Usage) with one line naming the option and the
// fix.
Invocation parse_command_line(std::span<const char* const> args);

// Returns true if the arguments request JSON; for errors found before they are parsed.
bool asks_for_json(std::span<const char* const> args);

}  // namespace lab::app
